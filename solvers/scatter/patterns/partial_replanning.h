// Replans parts of the best plan of one scatter solve by column generation: chooses micro-batches,
// time and precision. Not installed.
//
//   ScatterPartialReplanning replan(run);
//   replan.alone(false);
//   while (!run.done()) replan.some(round++);
//
// The pattern LP and its dives are in pattern_dive.h and makespan_profile_search.h. Improved steps
// are submitted to the incumbent, which must have a plan. A MILP backend must be built.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/scatter/working_plan.h"
#include "solvers/scatter/patterns/makespan_profile_search.h"
#include "solvers/scatter/solve_context.h"

namespace stowage {

class ScatterPartialReplanning {
 public:
  // `run` must outlive this.
  explicit ScatterPartialReplanning(ScatterSolveContext& run);

  // Replans each micro-batch on its own, then all together if there are at most kMaxTogether.
  // `quickly`: with low precision, once.
  void alone(bool quickly);

  // Tries other numbers of micro-batches and other makespans for the whole step, since the first
  // ones of the multi-start are not always the best.
  void reshape();

  // Replans all micro-batches for these makespans. Does nothing if `makespans` is empty.
  void towards(const std::vector<Ms>& makespans);

  // Replans a few micro-batches of similar makespans, a few times. `round` seeds the choice.
  void some(std::uint64_t round);

 private:
  WorkingStep step() const { return to_draft(run_.instance, table(), *run_.incumbent.plan()); }
  void offer(const WorkingStep& step, const char* by);

  // The table that patterns are made of. If groups pad by their form, similar lengths are merged.
  const ScatterTable& table() const { return merged_ ? *merged_ : run_.table; }

  ScatterSolveContext& run_;
  std::optional<ScatterTable> merged_;
  std::optional<ScatterProfileSearch> reshape_;
  std::uint64_t shapes_ = 0;  // number of shapes drawn so far
  // successive calls of reshape() that gained nothing; each halves the time of the next
  int vain_ = 0;
};

// Largest number of micro-batches that are replanned as a whole step.
inline constexpr std::size_t kMaxTogether = 3;

}  // namespace stowage
