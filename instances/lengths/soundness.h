// Checks lists of lengths in memory as a reader would, without writing them. Not installed.
//
//   if (lengths_are_sound(step.lengths, step.pad_multiple, step.cluster.degrees.size())) ...
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "instances/json/limits.h"
#include "instances/lengths/json.h"

namespace stowage {

// Returns whether each length, their number and their padded sum are within the limits of the
// format. So must be the table of their costs in each shape (degree, scheme), and the targets, if
// there are any. Requires a pad multiple of at least 1.
inline bool lengths_are_sound(const std::vector<Tokens>& lengths, Tokens pad_multiple,
                              const std::vector<Tokens>& loss_tokens, std::size_t shapes) {
  if (lengths.size() > static_cast<std::size_t>(kMaxSequences)) return false;
  const auto wrong = [](Tokens length) { return length < 1 || length > kMaxExact; };
  if (std::ranges::any_of(lengths, wrong)) return false;
  ErrorList errors;
  check_padded_sum(lengths, pad_multiple, JsonPath(), errors);
  check_costs(lengths.size(), shapes, "shapes", JsonPath(), errors);
  if (!loss_tokens.empty()) check_loss_tokens(loss_tokens, lengths, JsonPath(), errors);
  return errors.empty();
}

}  // namespace stowage
