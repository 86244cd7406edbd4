// The stages of a scatter solve, and the course of each method through them.
#pragma once

#include <span>
#include <string_view>

#include "solvers/scatter/stage_context.h"
#include "solvers/stage.h"

namespace stowage {

// Returns all stages of the family in the order of `auto` and `exact`.
std::span<const Stage<ScatterContext>> scatter_stages();

// Returns the course of `method`, a name of methods_of(). `mixes`: of an instance that may mix
// micro-batches (ScatterInstance::mixed).
Course scatter_course(std::string_view method, const ScatterParams& params, bool mixes = false);

}  // namespace stowage
