// stowage import: converts another solver's solution of an exported MILP to a plan.
#include <utility>
#include <variant>

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/families/outcome/check_outcome.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/models/exported_model.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/unit.h"
#include "formulations/milp/read_solution.h"
#include "formulations/milp/solution_values.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

class ImportCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "import",
            .arguments = "INSTANCE SOLUTION -o PLAN",
            .summary = "Make a plan of another solver's solution of an exported MILP",
            .examples = {"stowage import instance.json model.sol -o plan.json",
                         "stowage import layout.json layout.sol -o layout-plan.json",
                         "stowage import instance.json model.sol -o -"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_, "The instance that was exported, - for stdin");
    flags.positional("SOLUTION", solution_path_,
                     "A solution file of CBC, GLPK, HiGHS, SCIP or Gurobi, - for stdin");
    flags.text("-o,--output", output_, "PLAN", "Where the plan goes, - for stdout");
    model_flags_.declare(flags);
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (instance_path_ == "-" && solution_path_ == "-") {
      return console.refuse({kUsage, "SOLUTION", "stdin is the instance already"});
    }
    if (output_.empty()) return console.refuse({kUsage, "--output", "is required"});
    Loaded<Instance> loaded = load_instance(instance_path_);
    if (!loaded.value) return console.refuse(loaded.errors);
    const Instance& instance = *loaded.value;
    if (auto error = model_flags_.misplaced(instance)) return console.refuse(*error);
    loaded.files.push_back(solution_path_);
    if (auto error = check_output("--output", output_, loaded.files)) {
      return console.refuse(*error);
    }
    const Result<std::string> text = read_file(solution_path_);
    if (!text) return console.refuse(text.errors().front());
    const Result<milp::SolutionFile> file =
        milp::read_solution(*text, solution_path_ == "-" ? "stdin" : solution_path_);
    if (!file) return console.refuse(errors_in("", file.errors()));
    const ModelAnswer answer = exported_model(instance, model_flags_);
    if (const auto* refusal = std::get_if<ModelRefusal>(&answer)) {
      return console.refuse(refusal->errors, refusal->code);
    }
    const auto& exported = std::get<ExportedModel>(answer);
    if (!exported.plan) {
      return console.refuse({kUsage, "--exact",
                             "must be given to export and to import: solutions of the grouped "
                             "model are no plans"});
    }
    const Result<std::vector<double>> values = milp::values_of(exported.model, *file);
    if (!values) return console.refuse(errors_in("", values.errors()));
    Plan plan = exported.plan(*values);
    std::visit([&](auto& own) { own.instance_hash = hash_of(instance); }, plan);
    if (exported.bound) {
      std::visit([&](auto& own) { state_bound(own, exported.bound->value, exported.bound->name); },
                 plan);
    }
    return judge_and_write(console, instance, plan, *file);
  }

 private:
  ExitCode judge_and_write(Console& console, const Instance& instance, const Plan& plan,
                           const milp::SolutionFile& file) const {
    const Unit unit = objective_unit(instance);
    const std::vector<Violation> violations =
        judge(InstanceAndPlan{instance, plan, std::nullopt, std::nullopt, ""}).violations;
    if (!violations.empty()) {
      std::vector<CliError> errors;
      for (const Violation& violation : violations) {
        errors.push_back({"",
                          {milp::kSolutionValue, solution_path_ == "-" ? "stdin" : solution_path_,
                           "makes a plan that is invalid: " + to_string(violation)}});
      }
      return console.refuse(errors, ExitCode::refused);
    }
    const double objective = plan_objective(plan);
    const double gap = relative_gap(objective, plan_bound(plan));
    console.info("solution  " + file.solver + (file.status.empty() ? "" : ", " + file.status) +
                 "   " + counted(static_cast<std::int64_t>(file.values.size()), "value"));
    console.verdict("plan", "      " + with_unit(objective, unit) + "  bound " +
                                with_unit(plan_bound(plan), unit) + " (" + plan_bound_by(plan) +
                                ")  gap " + percent_text(gap) + "  verified" +
                                (output_ == "-" ? "" : "  -> " + output_));
    if (output_ == "-") return console.answer(plan_json(plan), ExitCode::ok);
    if (auto error = write_file(output_, plan_json(plan))) return console.refuse(*error);
    JsonWriter json;
    json.begin_object();
    write_head(json, "stowage/import", family_name(instance), instance_name(instance));
    json.integer("exit_code", to_int(ExitCode::ok));
    json.text("file", output_);
    json.text("solver", file.solver);
    json.text("solver_status", file.status);
    write_number(json, "solver_objective", file.objective);
    write_amount(json, "objective", objective, unit);
    write_amount(json, "bound", plan_bound(plan), unit);
    json.text("bound_by", plan_bound_by(plan));
    json.number("gap", gap);
    json.end_object();
    return console.answer(json.take(), ExitCode::ok);
  }

  std::string instance_path_;
  std::string solution_path_;
  std::string output_;
  ModelFlags model_flags_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_import_command() { return std::make_unique<ImportCommand>(); }

}  // namespace stowage
