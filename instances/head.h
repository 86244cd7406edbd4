// What a document says of itself, before anything else of it is read.
//
//   Result<Head> head = read_head(text);
//   if (head && head->problem == "layout") ...
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string>
#include <string_view>

#include "instances/result.h"

namespace stowage {

// What a document says of itself.
struct Head {
  std::string format;  // "stowage/instance", "stowage/plan" or "stowage/outcome"
  int version = 0;     // 1
  std::string problem;
  std::string name;  // empty if the document has none

  bool operator==(const Head&) const = default;
};

// Peeks at the head, so that the caller knows which reader to use. Reads no further than it must:
// a document whose head is fine may still be broken. The head is checked: an unknown format,
// version or problem is an error that names the known ones.
Result<Head> read_head(std::string_view text);

}  // namespace stowage
