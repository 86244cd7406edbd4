// The rules of a layout instance beyond types and ranges. The readers of all file formats share
// them. Not installed.
//
//   const LayoutPlaces places = [](std::int64_t buffer, std::string_view member) { ... };
//   check_buffer(instance, 3, places, errors);     // each buffer that could be read
//   check_together(instance, places, errors);  // once all of them are valid
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "instances/json/errors.h"
#include "instances/layout/instance.h"

namespace stowage {

// Returns the place of a buffer's member in the input: "/buffers/3/upper", "a.csv:4:upper".
using LayoutPlaces = std::function<std::string(std::int64_t buffer, std::string_view member)>;

// Adds E331 for a lifetime without steps; E332 for gaps that do not ascend, that touch, or that
// leave the lifetime; E334 for a pin off its alignment or beyond 2^53; E335 for alignments whose
// common multiple is beyond 2^53. Requires every number to be in its range of
// docs/reference/layout.md.
void check_buffer(const LayoutInstance& instance, std::int64_t index, const LayoutPlaces& places,
                  ErrorList& errors);

// Adds E333 for repeated ids, and E335 for sizes whose sum, each rounded up to its alignment, is
// more than 2^53. Requires every buffer to have passed check_buffer().
void check_together(const LayoutInstance& instance, const LayoutPlaces& places, ErrorList& errors);

// Returns the size of a buffer rounded up to its alignment, which check_together() sums up.
Bytes rounded_size(const LayoutInstance& instance, const Buffer& buffer);

}  // namespace stowage
