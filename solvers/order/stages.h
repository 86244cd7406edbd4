// The stages of an order solve, and the course of each method through them.
#pragma once

#include <span>
#include <string_view>

#include "solvers/order/length/length_context.h"
#include "solvers/order/rerun/rerun_context.h"
#include "solvers/order/stage_context.h"
#include "solvers/stage.h"

namespace stowage {

// Remark if all rounds have run and nothing is proven.
inline constexpr char kOutOfStates[] =
    "stopped: the table of states is full; try --method fast, or a smaller graph";

// Returns the stages for graphs whose operators run once, in the order of `auto`.
std::span<const Stage<OrderContext>> order_stages();
Course order_course(std::string_view method, const OrderParams& params);

// Returns the stages for graphs in which operators may run again or tensors may be offloaded to a
// host.
std::span<const Stage<RerunContext>> rerun_stages();
Course rerun_course(std::string_view method, const OrderParams& params);

// Returns the stages for graphs whose sizes grow with a length.
std::span<const Stage<LengthContext>> length_stages();
Course length_course(std::string_view method);

}  // namespace stowage
