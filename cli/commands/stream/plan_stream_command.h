// stowage plan-stream: plans the steps of a training run one after another.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/stream/plan_directory.h"
#include "cli/commands/stream/remarks.h"
#include "cli/commands/stream/report.h"
#include "cli/commands/stream/shard.h"
#include "cli/commands/stream/step_windows.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/preset_flags.h"
#include "instances/result.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/step_stream.h"
#include "solvers/plan_stream.h"

namespace stowage {

class PlanStreamCommand : public Command {
 public:
  CommandText text() const override;
  void declare(Flags& flags) override;
  ExitCode run(Console& console) override;

 private:
  std::optional<InputError> window_error() const;
  int open_steps() const;
  Loaded<ScatterInstance> load_cluster(Console& console) const;
  Result<Shard> shard() const;
  ExitCode plan(Console& console, std::istream& stream, ScatterInstance cluster);
  std::optional<StreamStep> next(StepStream& steps);
  void plan_windows(Console& console, StepStream& steps, StreamReport& report,
                    const Budget::Limits& limits, int threads);
  std::optional<StepWindow> next_window(StepStream& steps);
  bool take_window(Console& console, StreamReport& report, PlannedWindow&& window);
  bool beyond(std::int64_t index) const { return steps_ && index - from_.value_or(0) >= *steps_; }
  bool passed_over(std::int64_t index) const {
    return index < from_.value_or(0) || !shard_.takes(index);
  }

  bool take(Console& console, StreamReport& report, PlannedStep&& step);
  bool print(Console& console, const PlannedStep& step, const StepRemarks& remarks);
  std::string share_text() const;

  std::string path_;
  std::string directory_;
  std::string template_;
  std::string above_ = "keep";
  std::string method_ = "fast";
  std::string shard_text_;
  std::string trainer_;
  bool drop_last_ = false;
  bool instances_ = false;
  bool fail_fast_ = false;
  std::optional<std::int64_t> batch_size_;
  std::optional<std::int64_t> threads_;
  std::optional<std::int64_t> from_;
  std::optional<std::int64_t> steps_;
  std::optional<std::int64_t> window_;  // steps
  std::optional<std::int64_t> delay_;   // steps
  PresetFlags preset_;
  SolveFlags solve_;
  OutputFlags output_flags_;
  SolveOptions options_;
  Shard shard_;
  std::optional<PlanDirectory> plans_;
  StreamRemarks remarks_;
  WindowFigures windows_;
  std::vector<CliError> unread_;         // errors of the step whose reading ended the stream
  std::optional<InputError> unwritten_;  // error of the plan whose writing ended the stream
  std::int64_t there_ = 0;               // number of steps that already had a plan
  FilesAlike invalid_;                   // stored files without a valid plan, or with a false bound
  FilesAlike claimed_;                   // plans with an unproven bound of a backend
  FilesAlike mended_;                    // trainer's files that were inconsistent with their plans
  bool answered_ = true;                 // true while all writes to stdout succeeded
};

}  // namespace stowage
