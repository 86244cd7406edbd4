// The direct predecessors of each operator. Tables and checks of instances use them; the verifier
// has its own. Not installed.
//
//   const auto before = predecessors_of(instance);
//   const auto order = first_order(before);  // the list's own order if it is valid
#pragma once

#include <optional>
#include <vector>

#include "instances/order/instance.h"

namespace stowage {

// Returns the predecessors of each operator, ascending and each once. They are the writers of the
// tensors that it touches; for a tensor that it updates, the operators before it in the list that
// touch the tensor since the update before; the last operator before it that updates a tensor that
// it touches; and `after`. An operator that needs itself stands in its own list. Requires indices
// that exist. Linear but for sorting.
std::vector<std::vector<int>> predecessors_of(const OrderInstance& instance);

// Returns the order that always runs the first ready operator of the list, or nullopt if there is a
// cycle.
std::optional<std::vector<int>> first_order(const std::vector<std::vector<int>>& before);

// Returns operators of which each needs the next, and the last needs the first; empty without a
// cycle.
std::vector<int> cycle_in(const std::vector<std::vector<int>>& before);

}  // namespace stowage
