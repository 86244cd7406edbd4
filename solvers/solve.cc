#include "solvers/solve.h"

#include "solvers/scatter_solve.h"

namespace stowage {

std::vector<Method> methods(const Instance& instance) {
  return std::visit([](const ScatterInstance& scatter) { return scatter_methods(scatter); },
                    instance);
}

Outcome solve(const Instance& instance, const SolveOptions& options, Budget& budget,
              const Progress& progress) {
  return std::visit(
      [&](const ScatterInstance& scatter) {
        return solve_scatter(scatter, options, budget, progress);
      },
      instance);
}

}  // namespace stowage
