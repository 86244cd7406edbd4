// Returns, as a sentence, the change that gives a plan to a scatter step without one. Not
// installed.
//
//   outcome.remedy = remedy_for_long(instance, unplaceable_sequences(instance));
//
// It is the least change of one or two numbers. explain() lists more changes and tries each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/instance.h"

namespace stowage {

// Returns the least whole MiB with which a device of a group of this form holds `wanted` tokens.
Mib memory_for(ScatterInstance instance, GroupForm form, Tokens wanted);

// Returns the remedy for sequences that fit no group. `unplaceable` lists all of them, at least
// one.
std::string remedy_for_long(const ScatterInstance& instance,
                            const std::vector<std::int64_t>& unplaceable);

// Returns the remedy for a step whose rules require at least `needed` groups with a sequence each,
// and which has fewer sequences. `needed` is nullopt if no groups cover all ranks.
std::string remedy_for_few(const ScatterInstance& instance, std::optional<std::int64_t> needed);

// Returns the remedy for rules that no plan keeps, if the search gives no further reason.
std::string remedy_for_rules(const ScatterInstance& instance);

}  // namespace stowage
