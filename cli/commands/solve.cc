// stowage solve: plan an instance, show the progress, write the plan.
#include "solvers/solve.h"

#include "cli/answers/outcome_json.h"
#include "cli/commands/arranged.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/param_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/status_line.h"
#include "cli/terminal/unit.h"
#include "instances/families.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/fit/stacks.h"
#include "instances/strategy/trainers.h"
#include "solvers/memory/solve_with_layout.h"

namespace stowage {
namespace {

class SolveCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "solve",
            .arguments = "INSTANCE [-o PLAN]",
            .summary = "Plan an instance; print the outcome as JSON",
            .examples = {"stowage solve instance.json -t 2 -o plan.json",
                         "stowage solve instance.json --method fast --timeless",
                         "stowage solve instance.json --start plan.json --gap 0.01 -t 5"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_, "The instance, - for stdin");
    flags.text("-o,--output", output_, "PLAN", "Write the plan there");
    flags.text("--method", method_, "NAME", "Default auto. " + method_list());
    solve_.declare(flags);
    const std::vector<std::string_view> trainers = strategy_trainers();
    flags.choice("--trainer", trainer_, {trainers.begin(), trainers.end()},
                 "Of a strategy: without the options that this trainer refuses. The plan is one of "
                 "the instance that is left, as generate strategy --trainer writes it");
    flags.text("--start", start_path_, "PLAN", "A plan to begin with; it is never made worse");
    flags.text(
        "--layout", layout_, "PLAN",
        "Of an order: write offsets of its tensors there, a plan of the layout that "
        "`stowage convert INSTANCE LAYOUT --plan ORDER` makes. Where they need more than the "
        "order does, other orders are tried; half of the limits are for this");
    param_flags_.declare(flags);
    flags.toggle("--stages", stages_,
                 "Also list in the outcome what each stage of the solve took, and by how much plan "
                 "and bound got better");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (output_ == "-") {
      return console.refuse({kUsage, "--output", "must be a file: stdout has the plan already"});
    }
    if (layout_ == "-") {
      return console.refuse({kUsage, "--layout", "must be a file: stdout has the outcome"});
    }
    Loaded<Instance> instance = load_instance(instance_path_);
    if (!instance.value) return console.refuse(instance.errors);
    if (!trainer_.empty()) {
      if (auto error = not_of(*instance.value, "strategy")) {
        return console.refuse({kUsage, "--trainer", error->message});
      }
      auto& strategy = std::get<StrategyInstance>(*instance.value);
      const Result<TrainerOptions> narrowed = options_for(strategy, trainer_);
      if (!narrowed) return console.refuse(errors_in(instance_path_, narrowed.errors()));
      strategy.options = narrowed->options;
      for (const std::string& rule : narrowed->rules) console.info("trainer   " + rule);
    }
    Result<SolveOptions> options = solve_.options();
    if (!options) return console.refuse(options.errors().front());
    SolveOptions asked = *std::move(options);
    asked.method = method_;
    if (auto error = check_method(*instance.value, method_, "--method")) {
      return console.refuse(*error);
    }
    if (auto errors = param_flags_.apply(*instance.value, asked); !errors.empty()) {
      return console.refuse(errors);
    }
    if (!start_path_.empty()) {
      if (start_path_ == "-" && instance_path_ == "-") {
        return console.refuse({kUsage, "--start", "stdin is the instance already"});
      }
      Loaded<Plan> start = load_plan(start_path_, *instance.value);
      if (!start.value) return console.refuse(start.errors);
      // A plan of another instance may have other sequence ids or times of another cluster.
      const std::string hash = hash_of(*instance.value);
      if (const std::string& other = plan_hash(*start.value); other != hash) {
        return console.refuse(
            {kUsage, "--start", "must be a plan of this instance, " + hash + ", is of " + other});
      }
      asked.start = std::move(start.value);
    }
    // The output is checked before the solve. --output may equal --start, since the result is never
    // worse than the start.
    if (auto error = check_output("--output", output_, instance.files)) {
      return console.refuse(*error);
    }
    if (!layout_.empty()) {
      std::vector<std::string> inputs = instance.files;
      if (!start_path_.empty()) inputs.push_back(start_path_);
      if (auto error = check_layout_path(layout_, *instance.value, output_, inputs)) {
        return console.refuse(*error);
      }
    }
    return solve_and_report(console, *instance.value, asked);
  }

 private:
  ExitCode solve_and_report(Console& console, const Instance& instance,
                            const SolveOptions& options) {
    const std::string solver = solver_name(options);
    console.info(instance_line(instance));
    console.info("method    " + method_ + "  " + (solver.empty() ? "no MILP backend" : solver) +
                 "  " + solve_.describe());
    // The scope lasts until the plan is written. Until then a second signal still exits with 130,
    // and a first signal does not lose the plan.
    const InterruptScope interrupt;
    const Budget::Limits limits = solve_.limits(interrupt.flag());
    ProgressTable progress(console, objective_unit(instance));
    const auto improved = [&](const Improvement& i) { progress.add(i); };
    ArrangedOutcome found;
    if (layout_.empty()) {
      Budget budget(limits);
      found.outcome = solve(instance, options, budget, improved);
      progress.finish();
    } else {
      std::optional<StatusLine> status;
      const auto laid_out = [&](Bytes needed, std::int64_t orders) {
        if (!status) progress.finish();
        if (!status) status.emplace(console);
        status->tell("layout    " + with_unit(static_cast<double>(needed), kBytes) + ", " +
                     counted(orders, "order") + " laid out");
      };
      found =
          solve_with_layout(std::get<OrderInstance>(instance), options, limits, improved, laid_out);
      if (!status) progress.finish();
    }
    const Outcome& outcome = found.outcome;
    const std::optional<Arrangement>& arrangement = found.arrangement;
    OutcomeFrame frame{.instance = &instance,
                       .solver = solver,
                       .seed = options.seed,
                       .timeless = console.settings.timeless,
                       .exit_code = exit_code(outcome),
                       .stages = stages_,
                       .without = options.without,
                       .params = options.params};
    if (arrangement) {
      frame.arrangement = &*arrangement;
      if (!arrangement->layout) frame.exit_code = ExitCode::unknown;
    }
    // If a plan cannot be written to its file, it is still in the outcome on stdout.
    const bool saved =
        !output_.empty() && outcome.plan && save(console, output_, plan_json(*outcome.plan), frame);
    const bool layout_saved = arrangement && arrangement->layout &&
                              save(console, layout_, plan_json(*arrangement->layout), frame);
    report(console, instance, outcome, saved);
    if (arrangement) {
      console.info("layout    " + arrangement_text(*arrangement) +
                   (layout_saved ? "  -> " + layout_ : ""));
    }
    return console.answer(outcome_json(outcome, frame), frame.exit_code);
  }

  // Returns whether the file was written.
  static bool save(Console& console, const std::string& path, const std::string& plan,
                   OutcomeFrame& frame) {
    const auto error = write_file(path, plan);
    if (!error) return true;
    console.error(error->pointer + ": " + error->message);
    frame.errors.push_back({"", *error});
    frame.exit_code = ExitCode::bad_input;
    return false;
  }

  void report(Console& console, const Instance& instance, const Outcome& outcome,
              bool saved) const {
    const Unit unit = objective_unit(instance);
    for (const NamedBound& bound : outcome.bounds) {
      console.debug("bound     " + bound.name + "  " + with_unit(bound.value, unit));
    }
    for (const StageReport& stage : outcome.stages) console.debug(stage_line(stage, unit, console));
    std::string line;
    if (outcome.objective) line += "  " + with_unit(*outcome.objective, unit);
    if (outcome.status != Status::infeasible && !outcome.bound_by.empty()) {
      line += "  bound " + with_unit(outcome.bound, unit) + " (" + outcome.bound_by + ')';
    }
    if (outcome.plan) line += "  gap " + percent_text(outcome.gap());
    line += "  stopped_by " + std::string(to_string(outcome.stopped_by));
    if (outcome.plan) line += "  verified";
    if (saved) line += "  plan -> " + output_;
    console.verdict(to_string(outcome.status), line);
    if (const auto* strategy = std::get_if<StrategyInstance>(&instance)) {
      console.info("rates     " + rate_text(rate_report(*strategy)));
    }
    if (outcome.plan) {
      if (std::string more = plan_detail(*outcome.plan); !more.empty()) {
        if (outcome.simulated_bound) {
          const double end = *plan_simulated(*outcome.plan);
          more += "  bound " + with_unit(*outcome.simulated_bound, unit) + "  gap " +
                  percent_text(relative_gap(end, *outcome.simulated_bound));
        }
        console.info("plan      " + more);
      }
    }
    if (outcome.status == Status::infeasible) {
      for (const std::string& reason : infeasibility_report(instance, outcome)) {
        console.info(reason);
      }
    }
    if (outcome.status == Status::error) {
      console.error(outcome.detail);
      for (const Violation& violation : outcome.violations) {
        console.error("  " + to_string(violation));
      }
    } else if (outcome.status == Status::unknown || !outcome.detail.empty()) {
      console.info("detail    " + outcome.detail);
    }
  }

  static std::string stage_line(const StageReport& stage, const Unit& unit,
                                const Console& console) {
    std::string line = "stage     " + stage.name + "  " + counted(stage.runs, "run") + "  ";
    if (!console.settings.timeless) line += seconds_text(stage.seconds) + "  ";
    line += counted(stage.nodes, "node") + "  plan ";
    line += stage.first_plan        ? "found"
            : stage.plan_gained > 0 ? "-" + with_unit(stage.plan_gained, unit)
                                    : "as before";
    return line + "  bound +" + with_unit(stage.bound_gained, unit);
  }

  std::string instance_path_;
  std::string output_;
  std::string method_ = "auto";
  std::string start_path_;
  ParamFlags param_flags_;
  bool stages_ = false;
  std::string trainer_;
  std::string layout_;  // path of the layout's plan; empty: no layout requested
  SolveFlags solve_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_solve_command() { return std::make_unique<SolveCommand>(); }

}  // namespace stowage
