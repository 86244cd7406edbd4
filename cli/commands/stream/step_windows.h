// The steps of plan-stream --window: windows of consecutive steps, which are read, planned together
// and checked. Windows are aligned to the numbers of steps, so that each window has the same plans
// in every share of the stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heuristics/scatter/window/window_deal.h"
#include "instances/budget.h"
#include "instances/scatter/drawn.h"
#include "instances/scatter/window_rule.h"
#include "solvers/plan_stream.h"
#include "solvers/solve.h"

namespace stowage {

// Consecutive steps as they were read; those that could not be read have an outcome. Or, with a
// deal, some steps of a window as they were dealt before.
struct StepWindow {
  std::int64_t first = 0;  // number of the window's first step
  std::vector<StreamStep> steps;
  bool together = false;                // the steps are all of the window, and are to be dealt
  std::optional<WindowDeal> deal = {};  // of all steps of the window
};

struct PlannedWindow {
  std::vector<PlannedStep> steps;
  std::vector<std::vector<DrawnSequence>> drawn;  // by step, with numbers of the stream's steps
  bool dealt = false;   // the sequences were dealt now, and the window has all its steps
  double drawn_ms = 0;  // as in WindowPlan
  double planned_ms = 0;
};

// Returns the steps of a window that could all be read, without their numbers; nullopt otherwise.
std::optional<std::vector<ScatterInstance>> readable_steps(const StepWindow& window);

// Plans the window, or each step alone if it is not to be dealt.
PlannedWindow plan_steps(StepWindow window, const WindowRule& rule, const SolveOptions& options,
                         const Budget::Limits& limits);

// The figures of all windows, for people.
class WindowFigures {
 public:
  void add(const PlannedWindow& window);
  bool empty() const { return sequences_ == 0; }

  // Returns, for instance, "12 of 2,048 sequences moved, at most 3 steps later; tokens of a step
  // 101,000 to 140,000, as drawn 96,000 to 131,000; 3.4 % less time than as drawn".
  std::string text() const;

 private:
  struct Range {
    std::int64_t least = -1;
    std::int64_t most = 0;
    void add(std::int64_t value);
    std::string text() const;
  };

  std::int64_t sequences_ = 0;
  std::int64_t moved_ = 0;
  std::int64_t latest_ = 0;  // steps
  Range tokens_;             // of a step, as planned and as drawn
  Range drawn_tokens_;
  double drawn_ms_ = 0;
  double planned_ms_ = 0;
};

}  // namespace stowage
