// stowage verify: is the plan valid for the instance, and is what it says true?
#include <cmath>

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "cli/families/judge.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "instances/families.h"
#include "instances/numbers.h"
#include "solvers/outcome.h"

namespace stowage {
namespace {

class VerifyCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "verify",
            .arguments = "INSTANCE PLAN",
            .summary =
                "Check a plan and its bound with code that no planner shares; list every violation",
            .examples = {"stowage verify instance.json plan.json",
                         "stowage verify instance.json outcome.json",
                         "stowage verify instance.json plan.json --log-level error"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_, "The instance, - for stdin");
    flags.positional("PLAN", plan_path_, "The plan, or an outcome with a plan in it, - for stdin");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    const Loaded<InstanceAndPlan> both = load_both(instance_path_, plan_path_);
    if (!both.value) return console.refuse(both.errors);
    return report(console, *both.value);
  }

 private:
  ExitCode report(Console& console, const InstanceAndPlan& both) const {
    const Instance& instance = both.instance;
    const Plan& plan = both.plan;
    const auto [violations, proven, shown] = judge(both);
    const bool valid = violations.empty();
    const ExitCode code = valid ? ExitCode::ok : ExitCode::refused;
    const double objective = plan_objective(plan);
    const Unit unit = objective_unit(instance);

    console.info("instance  " + std::string(family_name(instance)) + "  " +
                 printable(instance_name(instance)) + "   " + instance_size(instance));
    for (const Violation& violation : violations)
      console.finding("violation " + to_string(violation));
    if (proven && shown.claimed) compare_bounds(console, instance, plan, *proven, unit);
    if (const std::string more = plan_detail(plan); !more.empty()) {
      console.info("plan      " + more);
    }
    // What counts is what is proven here; what the plan claims may be anybody's word.
    std::string proof;
    if (proven) {
      proof = "  bound " + with_unit(proven->value, unit) + " (" + proven->name + ")  gap " +
              percent_text(relative_gap(objective, proven->value));
    }
    std::int64_t broken = 0;
    for (const Violation& violation : violations) broken += violation.count;
    console.info(console.bold(valid ? "valid" : "invalid") + "  " + with_unit(objective, unit) +
                 proof + "  " + grouped(broken) + (broken == 1 ? " violation" : " violations"));

    JsonWriter json;
    json.begin_object();
    write_head(json, "stowage/verdict", family_name(instance), instance_name(instance));
    json.boolean("valid", valid);
    json.integer("exit_code", to_int(code));
    write_amount(json, "objective", objective, unit);
    if (proven) {
      write_amount(json, "bound", proven->value, unit);
      json.text("bound_by", proven->name);
      json.number("gap", relative_gap(objective, proven->value));
    }
    write_amount(json, "claimed_bound", plan_bound(plan), unit);
    json.text("claimed_bound_by", plan_bound_by(plan));
    json.number("claimed_gap", relative_gap(objective, plan_bound(plan)));
    write_violations(json, violations);
    json.end_object();
    return console.answer(json.take(), code);
  }

  // A bound that cannot be recomputed here is not wrong: its certificate is not at hand, or it is a
  // MILP's and has none. One that can be and is not what it says deserves a warning, though no rule
  // is broken.
  static void compare_bounds(Console& console, const Instance& instance, const Plan& plan,
                             const NamedBound& proven, const Unit& unit) {
    const double claimed = plan_bound(plan);
    const std::string here =
        "what is proven here is " + with_unit(proven.value, unit) + " (" + proven.name + ')';
    if (is_closed_form(instance, plan_bound_by(plan))) {
      console.warn("the plan claims " + with_unit(claimed, unit) + " by " +
                   printable(plan_bound_by(plan)) + ", but " + here);
    } else {
      console.info("bound     " + with_unit(claimed, unit) + " by " +
                   printable(plan_bound_by(plan)) + " is not recomputed here; " + here);
    }
  }

  std::string instance_path_;
  std::string plan_path_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_verify_command() { return std::make_unique<VerifyCommand>(); }

}  // namespace stowage
