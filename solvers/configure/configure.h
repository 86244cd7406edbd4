// The way from a model, a cluster and the lengths of steps to a configuration and a plan for each
// step: configurations by their mean step, the best of them planned on the true lengths, the
// fastest kept, and its heaviest rank's buffers laid out to see that they fit.
//
//   const StrategyInstance instance = ...;               // its lengths are mean_step(steps)
//   ConfiguredRun run = configure(instance, steps, {}, budget);
//   if (!run.ranking.empty()) use(run.ranking.front().plan, run.ranking.front().steps);
//
// Every plan is one that solve() returns, and so verified. The answer depends on the arguments
// alone, unless the budget ends it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/instance.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "solvers/configure/configuration.h"
#include "solvers/outcome.h"

namespace stowage {

struct ConfigureOptions {
  std::size_t candidates = 10;       // configurations that are planned on true lengths
  std::string step_method = "fast";  // of scatter
  int threads = 1;                   // that plan steps; the answer does not depend on it
  // Not empty: only these are planned, whatever `candidates` says. Each fits the instance.
  std::vector<StrategyPlan> plans;
};

struct HeaviestRank {
  Tokens tokens = 0;      // of a rank of the group with the most
  std::int64_t step = 0;  // where
  std::int64_t stage = 0;
  LayoutInstance instance;
  Outcome outcome;          // has a plan
  Bytes waiting_bytes = 0;  // of other micro-batches in flight
  Mib states_mib = 0;
  Mib memory_mib = 0;      // of a device
  Mib planned_mib = 0;     // states, and what the token model counts for these tokens
  Mib needed_mib() const;  // states, the layout's peak and what waits
  bool fits() const { return needed_mib() <= memory_mib; }
};

struct ConfiguredRun {
  Outcome strategy;  // of the mean step: its bound holds for every configuration
  // Those with a plan for every step that was tried, the fastest first; all steps of the first are
  // planned. Then those without.
  std::vector<RankedConfiguration> ranking;
  std::size_t without_plan = 0;          // the last so many of the ranking
  std::optional<HeaviestRank> heaviest;  // of the first; nothing where its layers differ
  std::int64_t solved_again = 0;         // times that a configuration got a raised factor
  // What ended the choice among the configurations before its end; `none` if nothing did.
  StopReason stopped_by = StopReason::none;

  // The limit that ended the choice or else the search; heuristic_end if none did.
  StoppedBy ended_by() const;
};

// One step's worth of the lengths of all steps: of all sequences in order of their lengths each
// so-manieth, from the longest on. Requires a step.
std::vector<Tokens> mean_step(const std::vector<std::vector<Tokens>>& steps);

// Requires valid instances, FlashAttention and a step at least, none of them empty. Half of the
// configurations are given up after one step, half of the rest after four, and so on, until two
// have all. A step of middling weight and the heaviest come first. A budget that is exhausted ends
// the search; the first so far is then planned for all steps.
ConfiguredRun configure(const StrategyInstance& instance,
                        const std::vector<std::vector<Tokens>>& steps,
                        const ConfigureOptions& options, Budget& budget,
                        const ConfigureProgress& progress = {});

}  // namespace stowage
