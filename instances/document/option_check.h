// Checks options of generators against their ranges. Not installed.
//
//   check_option("/steps", generator.steps, 1, kMaxSteps, errors);  // E504 unless 1 to kMaxSteps
#pragma once

#include <cstdint>
#include <string>

#include "instances/json/errors.h"
#include "instances/units.h"

namespace stowage {

// Returns whether the option is in its range; otherwise adds E504.
inline bool check_option(const char* where, std::int64_t value, std::int64_t least,
                         std::int64_t most, ErrorList& errors) {
  if (value >= least && value <= most) return true;
  errors.add(code::kGenerator, where,
             "must be an integer from " + std::to_string(least) + " to " + std::to_string(most) +
                 ", is " + std::to_string(value));
  return false;
}

// A seed stands in documents, whose integers end at 2^53, so a larger seed is an error.
inline void check_seed(std::uint64_t seed, ErrorList& errors) {
  if (seed <= static_cast<std::uint64_t>(kMaxExact)) return;
  errors.add(code::kGenerator, "/seed",
             "must be at most " + std::to_string(kMaxExact) + ", is " + std::to_string(seed));
}

}  // namespace stowage
