// The stages of a layout solve, and the course of each method through them.
#pragma once

#include <span>
#include <string_view>

#include "solvers/layout/stage_context.h"
#include "solvers/stage.h"

namespace stowage {

// Returns all stages of the family in the order of `auto` and `exact`.
std::span<const Stage<LayoutContext>> layout_stages();

// Returns the course of `method`, a name of methods_of().
Course layout_course(std::string_view method);

}  // namespace stowage
