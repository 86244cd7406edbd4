// What IN of convert is where its name does not say so: a list of lengths, a trainer's file, or a
// mistake, of which one error says what to do instead of one for every line.
//
//   const Result<ConvertContent> content = convert_content(bytes, "step.json");
//   if (!content) complain(content.errors().front());
#pragma once

#include <string>
#include <string_view>

#include "instances/result.h"

namespace stowage {

enum class ConvertContent {
  lengths,  // or what is no list in a way that its reader says best
  trainer,  // it says that it is one; whether it is, its reader says
};

// Reads no further than it must. `path` is where the bytes come from, "-" for stdin. Error: one,
// E001, for an instance, a plan, other JSON, and a table of buffers.
Result<ConvertContent> convert_content(std::string_view bytes, const std::string& path);

// The error of an instance without its plan.
InputError plan_needed();

}  // namespace stowage
