#include "solvers/lp/column_generation.h"

#include <utility>

namespace stowage {

bool ColumnGeneration::run(const milp::Model& master, LpResult& solution, Budget& budget,
                           const Price& price) const {
  PricingRound round;
  double measured = 0;
  for (; round.number < options_.most_rounds; ++round.number) {
    LpResult result = solve_lp(backend_, master, solution.basis, budget);
    if (options_.counts_nodes) budget.count_nodes(1);
    if (!result.optimal) return false;
    solution = std::move(result);
    if (round.number % options_.rounds_per_measurement == 0) {
      const double needed = measured * (1 + options_.progress);
      const bool progress =
          options_.progress < 0 ? solution.objective <= needed : solution.objective >= needed;
      round.stalls = round.number == 0 || progress ? 0 : round.stalls + 1;
      measured = solution.objective;
    }
    const Pricing found = price(round);
    if (found == Pricing::enough) return true;
    if (found == Pricing::nothing && ++round.effort == options_.efforts) return true;
  }
  return true;
}

}  // namespace stowage
