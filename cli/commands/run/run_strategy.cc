#include "cli/commands/run/run_strategy.h"

#include "cli/answers/execution/json.h"
#include "cli/answers/execution/memory_text.h"
#include "cli/answers/execution/text.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/status_line.h"
#include "instances/numeric/numbers.h"
#include "kernels/strategy/strategy_processes.h"
#include "kernels/strategy/strategy_report.h"
#include "kernels/strategy/strategy_step.h"

namespace stowage {
namespace {

constexpr std::int64_t kRanksUnlessTold = 64;

// Returns an error if the plan needs more ranks than allowed, or nullopt.
std::optional<InputError> too_many_ranks(std::int64_t ranks, const StrategyRunFlags& run) {
  const std::int64_t most = run.max_ranks.value_or(kRanksUnlessTold);
  if (ranks > most) {
    return InputError{kUsage, "--max-ranks",
                      "the plan has " + counted(ranks, "rank") + " and runs on no fewer; " +
                          grouped(most) + " are allowed"};
  }
  if (run.pool != nullptr && ranks > *run.pool->ranks()) {
    return InputError{kUsage, "mpirun",
                      "the plan has " + counted(ranks, "rank") + " and runs on no fewer; there " +
                          "are " + grouped(*run.pool->ranks()) + " processes"};
  }
  return std::nullopt;
}

}  // namespace

ExitCode run_strategy(Console& console, const StrategyInstance& instance, const StrategyPlan& plan,
                      const StrategyRunFlags& run, Budget& budget) {
  const std::int64_t ranks = plan.pp * plan.tp * plan.cp * plan.dp;
  if (const auto error = too_many_ranks(ranks, run)) return console.refuse(*error);
  kernels::StrategyScale wanted{.scale = run.scale.value_or(0), .seed = run.seed};
  if (run.work_gflop) wanted.max_work_flop = *run.work_gflop * 1e9;
  const kernels::ScaledStrategy scaled = kernels::scale_strategy(instance, plan, wanted);
  kernels::StrategyReport report;
  for (const std::string& problem : scaled.problems) report.problems.add(problem);
  if (scaled.problems.empty()) {
    StatusLine(console).tell("running   " + counted(ranks, "rank"));
    report = kernels::execute_strategy(
        scaled.task,
        [&run](const kernels::StrategyTask& task, const Budget* its) {
          return run.pool == nullptr ? kernels::run_on_threads(task, its)
                                     : kernels::run_on_processes(*run.pool, task, its);
        },
        {.repeats = static_cast<int>(run.repeats.value_or(1))}, &budget);
  }
  const ExitCode code = memory_exit_code(report);
  tell_strategy(console, plan, scaled, report, code);
  return console.answer(
      strategy_execution_json(instance, plan, scaled, report, console.settings.timeless, code),
      code);
}

}  // namespace stowage
