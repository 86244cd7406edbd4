// The stages of a strategy solve, and the course that each method takes through them.
#pragma once

#include <span>
#include <string_view>

#include "solvers/stage.h"
#include "solvers/strategy/context.h"

namespace stowage {

// All stages of the family, in the order in which `auto` runs them.
std::span<const Stage<StrategyContext>> strategy_stages();

// The course of `method`, a name of methods_of().
Course strategy_course(std::string_view method);

}  // namespace stowage
