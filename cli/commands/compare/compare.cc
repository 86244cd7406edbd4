// stowage compare: every method on one instance.
#include <algorithm>
#include <limits>
#include <utility>

#include "cli/answers/outcome_json.h"
#include "cli/commands/compare/ablation.h"
#include "cli/commands/compare/method_rows.h"
#include "cli/commands/compare/method_runs.h"
#include "cli/commands/measure/machine.h"
#include "cli/commands/run/measured_comparison.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/table.h"
#include "instances/families.h"
#include "instances/numeric/numbers.h"
#include "instances/verify.h"
#include "solvers/solve.h"

namespace stowage {
namespace {

class CompareCommand : public Command {
 public:
  CommandText text() const override {
    return {
        .name = "compare",
        .arguments = "INSTANCE [MORE...]",
        .summary = "Run every method, the published baselines included, side by side",
        .examples = {"stowage compare instance.json -t 1 --milp-limit 1",
                     "stowage compare instance.json --methods batch-ada,fast --format table -t 1",
                     "stowage compare instance.json --ablate --format markdown --node-limit 20"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_, "The instance, - for stdin");
    flags.further("MORE", more_paths_,
                  "With --ablate, further instances of the same problem: the answer is a summary");
    flags.text(
        "--configuration", stated_, "LIST",
        "Of a strategy: a row for pp=4,tp=8,zero=1,recompute=full,micro_batch_size=2 and the "
        "like, whether or not it fits");
    flags.list("--methods", methods_, "A,B,...", "Default all. " + method_list());
    flags.toggle("--ablate", ablate_,
                 "Run auto, and auto once without each of the stages that ran: what each is worth");
    flags.choice("--format", format_, {"json", "markdown", "table"},
                 "Form of the answer on stdout; with json the table goes to stderr. Default json");
    flags.number("--milp-limit", milp_limit_s_, "SEC", 0, 1e9,
                 "Limit of each MILP of a baseline. Default as --time-limit, at most 10");
    flags.number("--baseline-limit", baseline_limit_s_, "SEC", 0, 1e9,
                 "Limit of each baseline as a whole; --time-limit holds for the other methods "
                 "alone. Default 60 times --milp-limit, at least --time-limit");
    flags.toggle("--measure", measure_,
                 "Also run every plan: the step made small, at costs measured on this machine");
    flags.integer("--scale", scale_, "N", 1, kMaxExact,
                  "With --measure, lengths are divided by N; default by the work");
    flags.integer("--rounds", rounds_, "N", 1, 1000,
                  "With --measure, runs of every pack and batch, the median counts; default " +
                      std::to_string(MeasureOptions().rounds));
    solve_.declare(flags, "Wall clock of each method; default 10 without --node-limit");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    Loaded<Instance> instance = load_instance(instance_path_);
    if (!instance.value) return console.refuse(instance.errors);
    Result<SolveOptions> options = solve_.options();
    if (!options) return console.refuse(options.errors().front());
    for (const std::string& method : methods_) {
      if (auto error = check_method(*instance.value, method, "--methods")) {
        return console.refuse(*error);
      }
    }
    if (auto error = check_ablation(*instance.value)) return console.refuse(*error);
    if (!more_paths_.empty()) return ablate_all(console, *std::move(instance.value), *options);
    if (auto error = check_measure(*instance.value, console.settings.timeless))
      return console.refuse(*error);
    std::optional<MethodRow> stated;
    if (!stated_.empty()) {
      Loaded<InstanceAndPlan> both =
          with_stated(instance, instance_path_, "--configuration", stated_);
      if (!both.value) return console.refuse(both.errors);
      allow_stated(*both.value);
      stated = stated_row(*both.value);
      instance.value = std::move(both.value->instance);
    }
    SolveOptions asked = *std::move(options);

    console.info(instance_line(*instance.value));
    const InterruptScope interrupt;
    const Budget::Limits limits = limits_of(interrupt);
    const double milp = milp_limit_s_.value_or(std::min(limits.time_limit_s, kDefaultSeconds));
    asked.milp_seconds = milp;
    const double at_least = limits.time_limit_s < kInfinity ? limits.time_limit_s : 0;
    const double baseline = baseline_limit_s_.value_or(std::max(kMilpsOfBaseline * milp, at_least));
    std::optional<MeasuredStep> here;
    if (measure_) {
      Budget budget({.interrupt = limits.interrupt});
      Result<MeasuredStep> step = measured_step(console, std::get<ScatterInstance>(*instance.value),
                                                measure_options(), budget);
      if (!step) return refuse_calibration(console, step.errors().front());
      here = *std::move(step);
      instance.value = here->step;
    }
    std::vector<MethodRow> rows =
        ablate_ ? run_ablation(console, *instance.value, asked, limits)
                : run_methods(console, *instance.value, methods_, asked, limits, baseline);
    const ExitCode code = exit_code_of(rows);
    if (stated) rows.insert(rows.begin(), *std::move(stated));
    PlansMeasured measured;
    if (here) {
      Budget budget({.interrupt = limits.interrupt});
      measured = measure(console, *here, rows, budget);
    }
    const Measurement measurement{here ? &*here : nullptr, &measured};
    return answer(console, *instance.value, rows, measurement, code, interrupt.flag());
  }

 private:
  // If the configuration breaks a rule, the objective is not used and `detail` names the rule.
  static MethodRow stated_row(const InstanceAndPlan& both) {
    MethodRow row{.method = {.name = "configuration", .summary = "", .source = ""}, .stated = true};
    row.outcome.objective = plan_objective(both.plan);
    row.outcome.plan = both.plan;
    row.outcome.status = Status::feasible;
    row.outcome.found_by = "configuration";
    const std::vector<Violation> violations = verify(both.instance, both.plan);
    for (const Violation& violation : violations) {
      row.outcome.detail += (row.outcome.detail.empty() ? "" : "; ") + to_string(violation);
    }
    if (!violations.empty()) row.outcome.status = Status::infeasible;
    return row;
  }

  // The results of --measure; `here` is null without it.
  struct Measurement {
    const MeasuredStep* here;
    const PlansMeasured* plans;
  };

  std::optional<InputError> check_measure(const Instance& instance, bool timeless) const {
    if (scale_ && !measure_)
      return InputError{kUsage, "--scale", "has an effect only with --measure"};
    if (rounds_ && !measure_)
      return InputError{kUsage, "--rounds", "has an effect only with --measure"};
    if (measure_ && timeless) {
      return InputError{kUsage, "--timeless",
                        "has no effect with --measure, whose figures all come from a clock"};
    }
    if (measure_ && !std::holds_alternative<ScatterInstance>(instance)) {
      return InputError{
          kUsage, "--measure",
          "knows scatter steps only, this is of the problem " + std::string(family_name(instance))};
    }
    return std::nullopt;
  }

  std::optional<InputError> check_ablation(const Instance& instance) const {
    if (!ablate_ && !more_paths_.empty()) {
      return InputError{kUsage, "MORE", "must be given with --ablate alone"};
    }
    if (!ablate_) return std::nullopt;
    if (!more_paths_.empty() && (measure_ || !stated_.empty())) {
      return InputError{kUsage, "MORE", "must not be given with --measure or --configuration"};
    }
    if (!methods_.empty()) {
      return InputError{kUsage, "--ablate", "leaves stages of auto out: give no --methods with it"};
    }
    if (!stages(instance).empty()) return std::nullopt;
    return InputError{kUsage, "--ablate",
                      "needs a solve in named stages, which " + std::string(family_name(instance)) +
                          " has not: compare its methods instead"};
  }

  // Returns the limits of each solve. Without any limit `exact` would not end.
  Budget::Limits limits_of(const InterruptScope& interrupt) const {
    Budget::Limits limits = solve_.limits(interrupt.flag());
    const bool unlimited = limits.time_limit_s == kInfinity &&
                           limits.node_limit == std::numeric_limits<std::int64_t>::max();
    if (unlimited) limits.time_limit_s = kDefaultSeconds;
    return limits;
  }

  // Returns the row of `auto`, then a row without each stage that ran.
  static std::vector<MethodRow> run_ablation(Console& console, const Instance& instance,
                                             const SolveOptions& options,
                                             const Budget::Limits& limits) {
    std::vector<MethodRow> rows;
    for (AblationRun& run : ablate(console, instance, options, limits)) {
      const std::string name = run.without.empty() ? "auto" : "without " + run.without;
      rows.push_back({{.name = name}, std::move(run.outcome)});
    }
    mark_best(rows);
    return rows;
  }

  // Prints the worth of each stage over all instances. Returns the exit code.
  ExitCode ablate_all(Console& console, Instance first, const SolveOptions& options) const {
    std::vector<Instance> instances;
    instances.push_back(std::move(first));
    std::vector<CliError> errors;
    for (const std::string& path : more_paths_) {
      Loaded<Instance> next = load_instance(path);
      errors.insert(errors.end(), next.errors.begin(), next.errors.end());
      if (!next.value) continue;
      if (next.value->index() == instances.front().index()) {
        instances.push_back(*std::move(next.value));
        continue;
      }
      errors.push_back(
          {path,
           {kUsage, "/problem",
            "must be " + std::string(family_name(instances.front())) +
                " as the first instance, is " + std::string(family_name(*next.value))}});
    }
    if (!errors.empty()) return console.refuse(errors);
    const InterruptScope interrupt;
    const Budget::Limits limits = limits_of(interrupt);
    const bool timeless = console.settings.timeless;
    AblationSummary summary;
    JsonWriter json;
    json.begin_object();
    write_head(json, "stowage/ablation", family_name(instances.front()), "");
    json.integer("seed", static_cast<std::int64_t>(solve_.seed()));
    json.key("instances");
    json.begin_array();
    ExitCode code = ExitCode::ok;
    for (const Instance& instance : instances) {
      if (interrupt.flag()) break;
      console.info(instance_line(instance));
      const std::vector<AblationRun> runs = ablate(console, instance, options, limits);
      const Outcome& whole = runs.front().outcome;
      if (to_int(exit_code(whole)) > to_int(code)) code = exit_code(whole);
      summary.add(runs);
      const Unit unit = objective_unit(instance);
      json.begin_object(JsonWriter::Layout::line);
      json.text("name", instance_name(instance));
      json.text("instance_hash", hash_of(instance));
      json.text("status", to_string(whole.status));
      write_amount(json, "objective", whole.objective, unit);
      write_amount(json, "bound", whole.bound, unit);
      if (!timeless) json.number("seconds", whole.seconds);
      json.integer("nodes", whole.nodes);
      json.end_object();
    }
    json.end_array();
    summary.write(json, timeless);
    json.integer("exit_code", to_int(code));
    json.end_object();
    if (interrupt.flag()) console.warn("interrupted: instances that had not begun are left out");
    const Table table = summary.table(timeless);
    if (format_ == "table") return console.answer(table.text(), code);
    if (format_ == "markdown") return console.answer(table.markdown(), code);
    if (console.settings.level >= LogLevel::info) console.table(table);
    return console.answer(json.take(), code);
  }

  MeasureOptions measure_options() const {
    MeasureOptions options{.scale = scale_, .seed = solve_.seed()};
    if (rounds_) options.rounds = static_cast<int>(*rounds_);
    return options;
  }

  static PlansMeasured measure(Console& console, const MeasuredStep& here,
                               std::vector<MethodRow>& rows, Budget& budget) {
    std::vector<const ScatterPlan*> plans;
    for (const MethodRow& row : rows) {
      const auto& plan = row.outcome.plan;
      plans.push_back(plan ? &std::get<ScatterPlan>(*plan) : nullptr);
    }
    PlansMeasured measured = time_here(console, here, plans, budget);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (measured.timings[i]) rows[i].measured_ms = measured.timings[i]->seconds * 1000;
    }
    return measured;
  }

  static constexpr double kDefaultSeconds = 10;
  // Default of --baseline-limit, in limits of a MILP. Larger: fewer baselines are cut short.
  // Smaller: the comparison ends sooner. Evidence: flexsp solves 10 to 40 MILPs on the steps of
  // README.md; hydraulis solves up to 317 MILPs on bundled steps and is cut short there.
  static constexpr double kMilpsOfBaseline = 60;

  ExitCode answer(Console& console, const Instance& instance, const std::vector<MethodRow>& rows,
                  const Measurement& measurement, ExitCode code, bool interrupted) const {
    const MethodRowsFrame frame{.unit = objective_unit(instance),
                                .parts = plan_parts(instance),
                                .timeless = console.settings.timeless,
                                .measured = measurement.here != nullptr};
    const Table table = table_of(rows, frame);
    for (const MethodRow& row : rows) {
      if (row.stated && !row.outcome.detail.empty()) {
        console.warn("the configuration is invalid: " + row.outcome.detail);
      }
      if (row.outcome.status == Status::error) {
        console.warn(std::string(row.method.name) + ": " + row.outcome.detail);
      }
    }
    if (interrupted) console.warn("interrupted: methods that had not begun are not listed");
    if (format_ == "table") return console.answer(table.text(), code);
    if (format_ == "markdown") return console.answer(table.markdown(), code);
    if (console.settings.level >= LogLevel::info) console.table(table);
    if (frame.measured) tell_measured(console, *measurement.plans);

    JsonWriter json;
    json.begin_object();
    write_head(json, "stowage/comparison", family_name(instance), instance_name(instance));
    json.text("instance_hash", hash_of(instance));
    json.integer("exit_code", to_int(code));
    json.integer("seed", static_cast<std::int64_t>(solve_.seed()));
    const NamedBound bound = best_bound(rows);
    write_amount(json, "bound", bound.value, frame.unit);
    json.text("bound_by", bound.name);
    if (frame.measured) write_measured(json, *measurement.here, *measurement.plans);
    json.key("methods");
    json.begin_array();
    for (const MethodRow& row : rows) write_row(json, row, frame);
    json.end_array();
    json.end_object();
    return console.answer(json.take(), code);
  }

  std::string instance_path_;
  std::vector<std::string> more_paths_;
  std::vector<std::string> methods_;
  bool ablate_ = false;
  std::string stated_;
  std::string format_ = "json";
  std::optional<double> milp_limit_s_;
  std::optional<double> baseline_limit_s_;
  bool measure_ = false;
  std::optional<std::int64_t> scale_;
  std::optional<std::int64_t> rounds_;
  SolveFlags solve_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace stowage
