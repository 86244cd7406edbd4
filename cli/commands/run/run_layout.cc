#include "cli/commands/run/run_layout.h"

#include "cli/answers/execution/json.h"
#include "cli/answers/execution/memory_text.h"
#include "cli/terminal/error/error_codes.h"
#include "instances/numeric/numbers.h"
#include "kernels/memory/recorded_layout.h"

namespace stowage {
namespace {

using kernels::BlockExecution;
using kernels::MemoryExercise;

void tell(Console& console, const LayoutPlan& plan, const BlockExecution& report) {
  console.info("block     " + counted(report.steps, "step") + ", " +
               grouped(report.separate_bytes) + " bytes in separate buffers");
  if (report.complete) {
    tell_checks(console, {{"output", report.output},
                          {"input gradient", report.input_gradient},
                          {"weight gradient", report.weight_gradient}});
  }
  tell_end(console, plan.peak_bytes, report);
}

void tell(Console& console, const LayoutPlan& plan, const MemoryExercise& report) {
  tell_exercise(console, report);
  tell_end(console, plan.peak_bytes, report);
}

}  // namespace

ExitCode run_layout(Console& console, const LayoutInstance& instance, const LayoutPlan& plan,
                    const LayoutRun& run, Budget& budget) {
  const auto answer = [&](const auto& report) {
    const ExitCode code = memory_exit_code(report);
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
