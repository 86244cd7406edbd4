// The windows of plan-stream: steps that are planned together.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "cli/commands/stream/plan_stream_command.h"
#include "cli/commands/stream/remarks.h"
#include "cli/commands/stream/report.h"
#include "cli/commands/stream/shard.h"
#include "cli/commands/stream/step_windows.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/step_stream.h"
#include "solvers/plan_stream.h"
#include "solvers/work_in_order.h"

namespace stowage {

// Returns the error of flags that do not go together with --window.
std::optional<InputError> PlanStreamCommand::window_error() const {
  if (delay_ && !window_) return InputError{kUsage, "--delay", "has no effect without --window"};
  if (delay_ && *delay_ >= *window_) {
    return InputError{kUsage, "--delay",
                      "must be below --window, " + grouped(*window_) + ", is " + grouped(*delay_)};
  }
  if (window_ && !directory_.empty()) {
    return InputError{kUsage, "--window",
                      "prints its steps, with the places that their sequences were drawn from: "
                      "leave out -o"};
  }
  return std::nullopt;
}

void PlanStreamCommand::plan_windows(Console& console, StepStream& steps, StreamReport& report,
                                     const Budget::Limits& limits, int threads) {
  const WindowRule rule{.steps = *window_, .delay = delay_.value_or(*window_ - 1)};
  work_in_order<StepWindow, PlannedWindow>(
      [&] { return next_window(steps); },
      [&](StepWindow&& window) { return plan_steps(std::move(window), rule, options_, limits); },
      threads,
      [&](PlannedWindow&& window) { return take_window(console, report, std::move(window)); });
}

// Returns the next window of this share, with all its steps, or nullopt at the end. It may begin
// before --from and end behind --steps. The steps before an error that ends the stream are a
// window of their own.
std::optional<StepWindow> PlanStreamCommand::next_window(StepStream& steps) {
  const std::int64_t from = from_.value_or(0) / *window_ * *window_;
  while (!beyond(steps.index()) &&
         (steps.index() < from || !shard_.takes(steps.index() / *window_))) {
    if (!steps.skip()) break;
  }
  if (beyond(steps.index())) return std::nullopt;
  StepWindow window;
  for (std::int64_t k = 0; k < *window_ && unread_.empty(); ++k) {
    const std::int64_t index = steps.index();
    Result<std::optional<ScatterInstance>> step = steps.next();
    const std::string place = batch_size_ ? "" : steps.place();
    if (!step && (fail_fast_ || steps.index() == index)) {
      unread_ = errors_in(place, step.errors());
    } else if (!step) {
      remarks_.put(index, {.extras = steps.take_extras(), .errors = step.errors()});
      window.steps.push_back(unreadable_step(index, place, step.errors()));
    } else if (!*step) {
      break;
    } else {
      window.steps.push_back({.index = index, .instance = **std::move(step), .outcome = {}});
      remarks_.put(index, {.extras = steps.take_extras(),
                           .with_instance = instances_,
                           .with_trainer = !trainer_.empty()});
    }
  }
  if (window.steps.empty()) return std::nullopt;
  return window;
}

// Called on another thread than next_window().
bool PlanStreamCommand::take_window(Console& console, StreamReport& report,
                                    PlannedWindow&& window) {
  for (const PlannedStep& step : window.steps) {
    if (step.outcome.stopped_by == StoppedBy::interrupted) return false;
  }
  windows_.add(window);
  for (std::size_t s = 0; s < window.steps.size(); ++s) {
    const std::int64_t index = window.steps[s].index;
    StepRemarks remarks = remarks_.take(index);
    if (index < from_.value_or(0) || beyond(index)) continue;
    remarks.drawn = std::move(window.drawn[s]);
    if (!print(console, window.steps[s], remarks)) return false;
    report.add(window.steps[s]);
  }
  return true;
}

}  // namespace stowage
