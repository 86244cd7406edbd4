// stowage run, for strategies: executes the step, scaled down, on the plan's number of ranks.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/terminal/console.h"
#include "instances/budget.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "kernels/run/ranks/process_pool.h"

namespace stowage {

struct StrategyRunFlags {
  std::optional<std::int64_t> scale;
  std::optional<double> work_gflop;
  std::optional<std::int64_t> max_ranks;
  std::optional<std::int64_t> repeats;
  std::uint64_t seed = 0;
  kernels::ProcessPool* pool = nullptr;  // null: ranks are threads of this process
};

// Executes a verified plan and writes the report and the answer. Returns the exit code.
ExitCode run_strategy(Console& console, const StrategyInstance& instance, const StrategyPlan& plan,
                      const StrategyRunFlags& run, Budget& budget);

}  // namespace stowage
