// The functions of the stages of a layout solve. stages.cc has a summary of each, and their order.
// Not installed.
#pragma once

#include <optional>

#include "instances/budget.h"
#include "solvers/layout/stage_context.h"
#include "solvers/outcome.h"

namespace stowage::layout_stage {

// Reason why a stage ends the whole solve; nullopt continues with the next stage.
using Ended = std::optional<StoppedBy>;

Ended height_refutation(LayoutContext& context, Budget& part);
Ended quick_plan(LayoutContext& context, Budget& part);
Ended first_plan(LayoutContext& context, Budget& part);
Ended busiest_first(LayoutContext& context, Budget& budget);
Ended short_search(LayoutContext& context, Budget& part);
Ended lower_whole(LayoutContext& context, Budget& part);
Ended lower_by_windows(LayoutContext& context, Budget& budget);
Ended lower_core(LayoutContext& context, Budget& part);
Ended search(LayoutContext& context, Budget& part);
Ended method_heuristic(LayoutContext& context, Budget& part);
Ended memo(LayoutContext& context, Budget& part);
Ended mip(LayoutContext& context, Budget& part);
Ended published_mip(LayoutContext& context, Budget& part);

// Submits the plans that need no table and almost no time.
void offer_quick_plans(LayoutContext& context);

}  // namespace stowage::layout_stage
