// Column generation: a linear programme, the restricted master, that starts small and grows by the
// columns and rows that its own solutions ask for.
//
//   const ColumnGeneration rounds(backend, {.most_rounds = 100});
//   LpResult solution;
//   rounds.run(master, solution, budget, [&](const PricingRound& round) {
//     return add_columns(master, solution.duals) > 0 ? Pricing::added : Pricing::nothing;
//   });
//
// The user owns the master and appends to it; rows and variables keep their numbers, so that each
// round starts from the basis of the one before.
#pragma once

#include <functional>
#include <optional>

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/lp/solver.h"

namespace stowage {

// What a round of pricing came to.
enum class Pricing {
  added,    // columns or rows: the master is to be solved again
  nothing,  // nothing found: more effort, or the end if there is no more
  enough,   // the user has what it wanted, or no time left
};

struct PricingRound {
  int number = 0;  // from 0 on
  int effort = 0;  // raised when `nothing` was found with less
  int stalls = 0;  // measurements in a row without progress
};

struct ColumnGenerationOptions {
  int most_rounds = 100;
  int efforts = 1;  // of pricing
  // The objective is measured every so many rounds, from the first on. Progress is a relative
  // change of so much at least: below 0, because columns lower it, or above, because rows raise it.
  int rounds_per_measurement = 1;
  double progress = 0;
  bool counts_nodes = false;  // every linear programme is a node of the budget
};

class ColumnGeneration {
 public:
  // Called after each solution of the master, which it may then extend.
  using Price = std::function<Pricing(const PricingRound&)>;

  ColumnGeneration(std::optional<MilpBackend> backend, const ColumnGenerationOptions& options)
      : backend_(backend), options_(options) {}

  // Starts from solution.basis. `solution` is always the last optimal one. False if the budget or
  // the backend left a master unsolved.
  bool run(const milp::Model& master, LpResult& solution, Budget& budget, const Price& price) const;

 private:
  std::optional<MilpBackend> backend_;
  ColumnGenerationOptions options_;
};

}  // namespace stowage
