// Lists the sequences of a step that are too long for every group or row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "instances/numeric/numbers.h"

namespace stowage {

// Returns one line for each of the first ten sequences, with its length and `why` it cannot be
// placed, and then the number of the others.
template <class InstanceT>
std::vector<std::string> unplaceable_lines(const InstanceT& instance,
                                           const std::vector<std::int64_t>& ids,
                                           const std::string& why) {
  constexpr std::size_t kListed = 10;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(ids.size(), kListed); ++i) {
    const auto length = instance.lengths[static_cast<std::size_t>(ids[i])];
    const auto padded = padded_length(instance, length);
    std::string line = "sequence " + grouped(ids[i]) + " has " + counted(length, "token");
    if (padded != length) line += " (" + grouped(padded) + " after padding)";
    lines.push_back(line + ", " + why);
  }
  if (ids.size() > kListed) {
    lines.push_back("and " +
                    counted(static_cast<std::int64_t>(ids.size() - kListed), "more sequence"));
  }
  return lines;
}

}  // namespace stowage
