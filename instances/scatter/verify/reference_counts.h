// The fewest micro-batches and groups of any plan, computed from the format description alone. The
// checks of certificates and of infeasibility proofs use them. They share no code with planners or
// bound searches. Not installed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "instances/scatter/instance.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {

class ScatterReferenceModel;

// The number of sequences of each length, padded to the multiple that all groups share, the longest
// length first.
using LengthCounts = std::map<Tokens, std::int64_t, std::greater<>>;
LengthCounts true_length_counts(const ScatterInstance& instance);

// Returns the tokens of all these sequences on groups of the form.
Tokens tokens_on(const ScatterReferenceModel& truth, const LengthCounts& counts, GroupForm form);

// Returns a lower bound on the micro-batches of any plan: by tokens, by the sequences of some
// length or more that fit one, and by sequences per group, rounded up to the multiple that the
// rules require. Requires every sequence to fit some group. O(lengths degrees).
std::int64_t true_fewest_micro_batches(const ScatterInstance& instance, const LengthCounts& counts);

// Returns the fewest groups whose degrees sum to N; nullopt if no groups do. O(N degrees), or
// O(degrees) if each degree divides the next.
std::optional<std::int64_t> true_fewest_groups(const ScatterInstance& instance);

}  // namespace stowage
