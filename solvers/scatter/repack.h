// Plans sequences for makespans that are asked for: the pattern LP, and a dive into it.
//
// Given how long each micro-batch may last, a group of degree d can hold only so many different
// sets of sequences, its patterns. The LP mixes patterns until every sequence is covered with the
// fewest devices; where even that takes more devices than there are, these makespans are out of
// reach. A dive rounds the mixture into groups, one pattern after another.
//
//   ScatterRepack repack(table, MilpBackend::cbc);
//   repack.learn(step);                               // patterns to begin with
//   if (auto better = repack.plan({1680.0}, budget)) use(*better);
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "formulations/scatter/pattern.h"
#include "formulations/scatter/repack_master.h"
#include "heuristics/scatter/draft.h"
#include "instances/budget.h"
#include "instances/scatter/table.h"
#include "solvers/milp/solver.h"
#include "solvers/scatter/pattern_pool.h"

namespace stowage {

class ScatterRepack {
 public:
  // `table` must outlive this. Requires every sequence to fit some level.
  ScatterRepack(const ScatterTable& table, MilpBackend backend);

  void learn(const StepDraft& step) { patterns_.learn(step); }

  // What the LP says of micro-batches that last `limits` ms at most. After so many rounds of
  // pricing it gives up: devices are then still missing.
  struct Relaxation {
    bool solved = false;
    double shortage = 0;         // devices that each micro-batch lacks; at most 0: perhaps possible
    std::vector<double> values;  // of a sequence, by kind: the dual prices
    std::vector<double> prices;  // of a device, by micro-batch
  };
  Relaxation relax(std::span<const Ms> limits, Budget& budget, int most_rounds = 200);

  // Groups for these makespans. Where the dive ends before all sequences have a place, the rest go
  // where they hurt least, and makespans come out longer. Nothing if memory or the budget ends.
  std::optional<StepDraft> plan(std::span<const Ms> limits, Budget& budget);

  // From now on the micro-batches recompute in these ways, one each. Without, the LP mixes ways,
  // and a dive keeps to that of the first group that a micro-batch gets.
  void keep_ways(std::vector<int> ways) { ways_ = std::move(ways); }

 private:
  static constexpr int kAnyWay = -1;
  struct Use {  // a pattern in a micro-batch
    std::size_t batch = 0;
    std::size_t pattern = 0;
    double amount = 0;
  };
  struct Task {
    std::vector<Ms> limits;
    std::vector<int> counts;   // by kind
    std::vector<int> devices;  // by micro-batch
    std::vector<int> ways;     // likewise; kAnyWay until it is decided
  };
  struct Mixture {
    Relaxation relaxation;
    std::vector<Use> uses;
  };

  Task whole(std::span<const Ms> limits) const;
  Mixture mix(const Task& task, bool only_feasibility, int most_rounds, Budget& budget);
  void use(std::size_t batch, std::size_t pattern, ScatterRepackMaster& master,
           Mixture& mixture) const;
  std::optional<double> add_patterns(const Task& task, std::size_t states,
                                     ScatterRepackMaster& master, Mixture& mixture,
                                     const Budget& budget);
  BestPattern price(const Task& task, int level, Ms room, const std::vector<double>& values,
                    double floor, std::size_t states) const;
  bool fits(const PatternPool::Pattern& pattern, const Task& task, std::size_t batch) const;
  bool suits(const Task& task, std::size_t batch, int level) const;
  bool place_rest(const std::vector<std::vector<int>>& rest, std::span<const Ms> limits,
                  StepDraft& step) const;

  const ScatterTable& table_;
  MilpBackend backend_;
  PatternPool patterns_;
  std::vector<int> ways_;
};

struct RepackEffort {
  std::vector<Ms> shape;    // makespans to ask for, times a common factor; none: the present ones
  double spread = 0;        // of the makespans asked for around these, relative
  double precision = 1e-4;  // of the common factor of the makespans
  std::int64_t anneal_moves = 20000;  // of annealing afterwards
};

// Plans some micro-batches of a step anew, together: finds the shortest makespans in some
// proportion that the LP thinks possible, dives for them, and anneals. True if the step got faster.
// A linear programme of the search, and a dive, count as a node each. Deterministic in `seed`
// unless a time limit ends it.
bool repack_some(const ScatterTable& table, std::vector<std::size_t> chosen,
                 const RepackEffort& effort, MilpBackend backend, std::uint64_t seed,
                 StepDraft& step, Budget& budget);

}  // namespace stowage
