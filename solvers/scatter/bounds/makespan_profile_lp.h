// The pattern LP of a step with given ranges of makespans: micro-batch m lasts from low[m] to
// high[m]. Bounds the time of such steps.
//
//   ScatterProfileLp lp(table, MilpBackend::cbc);
//   const auto answer = lp.solve(low, high, upper, budget);
//   // answer.proven is a bound in ms, by the prices in answer.node
//
// Each degree in each micro-batch mixes patterns: sets of sequences that fit one group. The LP is
// X1 to X4 of docs/theory/scatter.md. best_pattern() prices its columns.
#pragma once

#include <span>
#include <vector>

#include "formulations/scatter/lp/profile_master.h"
#include "formulations/scatter/pattern.h"
#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/table/planning_table.h"
#include "solvers/milp/solver.h"
#include "solvers/scatter/patterns/pattern_pool.h"

namespace stowage {

class ScatterProfileLp {
 public:
  // `table` must outlive this. Requires every sequence to fit some configuration.
  ScatterProfileLp(const ScatterTable& table, MilpBackend backend);

  // Adds the groups of a plan to the patterns.
  void learn(const WorkingStep& step) { patterns_.learn(step); }

  struct Answer {
    bool solved = false;
    Ms proven = 0;              // bound on the steps in the box, by the prices
    std::vector<Ms> makespans;  // of the LP
    ProfileNode node;           // a priced node
  };
  // Bounds above `upper` ms are not improved. Counts as a node.
  Answer solve(std::span<const Ms> low, std::span<const Ms> high, Ms upper, Budget& budget);

 private:
  struct Box {
    std::span<const Ms> low;
    std::span<const Ms> high;
    Ms upper = 0;
  };
  enum class Search { finished, out_of_time };

  void offer(std::size_t first, ScatterProfileMaster& master) const;
  void generate(const Box& box, Answer& answer, Budget& budget);
  BestPattern price(int config, Ms room, double time, const std::vector<double>& values,
                    double floor, std::size_t states) const;
  Search add_patterns(const Box& box, const ProfileNode& node, std::size_t states,
                      const Budget& budget);
  Ms prove(const Box& box, Ms loss, ProfileNode& node, const Budget& budget);

  const ScatterTable& table_;
  MilpBackend backend_;
  PatternPool patterns_;
};

}  // namespace stowage
