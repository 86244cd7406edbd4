// The context that the stages of one layout solve share. Not installed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/instance.h"
#include "instances/layout/planning_table.h"
#include "instances/numeric/numbers.h"
#include "solvers/family_solve.h"
#include "solvers/layout/core_first.h"
#include "solvers/layout/exact/search.h"
#include "solvers/layout/params.h"
#include "solvers/stage.h"

namespace stowage {

// State of the rounds that lower the peak of the best layout.
struct LoweringRounds {
  std::unique_ptr<Budget> part;  // budget of all rounds together; null: the whole budget
  bool begun = false;            // the first round has begun
  bool alone = false;            // no search follows these rounds
  bool no_time = false;          // too little time is left for a round
  int in_vain = 0;               // number of the last rounds without a lower peak
  std::uint64_t tries = 0;
  // If only one of the two methods gained in a round, the other one skips the next round.
  bool skip_whole = false;
  bool skip_core = false;
  // Results of the current round.
  std::int64_t nodes = 0;  // nodes spent on lowering the whole layout
  bool whole_ran = false;
  bool core_ran = false;
  bool whole_helped = false;
  bool core_helped = false;
  bool windows_helped = false;
};

struct LayoutContext : SolveContext<LayoutInstance> {
  bool& time_ended_it;
  std::optional<Refutation>& refuted;  // set by a stage that proves that no layout exists
  const LayoutParams params;
  // Solves one level of a baseline that plans in two levels.
  Outcome (*solve_part)(const LayoutInstance&, const SolveOptions&, Budget&, const Progress&);

  std::optional<LayoutTable> table = {};            // nullopt if there was no time to build it
  std::optional<std::vector<Bytes>> too_high = {};  // the lowest layout above the capacity
  std::optional<CoreFirst> core = {};
  LoweringRounds lowering = {};

  bool searches() const { return options.method == "auto" || options.method == "exact"; }
  bool good_enough() const { return incumbent.within(options.gap); }
  bool done() const { return good_enough() || budget.exhausted(); }
  bool end_round();

  bool searchable() const { return table && table->stackable(); }
  // Returns true if the search takes part in the rounds. Most instances of few buffers are solved
  // by their first search.
  bool few() const { return table->buffers() < params.rounds.searched; }
  bool fits(Bytes peak) const { return !instance.capacity || peak <= *instance.capacity; }
  // Returns true if a layout of this peak would be a better plan and is therefore worth verifying.
  bool better(Bytes peak) const { return !incumbent.plan() || peak < incumbent.plan()->peak_bytes; }

  double seconds_to_verify() const {
    return layout_fixed::kSecondsToVerify * static_cast<double>(instance.buffers.size());
  }
  // Returns true if there are very many buffers and less time is left than `seconds` for each.
  bool too_many_for(double seconds) const {
    const auto buffers = static_cast<double>(instance.buffers.size());
    return buffers > params.heuristics.fast.many && budget.seconds_left() < buffers * seconds;
  }

  // Returns the largest peak within the capacity that proves the plan optimal or is within the
  // requested gap.
  Bytes enough() const {
    const double bound = incumbent.bound();
    const double most = options.gap < 1 ? bound / (1 - options.gap) : kInfinity;
    const Bytes capacity = instance.capacity.value_or(table->stack());
    return most < static_cast<double>(capacity) ? static_cast<Bytes>(most) : capacity;
  }

  LayoutStart known() const {
    LayoutStart start{.bound = static_cast<Bytes>(incumbent.bound()),
                      .capacity = instance.capacity,
                      .gap = options.gap};
    if (incumbent.plan()) start.offsets = incumbent.plan()->offsets;
    return start;
  }

  // Returns true if some sections are busier than others, so that core_first can lay them out
  // first.
  bool has_core() {
    if (!core && CoreFirst::fits(*table, params.heuristics.reinsertion)) {
      core.emplace(*table, options.seed, params);
    }
    return core && core->parts() > 1;
  }
};

}  // namespace stowage
