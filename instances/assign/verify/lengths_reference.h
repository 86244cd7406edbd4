// The distinct lengths of an assign instance, for the checks of certificates. Not installed.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "instances/assign/verify/reference_model.h"
#include "instances/numeric/tolerances.h"

namespace stowage {

inline constexpr Real kCheckerForever = std::numeric_limits<Real>::infinity();

// A distinct padded length and its number of sequences.
struct LengthSort {
  Tokens tokens = 0;
  std::int64_t count = 0;
};

// Returns the sorts of all sequences, longest first.
inline std::vector<LengthSort> length_sorts(const AssignReferenceModel& truth) {
  std::map<Tokens, std::int64_t, std::greater<>> counts;
  for (std::int64_t id = 0; id < truth.sequences(); ++id) {
    ++counts[truth.length(id).value_or(kMaxExact)];
  }
  std::vector<LengthSort> sorts;
  for (const auto& [tokens, count] : counts) sorts.push_back({tokens, count});
  return sorts;
}

// Returns the work of one sequence, f of instance.h.
inline Real work_of(const Scheme& scheme, Tokens tokens) {
  const auto s = static_cast<Real>(tokens);
  return s * (scheme.linear_ms + scheme.quadratic_ms * s);
}

inline bool holds(const Scheme& scheme, Tokens tokens) { return tokens <= scheme.max_tokens; }

}  // namespace stowage
