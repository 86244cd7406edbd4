#include "cli/commands/configure/report.h"

#include "cli/answers/outcome_json.h"
#include "cli/answers/ranking.h"
#include "cli/commands/configure/files.h"
#include "cli/families/families.h"
#include "cli/terminal/new_directory.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/fit/stacks.h"

namespace stowage {

ExitCode report_configured(Console& console, const ConfiguredReport& report) {
  const StrategyInstance& instance = report.instance;
  const ConfiguredRun& run = report.run;
  OutcomeFrame frame{.timeless = console.settings.timeless};
  const Instance of_strategy = instance;
  frame.instance = &of_strategy;
  const std::size_t with_plan = run.ranking.size() - run.without_plan;
  if (with_plan == 0) {
    if (run.strategy.status == Status::infeasible) {
      for (const std::string& reason : infeasibility_report(of_strategy, run.strategy)) {
        console.info(reason);
      }
    }
    for (const RankedConfiguration& each : run.ranking) {
      console.info(configuration_name(each.plan) + ": " + each.why_not);
    }
    if (!run.ranking.empty()) {
      console.info("remedy: more --candidates, more memory, or shorter sequences");
    }
    frame.exit_code =
        run.strategy.status == Status::infeasible ? ExitCode::refused : ExitCode::unknown;
    if (!run.strategy.plan) {
      return console.answer(outcome_json(run.strategy, frame), frame.exit_code);
    }
    return console.answer(ranking_json(instance, run, report.steps, frame.exit_code),
                          frame.exit_code);
  }
  const std::string ranking =
      ranking_json(instance, run, report.steps, ExitCode::ok, report.replanned);
  if (auto error = write_new_directory(report.output, configured_files(instance, run, ranking))) {
    return console.refuse(*error);
  }
  if (console.settings.level >= LogLevel::info) console.table(ranking_table(run));
  if (report.replanned != nullptr) {
    for (const std::string& line : replanned_lines(*report.replanned)) console.info(line);
  }
  const RankedConfiguration& first = run.ranking.front();
  if (first.activation_factor > 1) {
    console.info("memory    solved again with " + percent_text(first.activation_factor - 1) +
                 " more for each token: the layout of the heaviest rank did not fit");
  }
  if (run.heaviest) {
    console.info("layout    the heaviest rank needs " + ms_text(run.heaviest->needed_mib()) +
                 " of " + ms_text(run.heaviest->memory_mib) + " MiB");
  } else {
    console.warn(
        "the layout of the heaviest rank is not planned: widths of the model do not divide among "
        "the tp ranks");
  }
  console.info("rates     " + rate_text(rate_report(instance)));
  console.verdict("configured", "  " + configuration_name(first.plan) + "   " +
                                    ms_text(first.mean.step_ms) + " ms a step, mean of " +
                                    counted(std::ssize(first.steps), "step") + "  stopped_by " +
                                    std::string(to_string(run.ended_by())) + "  verified  -> " +
                                    report.output);
  return console.answer(ranking, ExitCode::ok);
}

}  // namespace stowage
