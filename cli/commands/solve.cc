// stowage solve: plan an instance, show the progress, write the plan.
#include "solvers/solve.h"

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/terminal/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress.h"
#include "instances/families.h"
#include "instances/numbers.h"

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
    flags.text("--start", start_path_, "PLAN", "A plan to begin with; it is never made worse");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (output_ == "-") {
      return console.refuse({kUsage, "--output", "must be a file: stdout has the plan already"});
    }
    Loaded<Instance> instance = load_instance(instance_path_);
    if (!instance.value) return console.refuse(instance.errors);
    Result<SolveOptions> options = solve_.options();
    if (!options) return console.refuse(options.errors().front());
    SolveOptions asked = *std::move(options);
    asked.method = method_;
    if (auto error = check_method(*instance.value, method_, "--method")) {
      return console.refuse(*error);
    }
    if (!start_path_.empty()) {
      if (start_path_ == "-" && instance_path_ == "-") {
        return console.refuse({kUsage, "--start", "stdin is the instance already"});
      }
      Loaded<Plan> start = load_plan(start_path_, *instance.value);
      if (!start.value) return console.refuse(start.errors);
      // Its ids are those of another list, or its times those of another cluster.
      const std::string hash = hash_of(*instance.value);
      if (const std::string& other = plan_hash(*start.value); other != hash) {
        return console.refuse(
            {kUsage, "--start",
             "must be a plan of this instance, " + hash + ", is of " + printable(other)});
      }
      asked.start = std::move(start.value);
    }
    // Before the work, not after it. --output may be --start: that plan is only made better.
    if (auto error = check_output("--output", output_, instance.files)) {
      return console.refuse(*error);
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
    // Until the plan is written: a second signal then still means 130, and the first one costs
    // nothing.
    const InterruptScope interrupt;
    Budget budget(solve_.limits(interrupt.flag()));
    ProgressTable progress(console, objective_unit(instance));
    const Outcome outcome =
        solve(instance, options, budget, [&](const Improvement& i) { progress.add(i); });
    progress.finish();
    OutcomeFrame frame{.instance = &instance,
                       .solver = solver,
                       .seed = options.seed,
                       .timeless = console.settings.timeless,
                       .exit_code = exit_code(outcome)};
    if (!output_.empty() && outcome.plan) {
      if (auto error = write_file(output_, plan_json(*outcome.plan))) {
        // The plan is not lost: the outcome on stdout carries it.
        console.error(error->pointer + ": " + error->message);
        frame.errors.push_back({"", *error});
        frame.exit_code = ExitCode::bad_input;
      }
    }
    report(console, instance, outcome, frame);
    return console.answer(outcome_json(outcome, frame), frame.exit_code);
  }

  void report(Console& console, const Instance& instance, const Outcome& outcome,
              const OutcomeFrame& frame) const {
    const Unit unit = objective_unit(instance);
    for (const NamedBound& bound : outcome.bounds) {
      console.debug("bound     " + bound.name + "  " + with_unit(bound.value, unit));
    }
    std::string line = console.bold(std::string(to_string(outcome.status)));
    if (outcome.objective) line += "  " + with_unit(*outcome.objective, unit);
    if (outcome.status != Status::infeasible && !outcome.bound_by.empty()) {
      line += "  bound " + with_unit(outcome.bound, unit) + " (" + outcome.bound_by + ')';
    }
    if (outcome.plan) line += "  gap " + percent_text(outcome.gap());
    line += "  stopped_by " + std::string(to_string(outcome.stopped_by));
    if (outcome.plan) line += "  verified";
    if (!output_.empty() && outcome.plan && frame.errors.empty()) line += "  plan -> " + output_;
    console.info(line);
    if (outcome.plan) {
      if (const std::string more = plan_detail(*outcome.plan); !more.empty()) {
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
      console.info("detail    " + printable(outcome.detail));
    }
  }

  std::string instance_path_;
  std::string output_;
  std::string method_ = "auto";
  std::string start_path_;
  SolveFlags solve_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_solve_command() { return std::make_unique<SolveCommand>(); }

}  // namespace stowage
