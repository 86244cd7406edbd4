// The functions of the stages of an order solve. stages.cc has a summary of each, and their order.
// Not installed.
#pragma once

#include <optional>

#include "instances/budget.h"
#include "solvers/order/length/length_context.h"
#include "solvers/order/rerun/rerun_context.h"
#include "solvers/order/stage_context.h"
#include "solvers/outcome.h"

namespace stowage {

// Reason why a stage ends the whole solve; nullopt continues with the next stage.
using Ended = std::optional<StoppedBy>;

// Stages for graphs whose operators run once.
namespace order_stage {

Ended program(OrderContext& context, Budget& part);
Ended commit(OrderContext& context, Budget& part);
Ended list(OrderContext& context, Budget& part);
Ended depth_first(OrderContext& context, Budget& part);
Ended cuts(OrderContext& context, Budget& part);
Ended stretches(OrderContext& context, Budget& part);
Ended search_below(OrderContext& context, Budget& part);
Ended search_from_bound(OrderContext& context, Budget& part);
Ended force(OrderContext& context, Budget& part);
Ended narrow_stretches(OrderContext& context, Budget& part);
Ended method_heuristic(OrderContext& context, Budget& part);

}  // namespace order_stage

// Stages for graphs in which operators may run again or tensors may be offloaded to a host.
namespace rerun_stage {

Ended one_pass(RerunContext& context, Budget& part);
Ended evict(RerunContext& context, Budget& part);
Ended cheap_runs(RerunContext& context, Budget& part);
Ended offload(RerunContext& context, Budget& part);
Ended offload_walk(RerunContext& context, Budget& part);
Ended walk(RerunContext& context, Budget& part);
Ended rerun_search(RerunContext& context, Budget& part);
Ended method_heuristic(RerunContext& context, Budget& part);
Ended checkmate(RerunContext& context, Budget& part);
Ended memo(RerunContext& context, Budget& part);

}  // namespace rerun_stage

// Stages for graphs whose sizes grow with a length.
namespace length_stage {

Ended longest(LengthContext& context, Budget& part);
Ended shortest(LengthContext& context, Budget& part);
Ended row_ends(LengthContext& context, Budget& part);
Ended longest_again(LengthContext& context, Budget& part);
Ended rows(LengthContext& context, Budget& part);

}  // namespace length_stage
}  // namespace stowage
