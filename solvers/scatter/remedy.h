// What to change in a scatter step that has no plan: a sentence. Not installed.
//
//   outcome.remedy = remedy_for_long(instance, unplaceable_sequences(instance));
//
// It is the least change of one number, or of two; explain() lists more changes, each tried.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/scatter/cost_model.h"
#include "instances/scatter/instance.h"

namespace stowage {

// The least whole MiB with which a device of a group of this form holds `wanted` tokens.
Mib memory_for(ScatterInstance instance, GroupForm form, Tokens wanted);

// Of sequences that fit no group; `unplaceable` are all of them, at least one.
std::string remedy_for_long(const ScatterInstance& instance,
                            const std::vector<std::int64_t>& unplaceable);

// Of a step whose rules ask for at least `needed` groups, each with a sequence, and which has fewer
// sequences; nothing if no groups make up all ranks.
std::string remedy_for_few(const ScatterInstance& instance, std::optional<std::int64_t> needed);

// Of rules that no plan keeps, by a search that found no more to say.
std::string remedy_for_rules(const ScatterInstance& instance);

}  // namespace stowage
