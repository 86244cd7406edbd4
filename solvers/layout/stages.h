// The stages of a layout solve, and the course that each method takes through them.
#pragma once

#include <span>
#include <string_view>

#include "solvers/layout/context.h"
#include "solvers/stage.h"

namespace stowage {

// All stages of the family, in the order in which `auto` and `exact` run them.
std::span<const Stage<LayoutContext>> layout_stages();

// The course of `method`, a name of methods_of().
Course layout_course(std::string_view method);

}  // namespace stowage
