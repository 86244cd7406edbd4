// compare --ablate: the worth of each stage of a solve, on one instance or on several.
//
//   AblationSummary summary;
//   for (const Instance& instance : instances) summary.add(ablate(console, instance, {}, limits));
//   console.table(summary.table(timeless));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal/console.h"
#include "cli/terminal/table.h"
#include "instances/budget.h"
#include "instances/families.h"
#include "instances/json/writer.h"
#include "instances/result.h"
#include "solvers/solve.h"

namespace stowage {

// A solve without one stage, or with all stages if `without` is empty.
struct AblationRun {
  std::string without;
  Outcome outcome;
};

// Returns the run of `auto`, then a run without each stage that ran in it. An interrupt ends the
// list early.
std::vector<AblationRun> ablate(Console& console, const Instance& instance, SolveOptions options,
                                const Budget::Limits& limits);

// The effect of leaving out one stage, over all instances on which the stage ran.
struct StageWorth {
  std::string stage;
  std::int64_t ran = 0;           // instances
  std::int64_t plans_worse = 0;   // instances whose plan is slower or larger without the stage
  std::int64_t plans_better = 0;  // and faster or smaller
  std::int64_t plans_lost = 0;    // instances without a plan if the stage is left out
  double plan_change = 0;         // sum of relative changes of the objective
  std::int64_t plans = 0;         // instances that this sum counts
  std::int64_t bounds_lower = 0;
  std::int64_t bounds_higher = 0;
  double bound_change = 0;  // sum of relative changes of the bound
  std::int64_t bounds = 0;  // instances that this sum counts
  std::int64_t proofs_lost = 0;
  std::int64_t proofs_won = 0;
  double seconds = 0;          // of `auto` on these instances
  double seconds_without = 0;  // and without the stage
};

class AblationSummary {
 public:
  // Requires the list of ablate().
  void add(const std::vector<AblationRun>& runs);

  // A row for each stage, in the order in which the stages first ran.
  Table table(bool timeless) const;
  void write(JsonWriter& json, bool timeless) const;

 private:
  StageWorth& worth_of(const std::string& stage);

  std::vector<StageWorth> stages_;
};

}  // namespace stowage
