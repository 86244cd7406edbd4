// How many micro-batches and groups a plan has at least, computed from the format description
// alone. Shares no line with whoever plans or bounds: the checks of certificates and of proofs that
// there is no plan use it. Not installed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "instances/scatter/instance.h"

namespace stowage {

// How many sequences have each padded length, the longest length first.
using LengthCounts = std::map<Tokens, std::int64_t, std::greater<>>;
LengthCounts true_length_counts(const ScatterInstance& instance);

// No plan has fewer micro-batches: by tokens, by how many sequences of some length or more fit one,
// by sequences per group; rounded up to the multiple that the rules ask for. Requires every
// sequence to fit some group. O(lengths degrees).
std::int64_t true_fewest_micro_batches(const ScatterInstance& instance, const LengthCounts& counts);

// The fewest groups whose degrees sum to N; nothing if no groups do. O(N degrees), or O(degrees)
// where each degree divides the next.
std::optional<std::int64_t> true_fewest_groups(const ScatterInstance& instance);

}  // namespace stowage
