// The document that tells, for the steps of a window, where their sequences were drawn. In a
// directory of plans it is "00000008.window.json" for the window that begins with step 8:
//
//   {"first_step": 8, "drawn": [[[8, 0], [9, 3]], [[9, 0], [8, 1]]]}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "instances/result.h"
#include "instances/scatter/drawn.h"

namespace stowage {

struct WindowFile {
  std::int64_t first_step = 0;
  // By step of the window and sequence: the step of the stream and the index that it was drawn
  // with.
  std::vector<std::vector<DrawnSequence>> drawn;

  bool operator==(const WindowFile&) const = default;
};

std::string write_window(const WindowFile& window);

// Errors: those of JSON documents, E203, E204 and E205.
Result<WindowFile> read_window(std::string_view text);

}  // namespace stowage
