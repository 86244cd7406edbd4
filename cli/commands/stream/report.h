// The output of plan-stream: a line of JSON per step, and figures for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/commands/stream/remarks.h"
#include "cli/terminal/console.h"
#include "cli/terminal/error/exit_codes.h"
#include "instances/result.h"
#include "solvers/plan_stream.h"

namespace stowage {

// Returns {"format": "stowage/step", "version": 1, "step": 12, "status": "feasible", ..., "plan":
// {...}} on one line that ends in '
// '. No value depends on the clock. Error: E604 of the trainer's step.
Result<std::string> step_line(const PlannedStep& step, const StepRemarks& remarks);

class StreamReport {
 public:
  explicit StreamReport(Console& console) : console_(console) {}

  // Must be called for every step in order; prints a line of progress at most once per second.
  void add(const PlannedStep& step);

  // Prints the last line and warnings. `there` steps already had a plan.
  void finish(bool interrupted, std::int64_t clipped, std::int64_t there);

  std::int64_t next() const { return next_; }  // the step after the last planned step
  ExitCode exit_code() const;                  // exit code of the worst step

 private:
  std::string figures() const;

  using Clock = std::chrono::steady_clock;
  Console& console_;
  Clock::time_point begin_ = Clock::now();
  double told_s_ = 0;  // time of the last line of progress
  std::int64_t next_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t sequences_ = 0;
  std::int64_t unread_ = 0;  // number of steps whose lengths could not be read
  std::int64_t infeasible_ = 0;
  std::int64_t failed_ = 0;  // number of steps with neither a plan nor a proof of infeasibility
  double gaps_ = 0;          // sum of the gaps of the steps with a plan
  double slowest_s_ = 0;
};

}  // namespace stowage
