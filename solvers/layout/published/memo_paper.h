// MEMO's plan in two levels (arXiv 2407.12117, section 4.2). All layers of a model allocate the
// same buffers, so the transient buffers of one layer's pass are planned once. The outer instance
// then has one pseudo buffer in the place of each pass.
//
//   const auto plan = plan_memo(instance, planner, budget);   // planner: any that plans a layout
//
// A pseudo buffer spans exactly the steps from its first inner allocation to its last inner
// release. Buffers that cross the border of a layer are planned in the outer instance one by one.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"

namespace stowage {

// Returns a plan of an instance without layers, or nullopt if it finds none within the budget.
using LayoutPlanner = std::function<std::optional<LayoutPlan>(const LayoutInstance&, Budget&)>;

struct MemoPlan {
  LayoutPlan plan;                 // plan of the whole instance, without bound and hash
  std::vector<Bytes> block_peaks;  // peak of each block of `layers` with an occurrence
  Bytes outer_peak = 0;            // peak of the outer instance, which is the plan's peak
};

// Returns the plan and the peaks of the two levels. The plan of an instance without layers is the
// planner's own. Returns nullopt if the planner finds no plan for a block or for the outer
// instance, or if alignments have no common multiple up to 2^53. The plan may exceed the capacity;
// it is valid otherwise if the planner's plans are.
std::optional<MemoPlan> plan_memo(const LayoutInstance& instance, const LayoutPlanner& planner,
                                  Budget& budget);

}  // namespace stowage
