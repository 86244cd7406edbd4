// The head of a document: its format, version, problem and name, read before the rest.
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

// The first fields of a document.
struct Head {
  std::string format;  // "stowage/instance", "stowage/plan" or "stowage/outcome"
  int version = 0;     // 1
  std::string problem;
  std::string name;  // empty if the document has none

  bool operator==(const Head&) const = default;
};

// Reads the head only, so that the caller can choose the reader. It reads no further than it must:
// a document whose head is right may still be broken. The head is checked: an unknown format,
// version or problem is an error that names the known ones.
Result<Head> read_head(std::string_view text);

}  // namespace stowage
