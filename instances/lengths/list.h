// Lists of sequence lengths: plain text, one integer per line.
//
//   608
//   1040
//
// A line holds only digits (a carriage return before the newline is allowed). The last newline may
// be missing. Errors point at FILE:LINE.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/result.h"
#include "instances/units.h"

namespace stowage {

// The lines of a list that are read: `count` of them after skipping `first`, or all that follow.
struct LengthSelection {
  std::int64_t first = 0;
  std::optional<std::int64_t> count;
  std::int64_t line = 1;  // number of the text's first line, for errors
  Tokens least = 1;       // least value of a line; 0 in lists of targets

  bool operator==(const LengthSelection&) const = default;
};

// Returns the selected lines of `text`, in tokens. `file` names the list in errors. Other lines are
// not checked. E402 for a line that is not an integer from `least` to 2^53, E403 for a selection
// that reaches beyond the list.
Result<std::vector<Tokens>> read_length_list(std::string_view text, std::string_view file,
                                             const LengthSelection& selection = {});

// Reads a file of at most kMaxDocumentBytes bytes in the same way; E107 or E110 if it cannot be
// read.
Result<std::vector<Tokens>> read_length_file(const std::filesystem::path& path,
                                             const LengthSelection& selection = {});

}  // namespace stowage
