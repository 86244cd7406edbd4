// Remedies for assign instances without a plan, each as a sentence. Not installed.
//
//   outcome.remedy = remedy_for_long(instance, unplaceable_sequences(instance));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/assign/instance.h"

namespace stowage {

// Returns the remedy for sequences that no strategy admits. `unplaceable` lists all of them, at
// least one.
std::string remedy_for_long(const AssignInstance& instance,
                            const std::vector<std::int64_t>& unplaceable);

// Returns the remedy for row constraints that no strategy can satisfy with the given sequences.
std::string remedy_for_rows(const AssignInstance& instance);

}  // namespace stowage
