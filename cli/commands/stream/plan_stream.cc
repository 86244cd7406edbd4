// The flags of plan-stream, the conditions that end a stream, and their messages.
#include "solvers/plan_stream.h"

#include <algorithm>
#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/commands/stream/plan_directory.h"
#include "cli/commands/stream/plan_stream_command.h"
#include "cli/commands/stream/remarks.h"
#include "cli/commands/stream/report.h"
#include "cli/commands/stream/shard.h"
#include "cli/commands/stream/step_windows.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/interrupt.h"
#include "instances/json/limits.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/step_stream.h"

namespace stowage {
namespace {

constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kMaxWindow = 64;  // steps

}  // namespace

CommandText PlanStreamCommand::text() const {
  return {.name = "plan-stream",
          .arguments = "STEPS",
          .summary = "Plan a stream of steps for a training loop; one line of JSON a step",
          .examples = {"stowage plan-stream lengths.txt --batch-size 16 --devices 16",
                       "stowage plan-stream lengths.txt --batch-size 16 --instance instance.json "
                       "--threads 2 --from 1 --above-limit clip",
                       "stowage plan-stream lengths.txt --batch-size 16 --devices 16 -o plans "
                       "--shard 0/2 --trainer bin"}};
}

void PlanStreamCommand::declare(Flags& flags) {
  flags.positional("STEPS", path_,
                   "A list of lengths, one a line, with --batch-size; otherwise JSON lines, a "
                   "step each: [608, 1040] or {\"lengths\": [608, 1040]}. - for stdin");
  flags.integer("--batch-size", batch_size_, "N", 1, kMaxSequences,
                "STEPS is a list of lengths, with N lines for each step");
  flags.toggle("--drop-last", drop_last_, "Leave out the last step if it has fewer lines");
  flags.text("-o,--output", directory_, "DIR",
             "Write each plan to DIR/NNNNNNNN.json; stdout has lines for steps without a plan "
             "alone. Steps whose plan is there already are skipped");
  flags.choice("--trainer", trainer_, {"json", "bin"},
               "Also what each rank does: DIR/NNNNNNNN.trainer.json or .bin; without -o json in "
               "the line");
  flags.toggle("--instances", instances_,
               "Also the step itself, to verify the plan: DIR/NNNNNNNN.instance.json, or in the "
               "line");
  flags.toggle("--fail-fast", fail_fast_,
               "End at a step that cannot be read; else it has a line with its error");
  flags.text("--instance", template_, "INSTANCE",
             "Cluster, model and cost, instead of a preset; its lengths are ignored");
  preset_.declare(flags);
  flags.choice("--above-limit", above_, {"keep", "clip"},
               "Sequences that fit no group: keep calls the step infeasible. Default keep");
  flags.text("--method", method_, "NAME", "One of " + method_list("scatter") + "; default fast");
  solve_.declare(flags, "Wall clock of each step; default none: until it ends, which may be long");
  flags.integer("--threads", threads_, "N", 1, kMaxThreads,
                "Steps planned at the same time; the answer does not depend on it. Default 1");
  flags.integer("--from", from_, "STEP", 0, kMaxExact, "First step to plan; default 0");
  flags.integer("--steps", steps_, "N", 0, kMaxExact, "Number of steps to plan; default all");
  flags.integer("--window", window_, "K", 2, kMaxWindow,
                "Plan K steps together: their sequences change steps where that saves time; each "
                "step keeps their number");
  flags.integer("--delay", delay_, "D", 1, kMaxWindow - 1,
                "--window: steps by which a sequence may come later; default K - 1");
  flags.text("--shard", shard_text_, "I/N",
             "Plan the steps, or windows, I, I + N, I + 2 N, ...; default by mpirun or Slurm "
             "array, else all");
  output_flags_.declare(flags, true);
}

ExitCode PlanStreamCommand::run(Console& console) {
  output_flags_.apply(console);
  Result<SolveOptions> options = solve_.options();
  if (!options) return console.refuse(options.errors().front());
  Loaded<ScatterInstance> cluster = load_cluster(console);
  if (!cluster.value) return console.refuse(cluster.errors);
  options_ = *std::move(options);
  options_.method = method_;
  if (auto error = check_method(*cluster.value, method_, "--method")) {
    return console.refuse(*error);
  }
  Result<Shard> shard = this->shard();
  if (!shard) return console.refuse(shard.errors().front());
  shard_ = *std::move(shard);
  if (drop_last_ && !batch_size_) {
    return console.refuse({kUsage, "--drop-last", "has no effect without --batch-size"});
  }
  if (auto error = window_error()) return console.refuse(*error);
  if (trainer_ == "bin" && directory_.empty()) {
    return console.refuse({kUsage, "--trainer", "bin needs -o: stdout has text alone"});
  }
  // Opening a pipe may wait for its writer. So it happens before the signal handlers are
  // installed, while Ctrl-C still ends the process.
  const int fd = open_steps();
  if (fd < 0) return console.refuse(unreadable(path_));
  InterruptibleInput input(fd);
  std::istream stream(&input);
  return plan(console, stream, *std::move(cluster.value));
}

ExitCode PlanStreamCommand::plan(Console& console, std::istream& stream, ScatterInstance cluster) {
  StepStreamOptions how{.batch_size = batch_size_, .drop_last = drop_last_};
  if (above_ == "clip") {
    const Tokens held = longest_in_group(cluster, largest_form(cluster));
    how.clip = held - held % common_multiple(cluster);
    if (*how.clip < 1) {
      return console.refuse({kUsage, "--above-limit",
                             "clip needs room for " + std::to_string(common_multiple(cluster)) +
                                 " tokens on the cluster, is room for " + std::to_string(held)});
    }
  }
  // The directory is created after all checks, so that an error leaves no directory behind.
  if (!directory_.empty()) {
    if (auto error = make_directory(directory_)) return console.refuse(*error);
    plans_.emplace(directory_, BesidePlan{.trainer = trainer_.empty()     ? TrainerFormat::none
                                                     : trainer_ == "json" ? TrainerFormat::json
                                                                          : TrainerFormat::binary,
                                          .instance = instances_});
  }
  console.info("stream    scatter  " + cluster.name + "   " + grouped(cluster.cluster.devices) +
               " devices  method " + method_ + "  " + solve_.describe() + share_text());
  const InterruptScope interrupt;
  how.interrupt = &interrupt.flag();
  how.directory = directory_of(path_);
  StepStream steps(stream, path_ == "-" ? "stdin" : path_, std::move(cluster), how);
  StreamReport report(console);
  const int threads = static_cast<int>(threads_.value_or(1));
  const Budget::Limits limits = solve_.limits(interrupt.flag());
  if (window_) {
    plan_windows(console, steps, report, limits, threads);
  } else {
    plan_stream([&] { return next(steps); }, options_, limits, threads,
                [&](PlannedStep&& step) { return take(console, report, std::move(step)); });
  }
  report.finish(interrupt.flag(), steps.clipped(), there_);
  if (window_) console.info("windows   " + windows_.text());
  if (const std::int64_t from = from_.value_or(0);
      unread_.empty() && !interrupt.flag() && steps.index() < from) {
    console.warn("the stream has " + counted(steps.index(), "step") + ", none from --from " +
                 grouped(from) + " on");
  }
  if (!invalid_.empty()) console.warn(invalid_.say("is invalid") + ", and is planned anew");
  if (!claimed_.empty()) console.warn(claimed_.say("has a bound that is not proven"));
  if (!mended_.empty()) {
    console.warn(mended_.say("was missing or not of its plan") + ", and is written from it");
  }
  if (!answered_) return ExitCode::internal;
  // stdout has its lines already, so this error is printed to stderr only.
  if (unwritten_) unread_.push_back({"", *unwritten_});
  if (!unread_.empty()) {
    console.complain(unread_);
    return ExitCode::bad_input;
  }
  if (interrupt.flag()) {
    const std::int64_t begin = from_.value_or(0);
    console.info("go on with --from " + std::to_string(std::max(begin, report.next())));
    return ExitCode::unknown;
  }
  return console.answer("", report.exit_code());
}

// Returns the next step of this share without a stored plan, or nullopt at the end. A step that
// cannot be read is returned with its error, or ends the stream (--fail-fast). A stream that
// broke off ends too.
std::optional<StreamStep> PlanStreamCommand::next(StepStream& steps) {
  for (;;) {
    while (!beyond(steps.index()) && passed_over(steps.index())) {
      if (!steps.skip()) break;  // next() below detects the end
    }
    const std::int64_t index = steps.index();
    if (beyond(index)) return std::nullopt;
    Result<std::optional<ScatterInstance>> step = steps.next();
    const std::string place = batch_size_ ? "" : steps.place();
    if (!step && (fail_fast_ || steps.index() == index)) {
      unread_ = errors_in(place, step.errors());
      return std::nullopt;
    }
    if (!step) {
      remarks_.put(index, {.extras = steps.take_extras(), .errors = step.errors()});
      return unreadable_step(index, place, step.errors());
    }
    if (!*step) return std::nullopt;
    if (plans_) {
      const Result<StoredStep> stored = plans_->resume(index, **step);
      if (!stored) {
        unread_ = errors_in("", stored.errors());
        return std::nullopt;
      }
      if (!stored->mended.empty()) mended_.add(stored->mended);
      if (stored->plan == StoredPlan::there) {
        ++there_;
        if (stored->claimed) claimed_.add(plans_->file_of(index, ".json"));
        continue;
      }
      if (stored->plan == StoredPlan::invalid) invalid_.add(plans_->file_of(index, ".json"));
    }
    StreamStep found{.index = index};
    found.instance = **std::move(step);
    remarks_.put(index, {.extras = steps.take_extras(),
                         .with_instance = instances_,
                         .with_trainer = !trainer_.empty() && !plans_});
    return found;
  }
}

// Called on another thread than next().
bool PlanStreamCommand::take(Console& console, StreamReport& report, PlannedStep&& step) {
  // The partial result of an interrupted solve is discarded, since it would not be reproducible.
  if (step.outcome.stopped_by == StoppedBy::interrupted) return false;
  const StepRemarks remarks = remarks_.take(step.index);
  if (plans_ && step.outcome.plan) {
    unwritten_ = plans_->put(step);
    if (unwritten_) return false;
  } else if (!print(console, step, remarks)) {
    return false;
  }
  report.add(step);
  return true;
}

// Prints the line of a step. Returns false if it cannot.
bool PlanStreamCommand::print(Console& console, const PlannedStep& step,
                              const StepRemarks& remarks) {
  const Result<std::string> line = step_line(step, remarks);
  if (!line) {
    unwritten_ = line.errors().front();
    return false;
  }
  answered_ = console.answer_part(*line);
  return answered_;
}

std::string PlanStreamCommand::share_text() const {
  if (shard_.count == 1) return "";
  return "  shard " + std::to_string(shard_.index) + '/' + std::to_string(shard_.count) +
         (shard_.from.empty() ? "" : " by " + shard_.from);
}

std::unique_ptr<Command> make_plan_stream_command() {
  return std::make_unique<PlanStreamCommand>();
}

}  // namespace stowage
