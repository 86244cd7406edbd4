// stowage run, for strategies: the step on as many ranks as the plan has, scaled down.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/terminal/console.h"
#include "instances/budget.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"
#include "kernels/run/process_pool.h"

namespace stowage {

struct StrategyRunFlags {
  std::optional<std::int64_t> scale;
  std::optional<double> work_gflop;
  std::optional<std::int64_t> max_ranks;
  std::optional<std::int64_t> repeats;
  std::uint64_t seed = 0;
  kernels::ProcessPool* pool = nullptr;  // null for threads of this process
};

// Executes a verified plan, tells how it went and answers. Returns the exit code.
ExitCode run_strategy(Console& console, const StrategyInstance& instance, const StrategyPlan& plan,
                      const StrategyRunFlags& run, Budget& budget);

}  // namespace stowage
