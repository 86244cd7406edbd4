// The pattern LP of a step whose makespans are known roughly: micro-batch m lasts from low[m] to
// high[m]. How short can it be?
//
//   ScatterProfileLp lp(table, MilpBackend::cbc);
//   const auto answer = lp.solve(low, high, upper, budget);
//   // answer.proven ms at least, by the prices in answer.node
//
// Each degree in each micro-batch mixes patterns, sets of sequences that fit one group. The LP is
// X1 to X4 of formulations/README.md; its columns are priced by best_pattern.
#pragma once

#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "formulations/scatter/pattern.h"
#include "heuristics/scatter/draft.h"
#include "instances/budget.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/table.h"
#include "solvers/lp/solver.h"

namespace stowage {

class ScatterProfileLp {
 public:
  // `table` must outlive this. Requires every sequence to fit some level.
  ScatterProfileLp(const ScatterTable& table, MilpBackend backend);

  // Patterns to begin with.
  void learn(const StepDraft& step);

  struct Answer {
    bool solved = false;
    Ms proven = 0;              // no step in the box is shorter, by the prices
    std::vector<Ms> makespans;  // of the LP
    double missing = 0;         // devices that the LP would need beyond those there are
    ProfileNode node;           // a priced one
  };
  // Steps of `upper` ms or more are of no interest. Counts as a node.
  Answer solve(std::span<const Ms> low, std::span<const Ms> high, Ms upper, Budget& budget);

 private:
  struct Column {
    int level = 0;
    std::vector<PatternAmount> amounts;
    Ms time = 0;            // without the overhead
    std::int64_t used = 0;  // the last solve that had it in the solution
  };
  struct Box;

  void add_column(int level, std::vector<PatternAmount> amounts);
  bool seen(int level, const std::vector<PatternAmount>& amounts) const;
  BestPattern price(int level, Ms room, double time, const std::vector<double>& values,
                    double floor, std::size_t states) const;
  Ms settle(const Box& box, Ms loss, ProfileNode& node, bool& found, const Budget& budget);
  void forget();

  const ScatterTable& table_;
  MilpBackend backend_;
  std::vector<Column> columns_;
  std::int64_t solves_ = 0;
};

}  // namespace stowage
