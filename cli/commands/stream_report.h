// What plan-stream says of the steps it has planned: a line of JSON each, and figures for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/commands/stream_remarks.h"
#include "cli/terminal/console.h"
#include "cli/terminal/exit_codes.h"
#include "instances/result.h"
#include "solvers/plan_stream.h"

namespace stowage {

// {"format": "stowage/step", "version": 1, "step": 12, "status": "feasible", ..., "plan": {...}} on
// one line that ends in '\n'. No figure depends on the clock. Error: E604 of the trainer's step.
Result<std::string> step_line(const PlannedStep& step, const StepRemarks& remarks);

class StreamReport {
 public:
  explicit StreamReport(Console& console) : console_(console) {}

  // Told of every step in order; a line of progress at most once a second.
  void add(const PlannedStep& step);

  // The closing line, and warnings. `there` steps had their plan already.
  void finish(bool interrupted, std::int64_t clipped, std::int64_t there);

  std::int64_t next() const { return next_; }  // the step behind the last one planned
  ExitCode exit_code() const;                  // of the worst step

 private:
  std::string figures() const;

  using Clock = std::chrono::steady_clock;
  Console& console_;
  Clock::time_point begin_ = Clock::now();
  double told_s_ = 0;  // when the last line of progress was written
  std::int64_t next_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t sequences_ = 0;
  std::int64_t unread_ = 0;  // whose lengths could not be read
  std::int64_t infeasible_ = 0;
  std::int64_t failed_ = 0;  // neither a plan nor a proof that there is none
  double gaps_ = 0;          // sum over the steps with a plan
  double slowest_s_ = 0;
};

}  // namespace stowage
