// MEMO's plan in two levels (arXiv 2407.12117, section 4.2): all layers of a model ask for the same
// buffers, so the transient ones of one layer's pass are planned once, and the whole step with one
// pseudo buffer in the place of each pass.
//
//   const auto plan = plan_memo(instance, planner, budget);   // planner: any that plans a layout
//
// A pseudo buffer spans exactly the steps from its first inner allocation to its last inner
// release; what crosses the border of a layer stays outside, buffer by buffer.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"

namespace stowage {

// Plans an instance without layers; nothing if it finds none within the budget.
using LayoutPlanner = std::function<std::optional<LayoutPlan>(const LayoutInstance&, Budget&)>;

struct MemoPlan {
  LayoutPlan plan;                 // of the whole instance; bound and hash are the caller's to set
  std::vector<Bytes> block_peaks;  // of each block of `layers` with an occurrence
  Bytes outer_peak = 0;            // of the step with pseudo buffers: the plan's peak
};

// The blocks and offsets of the two levels. Without layers it is the planner's own plan. Nothing if
// the planner finds none for a block or for the step, or if alignments have no common multiple up
// to 2^53. The plan may miss the capacity: it is valid otherwise if the planner's plans are.
std::optional<MemoPlan> plan_memo(const LayoutInstance& instance, const LayoutPlanner& planner,
                                  Budget& budget);

}  // namespace stowage
