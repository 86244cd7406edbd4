// What to change in an assign step that has no plan: a sentence. Not installed.
//
//   outcome.remedy = remedy_for_long(instance, unplaceable_sequences(instance));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instances/assign/instance.h"

namespace stowage {

// Of sequences that no strategy admits; `unplaceable` are all of them, at least one.
std::string remedy_for_long(const AssignInstance& instance,
                            const std::vector<std::int64_t>& unplaceable);

// Of row constraints that no strategy meets with so few sequences.
std::string remedy_for_rows(const AssignInstance& instance);

}  // namespace stowage
