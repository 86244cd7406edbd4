// What a scatter plan must say, computed from the format description alone.
//
// It deliberately repeats what instance.cc and the cost model do, in other words and in another
// order of operations (sums of lengths and squares per group, in long double), because a shared
// line would be a shared mistake. Not installed: the verifier alone uses it.
//
//   ScatterTruth truth(instance);
//   GroupSums sums;
//   for (const std::int64_t id : group.sequences) truth.add(id, sums);
//   if (truth.time(sums, group.degree) != group.time_ms) ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "instances/scatter/instance.h"

namespace stowage {

// What the sequences of a group add up to.
struct GroupSums {
  bool all_known = true;             // every id is one of the instance's
  std::optional<Tokens> tokens = 0;  // of the known ones; absent beyond the 64-bit range
  long double squares = 0;           // of their lengths
};

class ScatterTruth {
 public:
  explicit ScatterTruth(const ScatterInstance& instance) : instance_(instance) {}

  std::int64_t sequences() const { return static_cast<std::int64_t>(instance_.lengths.size()); }
  bool is_known(std::int64_t id) const { return id >= 0 && id < sequences(); }

  bool is_allowed(int degree) const {
    const auto& degrees = instance_.cluster.degrees;
    return std::binary_search(degrees.begin(), degrees.end(), degree);
  }

  // The length of a known sequence after padding; absent beyond the 64-bit range.
  std::optional<Tokens> length(std::int64_t id) const {
    const Tokens own = instance_.lengths[static_cast<std::size_t>(id)];
    const Tokens rest = instance_.pad_multiple > 1 ? own % instance_.pad_multiple : 0;
    return rest == 0 ? own : checked_add(own, instance_.pad_multiple - rest);
  }

  // Returns the length of the sequence; absent beyond the 64-bit range, or if it is not known.
  std::optional<Tokens> add(std::int64_t id, GroupSums& sums) const {
    if (!is_known(id)) {
      sums.all_known = false;
      return std::nullopt;
    }
    const auto tokens = length(id);
    sums.tokens = sums.tokens && tokens ? checked_add(*sums.tokens, *tokens) : std::nullopt;
    const auto s = static_cast<long double>(tokens.value_or(0));
    sums.squares += s * s;
    return tokens;
  }

  // C * degree with C = floor((memory - states) / activation per token) in [0, 2^53]. An overflow
  // is more than any sum that did not overflow. Requires degree > 0.
  Tokens capacity(int degree) const {
    const double room = instance_.cluster.memory_mib - instance_.model.states_mib;
    const double tokens = room / instance_.model.activation_mib_per_token;
    Tokens per_device = tokens >= 1 ? kMaxExact : 0;  // 0 for NaN
    if (tokens >= 1 && tokens < 0x1p53) per_device = static_cast<Tokens>(tokens);
    return checked_mul(per_device, degree).value_or(std::numeric_limits<Tokens>::max());
  }

  // t(S, d), infinite for a degree without a bandwidth; absent if the sums or the degree are wrong,
  // which is a violation of its own.
  std::optional<Ms> time(const GroupSums& sums, int degree) const {
    if (!sums.all_known || !sums.tokens || !is_allowed(degree) || degree < 1) return std::nullopt;
    const ScatterCost& cost = instance_.cost;
    const auto tokens = static_cast<long double>(*sums.tokens);
    long double device_ms = cost.quadratic_ms * sums.squares + cost.linear_ms * tokens;
    if (degree > 1 && cost.all_to_all.mib_per_token > 0) {
      const auto speed = cost.all_to_all.mib_per_ms.find(degree);
      if (speed == cost.all_to_all.mib_per_ms.end()) return std::numeric_limits<Ms>::infinity();
      device_ms += cost.all_to_all.mib_per_token * tokens / speed->second;
    }
    const auto latency = cost.all_to_all.latency_ms.find(degree);
    const Ms once = latency == cost.all_to_all.latency_ms.end() ? 0 : latency->second;
    return static_cast<Ms>(cost.fixed_ms + once + device_ms / degree);
  }

 private:
  const ScatterInstance& instance_;
};

}  // namespace stowage
