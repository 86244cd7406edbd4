// The stages of an order solve, and the course that each method takes through them.
#pragma once

#include <span>
#include <string_view>

#include "solvers/order/context.h"
#include "solvers/order/length_context.h"
#include "solvers/order/rerun_context.h"
#include "solvers/stage.h"

namespace stowage {

// Told if all rounds have run, and nothing is proven.
inline constexpr char kOutOfStates[] = "the search ended with the states that it may remember";

// The stages of a graph whose operators run once, in the order in which `auto` runs them.
std::span<const Stage<OrderContext>> order_stages();
Course order_course(std::string_view method, const OrderParams& params);

// The stages of a graph in which operators may run again or tensors leave for a host.
std::span<const Stage<RerunContext>> rerun_stages();
Course rerun_course(std::string_view method, const OrderParams& params);

// The stages of a graph whose sizes grow with a length.
std::span<const Stage<LengthContext>> length_stages();
Course length_course(std::string_view method);

}  // namespace stowage
