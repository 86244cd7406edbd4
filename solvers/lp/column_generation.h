// Column generation: a linear programme, the restricted master, that starts small and grows by the
// columns and rows that its solutions violate.
//
//   const ColumnGeneration rounds(backend, {.most_rounds = 100});
//   LpResult solution;
//   rounds.run(master, solution, budget, [&](const PricingRound& round) {
//     return add_columns(master, solution.duals) > 0 ? Pricing::added : Pricing::nothing;
//   });
//
// The caller owns the master and appends to it. Rows and variables keep their numbers, so that each
// round starts from the basis of the previous round.
#pragma once

#include <functional>
#include <optional>

#include "formulations/milp/model.h"
#include "instances/budget.h"
#include "solvers/lp/solver.h"

namespace stowage {

// The result of a round of pricing.
enum class Pricing {
  added,    // columns or rows were added: solve the master again
  nothing,  // no column was found: raise the effort, or end at the highest effort
  enough,   // the caller needs no further round, or has no time left
};

struct PricingRound {
  int number = 0;  // from 0
  int effort = 0;  // raised after `nothing`
  int stalls = 0;  // consecutive measurements without progress
};

struct ColumnGenerationOptions {
  int most_rounds = 100;
  int efforts = 1;  // number of pricing efforts
  // The objective is measured in the first round and then every this many rounds. Progress is a
  // relative change of at least this amount: negative if columns lower the objective, positive if
  // rows raise it.
  int rounds_per_measurement = 1;
  double progress = 0;
  bool counts_nodes = false;  // every linear programme is a node of the budget
};

class ColumnGeneration {
 public:
  // Called after each solution of the master. May extend the master.
  using Price = std::function<Pricing(const PricingRound&)>;

  ColumnGeneration(std::optional<MilpBackend> backend, const ColumnGenerationOptions& options)
      : backend_(backend), options_(options) {}

  // Starts from solution.basis. `solution` is always the last optimal solution. Returns false if
  // the budget or the backend left a master unsolved.
  bool run(const milp::Model& master, LpResult& solution, Budget& budget, const Price& price) const;

 private:
  std::optional<MilpBackend> backend_;
  ColumnGenerationOptions options_;
};

}  // namespace stowage
