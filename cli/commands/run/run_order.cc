#include "cli/commands/run/run_order.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "cli/answers/execution/json.h"
#include "cli/answers/execution/memory_text.h"
#include "cli/commands/run/refused.h"
#include "cli/families/load.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/status_line.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/numeric/numbers.h"
#include "instances/verify.h"
#include "kernels/memory/recorded_order.h"
#include "solvers/memory/order_layout.h"
#include "solvers/solve.h"

namespace stowage {
namespace {

using kernels::MemoryExercise;
using kernels::OrderExecution;

constexpr double kMaxLayoutSeconds = 10;

// Returns a layout of the tensors, or nullopt if none was found in time.
std::optional<LayoutPlan> lay_out(const LayoutInstance& buffers, Budget& budget) {
  Budget part = budget.part(std::min(kMaxLayoutSeconds, budget.seconds_left() / 2),
                            std::numeric_limits<std::int64_t>::max());
  Outcome outcome = solve(buffers, {.method = "auto"}, part);
  if (!outcome.plan) return std::nullopt;
  return std::get<LayoutPlan>(*std::move(outcome.plan));
}

void tell(Console& console, const OrderExecution& report) {
  console.info("step      " + counted(report.steps - report.again, "operator") +
               (report.again > 0 ? ", " + grouped(report.again) + " runs again" : "") +
               (report.transfers > 0 ? ", " + counted(report.transfers, "transfer") : "") + ", " +
               grouped(report.separate_bytes) + " bytes in separate tensors");
  if (!report.complete) return;
  tell_checks(console, {{"loss", report.losses},
                        {"output", report.output},
                        {"input gradient", report.input_gradient},
                        {"weight gradient", report.weight_gradient},
                        {"updated weight", report.weight},
                        {"activation", report.activation}});
}
void tell(Console& console, const MemoryExercise& report) { tell_exercise(console, report); }

// An order whose tensors have been laid out.
class Run {
 public:
  Run(Console& console, const OrderInstance& graph, const OrderPlan& plan, Bytes layout_bytes)
      : console_(console), graph_(graph), plan_(plan), layout_bytes_(layout_bytes) {}

  template <class Report>
  ExitCode answer(Report report) const {
    if (report.complete && report.high_water_bytes != layout_bytes_) {
      report.problems.add("the high-water mark is not the peak of the layout");
    }
    const ExitCode code = memory_exit_code(report);
    tell(console_, report);
    if (round_up(layout_bytes_, graph_.alignment) > plan_.peak_bytes) {
      console_.warn("the layout that was found needs " + grouped(layout_bytes_) +
                    " bytes, more than the order");
    }
    tell_end(console_, plan_.peak_bytes, report);
    return console_.answer(order_execution_json(graph_, plan_, layout_bytes_, report, code), code);
  }

 private:
  Console& console_;
  const OrderInstance& graph_;
  const OrderPlan& plan_;
  Bytes layout_bytes_;
};

}  // namespace

ExitCode run_order(Console& console, const OrderInstance& graph, const OrderPlan& plan,
                   const OrderRun& run, Budget& budget) {
  if (graph.recorded_from && run.scale) {
    return console.refuse({kUsage, "--scale", "has no effect on a step that was recorded"});
  }
  std::optional<kernels::TrainingProgram> program;
  if (graph.recorded_from) {
    Result<kernels::TrainingProgram> recorded = kernels::recorded_training(graph);
    if (!recorded) return console.refuse(errors_in(run.instance_path, recorded.errors()));
    program = *std::move(recorded);
  }
  const LayoutInstance buffers = order_layout(graph, plan);
  std::optional<LayoutPlan> layout;
  if (run.layout_path.empty()) {
    StatusLine(console).tell("laying    out " + counted(std::ssize(buffers.buffers), "buffer"));
    layout = lay_out(buffers, budget);
  } else {
    Loaded<Plan> given = load_plan(run.layout_path, buffers);
    if (!given.value) return console.refuse(given.errors);
    const std::vector<Violation> violations = verify(buffers, *given.value);
    if (!violations.empty()) {
      return refuse_run(console, graph, "layout", violations);
    }
    layout = std::get<LayoutPlan>(*std::move(given.value));
  }
  const Run done(console, graph, plan, layout ? layout->peak_bytes : 0);
  if (!layout) {
    OrderExecution none;
    none.stopped_by = budget.stop_reason();
    if (none.stopped_by == StopReason::none) {
      none.problems.add("no layout of the tensors within the capacity was found");
    }
    return done.answer(none);
  }
  if (!program) {
    return done.answer(kernels::exercise_memory(
        buffers, *layout, {.scale = run.scale.value_or(0), .seed = run.seed}, &budget));
  }
  return done.answer(
      kernels::execute_order(graph, *program, plan, layout->offsets, run.seed, &budget));
}

}  // namespace stowage
