// The text of `stowage run` about an execution in an arena.
//
//   tell_checks(console, {{"output", report.output}});
//   tell_end(console, plan.peak_bytes, report);
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include "cli/terminal/console.h"
#include "instances/budget.h"
#include "instances/units.h"
#include "kernels/memory/bitwise_check.h"
#include "kernels/memory/memory_exercise.h"
#include "kernels/problems.h"

namespace stowage {

// The exit code of a run. If the budget ended the run, it shows neither an error nor that all
// results are correct.
template <class Report>
ExitCode memory_exit_code(const Report& report) {
  if (report.passed()) return ExitCode::ok;
  const bool stopped = report.stopped_by != StopReason::none && report.problems.list().empty();
  return stopped ? ExitCode::unknown : ExitCode::refused;
}

// Writes a table of the comparisons.
void tell_checks(Console& console,
                 std::initializer_list<std::pair<std::string_view, kernels::BitwiseCheck>> checks);

void tell_exercise(Console& console, const kernels::MemoryExercise& report);

// Writes the problems and the last line.
void tell_end(Console& console, Bytes planned, Bytes high_water, const kernels::Problems& problems,
              ExitCode code);
template <class Report>
void tell_end(Console& console, Bytes planned, const Report& report) {
  tell_end(console, planned, report.high_water_bytes, report.problems, memory_exit_code(report));
}

}  // namespace stowage
