// stowage plan-stream: plans the steps of a training run one after another.
#include "solvers/plan_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <istream>
#include <utility>

#include "cli/commands/stream/plan_directory.h"
#include "cli/commands/stream/remarks.h"
#include "cli/commands/stream/report.h"
#include "cli/commands/stream/shard.h"
#include "cli/commands/stream/step_source.h"
#include "cli/commands/stream/step_windows.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/interrupt.h"
#include "instances/json/limits.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/step_stream.h"
#include "solvers/work_in_order.h"

namespace stowage {
namespace {

constexpr std::int64_t kMaxWindow = 64;  // steps

class PlanStreamCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "plan-stream",
            .arguments = "STEPS",
            .summary = "Plan a stream of steps for a training loop; one line of JSON a step",
            .examples = {"stowage plan-stream lengths.txt --batch-size 16 --devices 16",
                         "stowage plan-stream lengths.txt --batch-size 16 --instance instance.json "
                         "--threads 2 --from 1 --above-limit clip",
                         "stowage plan-stream lengths.txt --batch-size 16 --devices 16 -o plans "
                         "--shard 0/2 --trainer bin"}};
  }

  void declare(Flags& flags) override {
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
    solve_.declare(flags,
                   "Wall clock of each step; default none: until it ends, which may be long");
    flags.integer("--threads", threads_, "N", 1, kMaxThreads,
                  "Steps planned at the same time; the answer does not depend on it. Default 1");
    flags.integer("--from", from_, "STEP", 0, kMaxExact, "First step to plan; default 0");
    flags.integer("--steps", steps_, "N", 0, kMaxExact, "Number of steps to plan; default all");
    flags.integer("--window", window_, "K", 2, kMaxWindow,
                  "Plan K steps together: their sequences change steps where that saves time; each "
                  "step keeps their number");
    flags.integer("--delay", delay_, "D", 1, kMaxWindow - 1,
                  "--window: steps by which a sequence may come later; default K - 1");
    flags.number(
        "--token-spread", token_spread_, "R", 1, 1e6,
        "--window: no step has more tokens than R times those of the largest drawn step, or "
        "fewer than 1/R of the smallest; default no limit");
    flags.text("--shard", shard_text_, "I/N",
               "Plan the steps, or windows, I, I + N, I + 2 N, ...; default by mpirun or Slurm "
               "array, else all");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
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

 private:
  // Returns the error of flags that do not go together with --window.
  std::optional<InputError> window_error() const {
    for (const auto& [flag, given] : {std::pair("--delay", delay_.has_value()),
                                      std::pair("--token-spread", token_spread_.has_value())}) {
      if (given && !window_) return InputError{kUsage, flag, "has no effect without --window"};
    }
    if (delay_ && *delay_ >= *window_) {
      return InputError{
          kUsage, "--delay",
          "must be below --window, " + grouped(*window_) + ", is " + grouped(*delay_)};
    }
    return std::nullopt;
  }

  // Returns a descriptor, or -1 and errno. open() succeeds for a directory, which cannot be read.
  int open_steps() const {
    const int fd = path_ == "-" ? ::dup(STDIN_FILENO) : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (fd < 0 || ::fstat(fd, &status) != 0 || !S_ISDIR(status.st_mode)) return fd;
    ::close(fd);
    errno = EISDIR;
    return -1;
  }

  Loaded<ScatterInstance> load_cluster(Console& console) const {
    if (!template_.empty()) {
      if (template_ == "-" && path_ == "-") {
        const InputError twice{kUsage, "--instance", "stdin is the stream already"};
        return {std::nullopt, {{.error = twice}}};
      }
      if (preset_.given()) {
        const InputError both{kUsage, "--instance",
                              "has cluster and model already: leave out --preset, --devices and "
                              "the other flags that describe them"};
        return {std::nullopt, {{.error = both}}};
      }
      Loaded<Instance> instance = load_instance(template_);
      if (!instance.value) return {std::nullopt, std::move(instance.errors)};
      if (auto error = not_of(*instance.value, "scatter")) {
        return {std::nullopt, errors_in(template_, {*error})};
      }
      return {std::get<ScatterInstance>(*std::move(instance.value)), {}};
    }
    const Result<ScatterGenerator> generator = preset_.generator(console);
    if (!generator) return {std::nullopt, errors_in("", generator.errors())};
    Result<ScatterInstance> cluster = scatter_cluster(*generator);
    if (!cluster) return {std::nullopt, as_flag_errors(cluster.errors())};
    return {*std::move(cluster), {}};
  }

  Result<Shard> shard() const {
    if (shard_text_.empty()) return shard_of_environment();
    if (auto parsed = parse_shard(shard_text_)) return *std::move(parsed);
    return InputError{kUsage, "--shard", "must be I/N with I below N, is '" + shard_text_ + '\''};
  }

  ExitCode plan(Console& console, std::istream& stream, ScatterInstance cluster) {
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
      const PlanDirectory there(directory_);
      if (auto error = window_ ? std::nullopt : there.refuse_windows()) {
        return console.refuse(*error);
      }
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
    StepSource source(steps, range(), plans_ ? &*plans_ : nullptr);
    StreamReport report(console);
    const int threads = static_cast<int>(threads_.value_or(1));
    const Budget::Limits limits = solve_.limits(interrupt.flag());
    if (window_) {
      plan_windows(console, source, report, limits, threads);
    } else {
      plan_stream([&] { return source.next(); }, options_, limits, threads,
                  [&](PlannedStep&& step) { return take(console, source, report, step); });
    }
    report.finish(interrupt.flag(), steps.clipped(), source.there());
    if (!windows_.empty()) console.info("windows   " + windows_.text());
    std::vector<CliError> unread = source.errors();
    if (const std::int64_t from = from_.value_or(0);
        unread.empty() && !interrupt.flag() && steps.index() < from) {
      console.warn("the stream has " + counted(steps.index(), "step") + ", none from --from " +
                   grouped(from) + " on");
    }
    source.warn(console);
    if (!answered_) return ExitCode::internal;
    // stdout has its lines already, so this error is printed to stderr only.
    if (unwritten_) unread.push_back({"", *unwritten_});
    if (!unread.empty()) {
      console.complain(unread);
      return ExitCode::bad_input;
    }
    if (interrupt.flag()) {
      const std::int64_t begin = from_.value_or(0);
      console.info("go on with --from " + std::to_string(std::max(begin, report.next())));
      return ExitCode::unknown;
    }
    return console.answer("", report.exit_code());
  }

  SourceRange range() const {
    SourceRange range{.from = from_.value_or(0),
                      .steps = steps_,
                      .shard = shard_,
                      .window = window_.value_or(1),
                      .fail_fast = fail_fast_,
                      .lines = !batch_size_,
                      .with_instance = instances_,
                      .with_trainer = !trainer_.empty() && !plans_};
    range.rule.delay = delay_.value_or(range.window - 1);
    if (token_spread_) range.rule.token_spread = *token_spread_;
    return range;
  }

  void plan_windows(Console& console, StepSource& source, StreamReport& report,
                    const Budget::Limits& limits, int threads) {
    const SourceRange range = this->range();
    work_in_order<StepWindow, PlannedWindow>(
        [&] { return source.next_window(); },
        [&](StepWindow&& window) {
          return plan_steps(std::move(window), range.rule, options_, limits);
        },
        threads,
        [&](PlannedWindow&& window) { return take_window(console, source, report, window); });
  }

  // Called on another thread than next_window().
  bool take_window(Console& console, StepSource& source, StreamReport& report,
                   PlannedWindow& window) {
    for (const PlannedStep& step : window.steps) {
      if (step.outcome.stopped_by == StoppedBy::interrupted) return false;
    }
    if (window.dealt) windows_.add(window);
    if (window.dealt && plans_) {
      unwritten_ = plans_->put(WindowFile{window.steps.front().index, window.drawn});
      if (unwritten_) return false;
    }
    const SourceRange range = this->range();
    for (std::size_t s = 0; s < window.steps.size(); ++s) {
      StepRemarks remarks = source.take_remarks(window.steps[s].index);
      if (!range.has(window.steps[s].index)) continue;
      remarks.drawn = std::move(window.drawn[s]);
      if (!write(console, window.steps[s], remarks)) return false;
      report.add(window.steps[s]);
    }
    return true;
  }

  // Called on another thread than next().
  bool take(Console& console, StepSource& source, StreamReport& report, const PlannedStep& step) {
    // The partial result of an interrupted solve is discarded, since it would not be reproducible.
    if (step.outcome.stopped_by == StoppedBy::interrupted) return false;
    if (!write(console, step, source.take_remarks(step.index))) return false;
    report.add(step);
    return true;
  }

  // Writes the plan of a step to the directory, or prints its line. Returns false if it cannot.
  bool write(Console& console, const PlannedStep& step, const StepRemarks& remarks) {
    if (!plans_ || !step.outcome.plan) return print(console, step, remarks);
    unwritten_ = plans_->put(step);
    return !unwritten_;
  }

  // Prints the line of a step. Returns false if it cannot.
  bool print(Console& console, const PlannedStep& step, const StepRemarks& remarks) {
    const Result<std::string> line = step_line(step, remarks);
    if (!line) {
      unwritten_ = line.errors().front();
      return false;
    }
    answered_ = console.answer_part(*line);
    return answered_;
  }

  std::string share_text() const {
    if (shard_.count == 1) return "";
    return "  shard " + std::to_string(shard_.index) + '/' + std::to_string(shard_.count) +
           (shard_.from.empty() ? "" : " by " + shard_.from);
  }

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
  std::optional<double> token_spread_;
  std::optional<std::int64_t> delay_;  // steps
  PresetFlags preset_;
  SolveFlags solve_;
  OutputFlags output_flags_;

  SolveOptions options_;
  Shard shard_;
  std::optional<PlanDirectory> plans_;
  WindowFigures windows_;
  std::optional<InputError> unwritten_;  // error of the plan whose writing ended the stream
  bool answered_ = true;                 // true while all writes to stdout succeeded
};

}  // namespace

std::unique_ptr<Command> make_plan_stream_command() {
  return std::make_unique<PlanStreamCommand>();
}

}  // namespace stowage
