// Which operators must run before which, one step back each. Not installed: tables and checks of
// instances use it, the verifier has its own.
//
//   const auto before = predecessors_of(instance);
//   const auto order = first_order(before);   // the list's own order wherever that is one
#pragma once

#include <optional>
#include <vector>

#include "instances/order/instance.h"

namespace stowage {

// Of each operator, ascending and each once: writers of what it touches; for a tensor that it
// updates, the operators before it in the list that touch it since the update before; the last
// operator before it that updates what it touches; and `after`. An operator that needs itself
// stands in its own list. Requires indices that exist. Linear but for sorting.
std::vector<std::vector<int>> predecessors_of(const OrderInstance& instance);

// Of all that may run, always the first of the list; nothing if there is a cycle.
std::optional<std::vector<int>> first_order(const std::vector<std::vector<int>>& before);

// Operators that each need the next one, and the last one the first; empty without a cycle.
std::vector<int> cycle_in(const std::vector<std::vector<int>>& before);

}  // namespace stowage
