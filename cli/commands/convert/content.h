// Detects the format of convert's IN if its name does not determine it: a list of lengths or a
// trainer's file. Other content gives a single error with a remedy, instead of one error per line.
//
//   const Result<ConvertContent> content = convert_content(bytes, "step.json");
//   if (!content) complain(content.errors().front());
#pragma once

#include <string>
#include <string_view>

#include "instances/result.h"

namespace stowage {

enum class ConvertContent {
  lengths,  // also used for invalid content whose best error comes from the reader of lists
  trainer,  // the document states this format; its reader checks the rest
};

// Reads only the beginning if that suffices. `path` is the origin of the bytes, "-" for stdin.
// `column`: a column is named, so all bytes but a binary trainer file are lengths. Error: one E001
// for an instance, a plan, other JSON, or a table of buffers.
Result<ConvertContent> convert_content(std::string_view bytes, const std::string& path,
                                       bool column);

// Returns the error of an instance without its plan.
InputError plan_needed();

}  // namespace stowage
