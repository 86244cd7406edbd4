// The state that the stages of one layout solve share. Not installed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/instance.h"
#include "instances/layout/table.h"
#include "instances/numbers.h"
#include "solvers/family_solve.h"
#include "solvers/layout/busiest.h"
#include "solvers/layout/params.h"
#include "solvers/layout/search.h"
#include "solvers/stage.h"

namespace stowage {

// The rounds that lower the peak of the best layout.
struct LoweringRounds {
  std::unique_ptr<Budget> part;  // of all rounds together; null: the whole budget
  bool begun = false;            // the first round has begun
  bool alone = false;            // no search comes after these rounds
  bool no_time = false;          // the time left does not do for a round
  int in_vain = 0;               // the last rounds without a lower peak
  std::uint64_t tries = 0;
  // A way that was of no use in a round in which the other way was is left out of the next round.
  bool skip_whole = false;
  bool skip_core = false;
  // The round that runs:
  std::int64_t nodes = 0;  // of lowering the whole layout
  bool whole_ran = false;
  bool core_ran = false;
  bool whole_helped = false;
  bool core_helped = false;
};

struct LayoutContext : SolveContext<LayoutInstance> {
  bool& time_ended_it;
  std::optional<Refutation>& refuted;  // set by a stage that proves that there is no layout
  const LayoutParams params;
  // Solves the part of a step that a baseline plans by itself.
  Outcome (*solve_part)(const LayoutInstance&, const SolveOptions&, Budget&, const Progress&);

  std::optional<LayoutTable> table = {};            // none if there was no time for it
  std::optional<std::vector<Bytes>> too_high = {};  // the lowest layout above the capacity
  std::optional<BusiestFirst> core = {};
  LoweringRounds lowering = {};

  bool searches() const { return options.method == "auto" || options.method == "exact"; }
  bool good_enough() const { return incumbent.within(options.gap); }
  bool done() const { return good_enough() || budget.exhausted(); }
  bool end_round();

  bool searchable() const { return table && table->stackable(); }
  // The search takes part in the rounds: few buffers are mostly solved by their first search.
  bool few() const { return table->buffers() < params.rounds.searched; }
  bool fits(Bytes peak) const { return !instance.capacity || peak <= *instance.capacity; }
  // A layout of this peak would be a better plan, and so worth the time of the verifier.
  bool better(Bytes peak) const { return !incumbent.plan() || peak < incumbent.plan()->peak_bytes; }

  double seconds_to_verify() const {
    return layout_fixed::kSecondsToVerify * static_cast<double>(instance.buffers.size());
  }
  // Returns whether there are very many buffers, and less time left than `seconds` for each.
  bool too_many_for(double seconds) const {
    const auto buffers = static_cast<double>(instance.buffers.size());
    return buffers > params.heuristics.fast.many && budget.seconds_left() < buffers * seconds;
  }

  // The largest peak within the capacity that proves the plan or is within the gap asked for.
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

  // Some sections of the layout are busier than others, and core_first can lay them out first.
  bool has_core() {
    if (!core && BusiestFirst::fits(*table, params.heuristics.reinsertion)) {
      core.emplace(*table, options.seed, params);
    }
    return core && core->parts() > 1;
  }
};

}  // namespace stowage
