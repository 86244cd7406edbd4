// The steps of a stream that a process has to plan: those of its share and range that have no
// stored plan.
//
//   StepSource source(steps, {.from = 8, .shard = shard}, &plans);
//   while (auto step = source.next()) plan(*step, source.take_remarks(step->index));
//   if (!source.errors().empty()) complain(source.errors());
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/commands/stream/plan_directory.h"
#include "cli/commands/stream/remarks.h"
#include "cli/commands/stream/shard.h"
#include "cli/commands/stream/step_windows.h"
#include "cli/families/load.h"
#include "cli/terminal/console.h"
#include "instances/result.h"
#include "instances/scatter/step_stream.h"
#include "instances/scatter/window_rule.h"
#include "solvers/plan_stream.h"

namespace stowage {

struct SourceRange {
  std::int64_t from = 0;
  std::optional<std::int64_t> steps;  // default: to the end of the stream
  Shard shard = {};                   // of steps, or of windows
  std::int64_t window = 1;            // number of steps that are planned together
  WindowRule rule = {};               // of windows
  bool fail_fast = false;             // a step that cannot be read ends the stream
  bool lines = true;                  // errors of a step name its line
  bool with_instance = false;         // the line of a step contains its instance
  bool with_trainer = false;          // the line of a step contains its trainer file

  // Returns whether the step is neither before the range nor behind it.
  bool has(std::int64_t index) const { return index >= from && !beyond(index); }
  bool beyond(std::int64_t index) const { return steps && index - from >= *steps; }
};

// Thread safety: one thread calls next() or next_window(), and another one take_remarks().
class StepSource {
 public:
  // If `plans` is null, every step of the range is planned. `steps` and `plans` must outlive the
  // source.
  StepSource(StepStream& steps, const SourceRange& range, const PlanDirectory* plans)
      : steps_(steps), range_(range), plans_(plans) {}

  // Returns the next step without a stored plan, or nullopt at the end. A step that cannot be read
  // is returned with its error, or ends the stream. A stream that broke off ends too.
  std::optional<StreamStep> next();

  // Returns the next window that has steps without a stored plan, or nullopt at the end. A window
  // has all its steps, even if it begins before the range or ends behind it, unless it was dealt
  // before. Steps before an error that ends the stream are planned alone.
  std::optional<StepWindow> next_window();

  // Requires a step that was returned. To be called once for each.
  StepRemarks take_remarks(std::int64_t index) { return remarks_.take(index); }

  // The errors that ended the stream.
  const std::vector<CliError>& errors() const { return errors_; }

  std::int64_t there() const { return there_; }  // number of steps that already had a plan

  // Prints warnings about stored files.
  void warn(Console& console) const;

 private:
  std::optional<StepWindow> read_window();
  bool leave_out_stored(StepWindow& window);
  bool take_deal(StepWindow& window);
  bool is_there(std::int64_t index, const StoredStep& stored);
  StreamStep unreadable(std::int64_t index, const std::vector<InputError>& errors);
  void fail(const std::vector<InputError>& errors);
  void fail_with(const InputError& error);
  void remark(std::int64_t index);

  StepStream& steps_;
  SourceRange range_;
  const PlanDirectory* plans_;
  StreamRemarks remarks_;
  std::vector<CliError> errors_;
  std::int64_t there_ = 0;
  FilesAlike invalid_;  // stored files without a valid plan, or with a false bound
  FilesAlike claimed_;  // plans with an unproven bound of a backend
  FilesAlike mended_;   // trainer's files that were inconsistent with their plans
};

}  // namespace stowage
