#include "solvers/solve.h"

#include "solvers/each.h"

namespace stowage {

std::vector<Method> methods(const Instance& instance) {
  return std::visit([](const auto& family) { return methods_of(family); }, instance);
}

Outcome solve(const Instance& instance, const SolveOptions& options, Budget& budget,
              const Progress& progress) {
  return std::visit(
      [&](const auto& family) { return solve_family(family, options, budget, progress); },
      instance);
}

}  // namespace stowage
