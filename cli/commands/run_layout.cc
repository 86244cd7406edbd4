#include "cli/commands/run_layout.h"

#include "cli/answers/execution_json.h"
#include "cli/terminal/error_codes.h"
#include "cli/terminal/table.h"
#include "instances/numbers.h"
#include "kernels/memory/recorded_layout.h"

namespace stowage {
namespace {

using kernels::BitwiseCheck;
using kernels::BlockExecution;
using kernels::MemoryExercise;

// A run that the budget ended has shown nothing wrong, but neither that all is right.
template <class Report>
ExitCode exit_code(const Report& report) {
  if (report.passed()) return ExitCode::ok;
  const bool stopped = report.stopped_by != StopReason::none && report.problems.list().empty();
  return stopped ? ExitCode::unknown : ExitCode::refused;
}

template <class Report>
void tell_end(Console& console, const LayoutPlan& plan, const Report& report) {
  for (const std::string& problem : report.problems.list()) console.finding("problem   " + problem);
  if (report.problems.omitted() > 0) {
    console.warn("and " + grouped(report.problems.omitted()) + " more problems");
  }
  const ExitCode code = exit_code(report);
  console.info(console.bold(code == ExitCode::ok        ? "pass"
                            : code == ExitCode::unknown ? "stopped"
                                                        : "fail") +
               "  planned peak " + grouped(plan.peak_bytes) + " bytes  high water " +
               grouped(report.high_water_bytes) + " bytes");
}

void tell(Console& console, const LayoutPlan& plan, const BlockExecution& report) {
  console.info("block     " + counted(report.steps, "step") + ", " +
               grouped(report.separate_bytes) + " bytes in separate buffers");
  if (report.complete && console.settings.level >= LogLevel::info) {
    Table table({{"tensors", Align::left},
                 {"compared", Align::right},
                 {"differing", Align::right},
                 {"", Align::left}});
    const auto add = [&table](const std::string& name, const BitwiseCheck& check) {
      table.add({name, grouped(check.compared), grouped(check.differing),
                 check.passed() ? "pass" : "FAIL"});
    };
    add("output", report.output);
    add("input gradient", report.input_gradient);
    add("weight gradient", report.weight_gradient);
    console.block(table.text());
  }
  tell_end(console, plan, report);
}

void tell(Console& console, const LayoutPlan& plan, const MemoryExercise& report) {
  console.info("exercise  " + counted(report.fillings, "buffer") +
               " filled and read back, sizes divided by " + grouped(report.scale) + ", " +
               grouped(report.arena_bytes) + " bytes of arena");
  tell_end(console, plan, report);
}

}  // namespace

ExitCode run_layout(Console& console, const LayoutInstance& instance, const LayoutPlan& plan,
                    const LayoutRun& run, Budget& budget) {
  const auto answer = [&](const auto& report) {
    const ExitCode code = exit_code(report);
    tell(console, plan, report);
    return console.answer(layout_execution_json(instance, plan, report, code), code);
  };
  if (!instance.recorded_from) {
    return answer(kernels::exercise_memory(
        instance, plan, {.scale = run.scale.value_or(0), .seed = run.seed}, &budget));
  }
  if (run.scale) {
    return console.refuse({kUsage, "--scale", "has no effect on a block that was recorded"});
  }
  const Result<kernels::BlockProgram> program = kernels::recorded_program(instance);
  if (!program) return console.refuse(errors_in(run.instance_path, program.errors()));
  BlockExecution report = kernels::execute_block(instance, *program, plan, run.seed, &budget);
  if (report.complete && report.high_water_bytes != plan.peak_bytes) {
    report.problems.add("the high-water mark is not the planned peak");
  }
  return answer(report);
}

}  // namespace stowage
