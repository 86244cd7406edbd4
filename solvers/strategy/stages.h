// The stages of a strategy solve, and the course of each method through them.
#pragma once

#include <span>
#include <string_view>

#include "solvers/stage.h"
#include "solvers/strategy/stage_context.h"

namespace stowage {

// Returns all stages of the family in the order of `auto`.
std::span<const Stage<StrategyContext>> strategy_stages();

// Returns the course of `method`, a name of methods_of().
Course strategy_course(std::string_view method);

}  // namespace stowage
