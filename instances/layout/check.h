// What a layout instance must keep beyond types and ranges, whichever file it came from. Not
// installed: the readers share it.
//
//   const LayoutPlaces places = [](std::int64_t buffer, std::string_view member) { ... };
//   check_buffer(instance, 3, places, errors);     // each buffer that could be read
//   check_together(instance, places, errors);      // when all of them are in order
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "instances/json/errors.h"
#include "instances/layout/instance.h"

namespace stowage {

// Where a member of a buffer stands in the input: "/buffers/3/upper", "a.csv:4:upper".
using LayoutPlaces = std::function<std::string(std::int64_t buffer, std::string_view member)>;

// Adds E331 for a lifetime without steps, E332 for gaps that are not ascending, apart and inside
// it, E334 for a pin off its alignment or beyond 2^53, E335 for alignments whose common multiple is
// beyond 2^53. Requires every number to be in its range of instances/layout/README.md.
void check_buffer(const LayoutInstance& instance, std::int64_t index, const LayoutPlaces& places,
                  ErrorList& errors);

// Adds E333 for ids that stand twice and E335 for sizes that sum, each rounded up to its alignment,
// to more than 2^53. Requires every buffer to have passed check_buffer.
void check_together(const LayoutInstance& instance, const LayoutPlaces& places, ErrorList& errors);

// The size of a buffer rounded up to its alignment, of which check_together sums up.
Bytes rounded_size(const LayoutInstance& instance, const Buffer& buffer);

}  // namespace stowage
