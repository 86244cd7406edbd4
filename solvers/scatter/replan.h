// Parts of the best plan of one scatter solve planned anew with patterns: which micro-batches, for
// how long, and how exactly. Not installed.
//
//   ScatterReplan replan(run);
//   replan.alone(false);
//   while (!run.done()) replan.some(round++);
//
// The pattern LP and its dives are repack.h and reshape.h; what they find is
// offered to the incumbent, which must have a plan. A MILP backend must be built.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/scatter/draft.h"
#include "solvers/scatter/reshape.h"
#include "solvers/scatter/run.h"

namespace stowage {

class ScatterReplan {
 public:
  // `run` must outlive this.
  explicit ScatterReplan(ScatterRun& run) : run_(run) {}

  // Each micro-batch, alone; then, if they are few, all together. `quickly`: less exactly, once.
  void alone(bool quickly);

  // All micro-batches in other shapes: what joint planning settles on first is not always the best
  // number of them, nor are the lengths of each.
  void reshape();

  // All micro-batches for these makespans, if there are any.
  void towards(const std::vector<Ms>& makespans);

  // A few micro-batches of like makespans, a few times; the round draws which.
  void some(std::uint64_t round);

 private:
  StepDraft step() const { return to_draft(run_.instance, run_.table, *run_.incumbent.plan()); }
  void offer(const StepDraft& step, const char* by);

  ScatterRun& run_;
  std::optional<ScatterReshape> reshape_;
  std::uint64_t shapes_ = 0;  // that were drawn
};

// Steps of at most so many micro-batches are planned anew as a whole.
inline constexpr std::size_t kMostTogether = 3;

}  // namespace stowage
