// Chooses a configuration and a plan for each step from a model, a cluster and the lengths of
// steps. Ranks configurations by the mean step and plans the best ones on the true lengths. Keeps
// the fastest, and lays out the buffers of its heaviest rank to check that they fit.
//
//   const StrategyInstance instance = ...;               // its lengths are mean_step(steps)
//   ConfiguredRun run = configure(instance, steps, {}, budget);
//   if (!run.ranking.empty()) use(run.ranking.front().plan, run.ranking.front().steps);
//
// Every plan is made by solve(), and so verified. The result depends only on the arguments, unless
// the budget ends the search.
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
  std::size_t candidates = 10;       // configurations planned on true lengths
  std::string step_method = "fast";  // method of scatter solves
  int threads = 1;                   // threads that plan steps; the result does not depend on them
  // If not empty, only these are planned, and `candidates` is ignored. Each must fit the instance.
  std::vector<StrategyPlan> plans;
};

struct HeaviestRank {
  Tokens tokens = 0;      // tokens of a rank in the group with the most
  std::int64_t step = 0;  // step of that group
  std::int64_t stage = 0;
  LayoutInstance instance;
  Outcome outcome;          // has a plan
  Bytes waiting_bytes = 0;  // kept by other micro-batches in flight
  Mib states_mib = 0;
  Mib memory_mib = 0;      // memory of a device
  Mib planned_mib = 0;     // states, and the token model's memory of these tokens
  Mib needed_mib() const;  // states, peak of the layout, and waiting bytes
  bool fits() const { return needed_mib() <= memory_mib; }
};

struct ConfiguredRun {
  Outcome strategy;  // of the mean step; its bound holds for every configuration
  // First the configurations with a plan for every step tried, fastest first. All steps of the
  // first one are planned. Then the configurations without a plan.
  std::vector<RankedConfiguration> ranking;
  // Number of configurations without a plan, at the end of the ranking.
  std::size_t without_plan = 0;
  std::optional<HeaviestRank> heaviest;  // of the first configuration; nullopt if its layers differ
  std::int64_t solved_again = 0;         // number of raises of a configuration's factor
  // The reason why the choice of a configuration ended early, or `none`.
  StopReason stopped_by = StopReason::none;

  // Returns the limit that ended the choice or the search, or heuristic_end.
  StoppedBy ended_by() const;
};

// Returns a mean step: of the sequences of all steps, sorted by length, every k-th from the longest
// on, where k is the number of steps. Requires a step.
std::vector<Tokens> mean_step(const std::vector<std::vector<Tokens>>& steps);

// Requires valid instances, FlashAttention, at least one step, and no empty step. Gives up half of
// the configurations after one step, half of the others after four, and so on, until two have all
// steps. A step of middling weight and the heaviest step come first. If the budget is exhausted,
// the search ends, and the first configuration so far is planned for all steps.
ConfiguredRun configure(const StrategyInstance& instance,
                        const std::vector<std::vector<Tokens>>& steps,
                        const ConfigureOptions& options, Budget& budget,
                        const ConfigureProgress& progress = {});

}  // namespace stowage
