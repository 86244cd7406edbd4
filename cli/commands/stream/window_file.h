// The document of a window of steps that were planned together: it names, for each sequence of each
// step, the step and the index that the sequence was drawn with. The directory of plans contains
// the document of the window that begins with step 8 as "00000008.window.json":
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
  // drawn[s][i] is the place in the stream where sequence i of step first_step + s was drawn.
  std::vector<std::vector<DrawnSequence>> drawn;

  bool operator==(const WindowFile&) const = default;
};

std::string write_window(const WindowFile& window);

// Errors: those of JSON documents, E203, E204 and E205.
Result<WindowFile> read_window(std::string_view text);

}  // namespace stowage
