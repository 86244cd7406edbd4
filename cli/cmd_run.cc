// stowage run: execute the packed batches of a plan and compare them with every sequence alone, or
// the buffers of a layout plan at their offsets (run_layout.h).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/common_flags.h"
#include "cli/error_codes.h"
#include "cli/execution_json.h"
#include "cli/family.h"
#include "cli/interrupt.h"
#include "cli/run_layout.h"
#include "cli/table.h"
#include "instances/numbers.h"
#include "kernels/executor.h"

namespace stowage {
namespace {

using kernels::BatchMeasurement;
using kernels::ExecutionProgress;
using kernels::ExecutionReport;
using kernels::TensorCheck;

constexpr std::size_t kListedBatches = 40;

Table batch_table(const ExecutionReport& report, bool timeless) {
  std::vector<Table::Column> columns = {
      {report.part_word, Align::right}, {report.batch_word, Align::right}, {"degree", Align::right},
      {"ranks", Align::right},          {"sequences", Align::right},       {"tokens", Align::right},
      {"predicted ms", Align::right}};
  if (!timeless) columns.push_back({"measured ms", Align::right});
  Table table(columns);
  for (std::size_t i = 0; i < std::min(report.batches.size(), kListedBatches); ++i) {
    const BatchMeasurement& b = report.batches[i];
    std::vector<std::string> cells = {
        grouped(b.part),      grouped(b.index),  grouped(b.degree),      grouped(b.ranks),
        grouped(b.sequences), grouped(b.tokens), ms_text(b.predicted_ms)};
    if (!timeless) cells.push_back(ms_text(b.seconds * 1000));
    table.add(std::move(cells));
  }
  return table;
}

Table check_table(const ExecutionReport& report) {
  Table table({{"tensors", Align::left},
               {"compared", Align::right},
               {"worst error", Align::right},
               {"tolerance", Align::right},
               {"", Align::left}});
  const auto add = [&table](const std::string& name, const TensorCheck& check) {
    table.add({name, grouped(check.compared), scientific(check.error), scientific(check.tolerance),
               check.passed() ? "pass" : "FAIL"});
  };
  add("output", report.output);
  add("input gradient", report.input_gradient);
  add("weight gradient", report.weight_gradient);
  return table;
}

class RunCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "run",
            .arguments = "INSTANCE PLAN",
            .summary = "Execute a plan on this CPU: packed batches and their numerics, or buffers",
            .examples = {"stowage run instance.json plan.json",
                         "stowage run layout.json layout-plan.json",
                         "stowage run instance.json plan.json --max-ranks 2 --seed 7 --timeless"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_, "The instance, - for stdin");
    flags.positional("PLAN", plan_path_, "The plan, or an outcome with a plan in it, - for stdin");
    flags.integer("--scale", scale_, "N", 1, kMaxExact,
                  "Lengths, or sizes of buffers, are divided by it; default the smallest within "
                  "--work, or 64 MiB of arena");
    flags.number("--work", work_gflop_, "GFLOP", 0.001, 1e6,
                 "Not for layouts: work to stay within when --scale is not given; default 10");
    flags.integer("--max-ranks", max_ranks_, "N", 1, 1024,
                  "Not for layouts: threads as ranks of a batch, whatever its degree; default 64");
    flags.integer("--repeats", repeats_, "N", 1, 1000,
                  "Not for layouts: timed runs of each batch; the best counts");
    flags.number("-t,--time-limit", time_limit_s_, "SEC", 0, 1e9,
                 "Stop between batches after it; the run is then incomplete. Default none");
    flags.integer("--seed", seed_, "N", 0, kMaxExact,
                  "Seed of tokens, weights and patterns; default 0");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (scale_ && work_gflop_) {
      return console.refuse({kUsage, "--work", "has no effect with --scale"});
    }
    const Loaded<InstanceAndPlan> both = load_both(instance_path_, plan_path_);
    if (!both.value) return console.refuse(both.errors);
    const Instance& instance = both.value->instance;
    const Plan& plan = both.value->plan;
    const bool layout = std::holds_alternative<LayoutInstance>(instance);
    if (layout) {
      if (auto error = flag_without_effect()) return console.refuse(*error);
    }
    // No plan is executed unverified, and there is no switch for it.
    const std::vector<Violation> violations = verify_plan(instance, plan);
    console.info("instance  " + std::string(problem_name(instance)) + "  " +
                 printable(instance_name(instance)) + "   " + instance_size(instance));
    if (!violations.empty()) return refuse_plan(console, instance, violations);
    const InterruptScope interrupt;
    Budget::Limits limits{.interrupt = &interrupt.flag()};
    if (time_limit_s_) limits.time_limit_s = *time_limit_s_;
    Budget budget(limits);
    if (!layout) return execute(console, instance, plan, budget);
    return run_layout(console, std::get<LayoutInstance>(instance), std::get<LayoutPlan>(plan),
                      {.instance_path = instance_path_,
                       .scale = scale_,
                       .seed = static_cast<std::uint64_t>(seed_.value_or(0))},
                      budget);
  }

 private:
  // A flag that would change nothing for a layout.
  std::optional<InputError> flag_without_effect() const {
    for (const auto& [flag, given] : {std::pair{"--work", work_gflop_.has_value()},
                                      std::pair{"--max-ranks", max_ranks_.has_value()},
                                      std::pair{"--repeats", repeats_.has_value()}}) {
      if (given) return InputError{kUsage, flag, "has no effect on a layout"};
    }
    return std::nullopt;
  }

  static ExitCode refuse_plan(Console& console, const Instance& instance,
                              const std::vector<Violation>& violations) {
    for (const Violation& violation : violations)
      console.finding("violation " + to_string(violation));
    console.error("the plan is invalid and was not executed");
    return console.answer(refused_execution_json(instance, violations, ExitCode::refused),
                          ExitCode::refused);
  }

  ExitCode execute(Console& console, const Instance& instance, const Plan& plan,
                   Budget& budget) const {
    kernels::ExecuteOptions options;
    options.scale = scale_.value_or(0);
    if (work_gflop_) options.max_work_flop = *work_gflop_ * 1e9;
    options.seed = static_cast<std::uint64_t>(seed_.value_or(0));
    if (max_ranks_) options.max_ranks = static_cast<int>(*max_ranks_);
    if (repeats_) options.repeats = static_cast<int>(*repeats_);

    const ExecutionReport report = kernels::execute(
        packed(instance, plan), options,
        [&console](const ExecutionProgress& progress) {
          if (!console.terminal() || !console.shows_progress()) return;
          console.rewrite_line("batch     " + grouped(progress.batches_done) + " of " +
                               grouped(progress.batches));
        },
        &budget);
    const ExitCode code = exit_code(report);
    tell(console, report);
    return console.answer(execution_json(instance, report, console.settings.timeless, code), code);
  }

  static kernels::PackedPlan packed(const Instance& instance, const Plan& plan) {
    if (const auto* assign = std::get_if<AssignInstance>(&instance)) {
      return kernels::packed_plan(*assign, std::get<AssignPlan>(plan));
    }
    return kernels::packed_plan(std::get<ScatterInstance>(instance), std::get<ScatterPlan>(plan));
  }

  // A run that the budget ended has shown nothing wrong, but neither that all is right. The stop
  // itself is the one problem such a report has.
  static bool stopped(const ExecutionReport& report) {
    return !report.complete && report.stopped_by != StopReason::none &&
           report.problems.list().size() == 1 && report.output.passed() &&
           report.input_gradient.passed() && report.weight_gradient.passed();
  }

  static ExitCode exit_code(const ExecutionReport& report) {
    if (report.passed()) return ExitCode::ok;
    return stopped(report) ? ExitCode::unknown : ExitCode::refused;
  }

  static void tell(Console& console, const ExecutionReport& report) {
    const bool timeless = console.settings.timeless;
    console.info("scale     lengths divided by " + grouped(report.scale) + ", " +
                 significant(report.work_flop / 1e9) + " GFLOP");
    if (console.settings.level >= LogLevel::info) {
      console.block(batch_table(report, timeless).text());
      if (report.batches.size() > kListedBatches) {
        console.info("and " +
                     grouped(static_cast<std::int64_t>(report.batches.size() - kListedBatches)) +
                     " more " + report.batch_word + "s");
      }
      console.block(check_table(report).text());
    }
    for (const std::string& note : report.notes) console.info("note      " + note);
    for (const std::string& problem : report.problems.list())
      console.finding("problem   " + problem);
    if (report.problems.omitted() > 0) {
      console.warn("and " + grouped(report.problems.omitted()) + " more problems");
    }
    if (!timeless && report.shape.available) {
      console.info("model     sum s^2, sum s and a constant explain the batches to " +
                   percent_text(report.shape.mean_error) + " on average, " +
                   percent_text(report.shape.held_out_mean_error) + " held out");
    }
    std::string line = console.bold(report.passed()   ? "pass"
                                    : stopped(report) ? "stopped"
                                                      : "fail") +
                       "  predicted " + ms_text(report.predicted_critical_path_ms) +
                       " ms at full length";
    if (!timeless) line += "  measured " + ms_text(report.critical_path_s * 1000) + " ms at scale";
    console.info(line);
  }

  std::string instance_path_;
  std::string plan_path_;
  std::optional<std::int64_t> scale_;
  std::optional<std::int64_t> max_ranks_;
  std::optional<std::int64_t> repeats_;
  std::optional<std::int64_t> seed_;
  std::optional<double> work_gflop_;
  std::optional<double> time_limit_s_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace stowage
