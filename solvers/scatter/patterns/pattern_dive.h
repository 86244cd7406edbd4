// Plans sequences for given makespans, by column generation and a dive.
//
// If a micro-batch has a given makespan, a group of degree d can hold a limited number of sets of
// sequences, its patterns. The LP mixes patterns until every sequence is covered with the fewest
// devices. If the LP needs more devices than exist, the makespans are infeasible. A dive rounds the
// mixture into groups, one pattern after another.
//
//   ScatterPatternDive repack(table, MilpBackend::cbc);
//   repack.learn(step);                               // patterns to begin with
//   if (auto better = repack.plan({1680.0}, budget)) use(*better);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "formulations/scatter/lp/repack_master.h"
#include "formulations/scatter/pattern.h"
#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"
#include "instances/scatter/table/planning_table.h"
#include "solvers/milp/solver.h"
#include "solvers/scatter/patterns/pattern_pool.h"

namespace stowage {

class ScatterPatternDive {
 public:
  // `table` must outlive this. Requires every sequence to fit some configuration.
  ScatterPatternDive(const ScatterTable& table, MilpBackend backend);

  void learn(const WorkingStep& step) { patterns_.learn(step); }

  // Solves the LP for micro-batches of at most `limits` ms. After `most_rounds` rounds of pricing
  // it stops, and then devices are still missing.
  struct Relaxation {
    bool solved = false;
    double shortage = 0;  // missing devices per micro-batch; at most 0: makespans may be feasible
    std::vector<double> values;  // dual price of a sequence, by kind
    std::vector<double> prices;  // dual price of a device, by micro-batch
  };
  Relaxation relax(std::span<const Ms> limits, Budget& budget, int most_rounds = 200);

  // Returns groups for these makespans. If the dive ends before all sequences are placed, the
  // others go where they cost least, and makespans get longer. Returns nullopt if memory or the
  // budget does not suffice.
  std::optional<WorkingStep> plan(std::span<const Ms> limits, Budget& budget);

  // Sets the recomputation mode of each micro-batch. Without it, the LP mixes modes, and a dive
  // keeps the mode of the first group of each micro-batch.
  void keep_modes(std::vector<int> modes) { modes_ = std::move(modes); }

 private:
  static constexpr int kAnyMode = -1;
  struct Use {  // a pattern in a micro-batch
    std::size_t batch = 0;
    std::size_t pattern = 0;
    double amount = 0;
  };
  struct Task {
    std::vector<Ms> limits;
    std::vector<int> counts;   // by kind
    std::vector<int> devices;  // by micro-batch
    std::vector<int> modes;    // recomputation mode by micro-batch; kAnyMode while undecided
  };
  struct Mixture {
    Relaxation relaxation;
    std::vector<Use> uses;
  };

  Task whole(std::span<const Ms> limits) const;
  Mixture mix(const Task& task, bool only_feasibility, int most_rounds, Budget& budget);
  void use(std::size_t batch, std::size_t pattern, ScatterPatternDiveMaster& master,
           Mixture& mixture) const;
  std::optional<double> add_patterns(const Task& task, std::size_t states,
                                     ScatterPatternDiveMaster& master, Mixture& mixture,
                                     const Budget& budget);
  BestPattern price(const Task& task, int config, Ms room, const std::vector<double>& values,
                    double floor, std::size_t states) const;
  bool fits(const PatternPool::Pattern& pattern, const Task& task, std::size_t batch) const;
  bool suits(const Task& task, std::size_t batch, int config) const;
  bool place_rest(const std::vector<std::vector<int>>& rest, std::span<const Ms> limits,
                  WorkingStep& step) const;

  const ScatterTable& table_;
  MilpBackend backend_;
  PatternPool patterns_;
  std::vector<int> modes_;
};

struct PatternDiveEffort {
  std::vector<Ms> shape;    // makespans up to a common factor; empty: the present makespans
  double spread = 0;        // relative random change of these makespans
  double precision = 1e-4;  // relative precision of the common factor
  std::int64_t anneal_moves = 20000;  // annealing moves after the dive
};

// Replans some micro-batches of a step together. Searches the smallest common factor of the
// makespans for which the LP is feasible, dives for these makespans, and anneals. Returns true if
// the step got faster. Each linear programme of the search and each dive counts as a node.
// Deterministic in `seed` unless a time limit ends it.
bool repack_some(const ScatterTable& table, std::vector<std::size_t> chosen,
                 const PatternDiveEffort& effort, MilpBackend backend, std::uint64_t seed,
                 WorkingStep& step, Budget& budget);

}  // namespace stowage
