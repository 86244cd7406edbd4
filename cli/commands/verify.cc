// stowage verify: checks whether the plan is valid for the instance and its claims are true.
#include "instances/strategy/verify/verify.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/families/outcome/check_outcome.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "instances/families.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/trainers.h"
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
            .examples = {"stowage verify instance.json outcome.json",
                         "stowage verify instance.json outcome.json --strict --log-level error",
                         "stowage verify strategy.json --configuration "
                         "pp=2,tp=4,zero=1,recompute=full,micro_batch_size=1"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_, "The instance, - for stdin");
    flags.positional("PLAN", plan_path_,
                     "The plan, or an outcome: with a plan, or that says there is none; - for "
                     "stdin. Not with --configuration",
                     false);
    flags.text("--configuration", stated_, "LIST",
               "Instead of PLAN, of a strategy: pp=4,tp=8,zero=1,recompute=full,"
               "micro_batch_size=2 and the like");
    const std::vector<std::string_view> trainers = strategy_trainers();
    flags.choice("--trainer", trainer_, {trainers.begin(), trainers.end()},
                 "Of a strategy: also refuse what this trainer refuses. The plan is one of the "
                 "instance, or of what solve --trainer leaves of it");
    flags.toggle("--strict", strict_,
                 "A bound that is not proven here, as a backend's, ends with exit code 1");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (auto error = needs_one_of(plan_path_, stated_)) return console.refuse(*error);
    if (!stated_.empty()) {
      Loaded<InstanceAndPlan> both =
          with_stated(load_instance(instance_path_), instance_path_, "--configuration", stated_);
      return both.value ? report_for_trainer(console, *both.value) : console.refuse(both.errors);
    }
    Loaded<Answer> answer = load_answer(instance_path_, plan_path_);
    if (!answer.value) return console.refuse(answer.errors);
    return std::visit([&](auto& any) { return report_for_trainer(console, any); }, *answer.value);
  }

 private:
  static std::optional<InputError> needs_one_of(const std::string& plan,
                                                const std::string& stated) {
    if (plan.empty() && stated.empty()) {
      return InputError{kUsage, "PLAN", "is missing (see stowage verify --help)"};
    }
    if (!plan.empty() && !stated.empty()) {
      return InputError{kUsage, "--configuration", "has no effect with PLAN"};
    }
    return std::nullopt;
  }

  // Of a plan, or of the answer that there is none, with what the trainer refuses.
  template <class Answered>
  ExitCode report_for_trainer(Console& console, Answered& answered) const {
    if (trainer_.empty()) return report(console, answered);
    if (const auto error = not_of(answered.instance, "strategy")) {
      return console.refuse({kUsage, "--trainer", error->message});
    }
    auto& instance = std::get<StrategyInstance>(answered.instance);
    const Result<TrainerOptions> narrowed = options_for(instance, trainer_);
    if (!narrowed) return console.refuse(errors_in(instance_path_, narrowed.errors()));
    for (const std::string& rule : narrowed->rules) console.info("trainer   " + rule);
    StrategyInstance its = instance;
    its.options = narrowed->options;
    std::vector<Violation> refused;
    if constexpr (std::is_same_v<Answered, InstanceAndPlan>) {
      const auto& plan = std::get<StrategyPlan>(answered.plan);
      if (plan.instance_hash == instance_hash(instance)) {
        refused = refused_of(its, instance, plan);
      } else {
        instance = std::move(its);
      }
    } else {
      instance = std::move(its);
    }
    return report(console, answered, std::move(refused));
  }

  // What breaks the rule `options` in what the trainer leaves of the instance, and not in all of
  // it.
  static std::vector<Violation> refused_of(const StrategyInstance& left,
                                           const StrategyInstance& all, const StrategyPlan& plan) {
    const std::vector<Violation> before = verify(all, plan);
    std::vector<Violation> refused;
    for (Violation& violation : verify(left, plan)) {
      const bool own =
          violation.rule == "options" && std::ranges::find(before, violation) == before.end();
      if (own) refused.push_back(std::move(violation));
    }
    return refused;
  }

  ExitCode report(Console& console, const InstanceAndPlan& both,
                  std::vector<Violation> refused = {}) const {
    const Plan& plan = both.plan;
    CheckedOutcome judgement = judge(both);
    judgement.violations.insert(judgement.violations.end(), refused.begin(), refused.end());
    const auto& [violations, proven, shown] = judgement;
    const bool valid = violations.empty();
    const ExitCode code = code_of(valid, judgement.is_proven());
    const double objective = plan_objective(plan);
    const Unit unit = objective_unit(both.instance);

    introduce(console, both.instance, violations);
    // For an invalid plan the number of parts and the gap have no meaning.
    if (const std::string more = plan_detail(plan); valid && !more.empty()) {
      console.info("plan      " + more);
    }
    if (valid && shown.claimed) {
      console.warn("the bound " + with_unit(plan_bound(plan), unit) + " by " + plan_bound_by(plan) +
                   " is claimed and not proven here: no certificate of it is at hand");
    }
    // Only a bound that is proven here counts; the plan's claimed bound may be false.
    std::string proof;
    if (proven) {
      proof = "  proven bound " + with_unit(proven->value, unit) + " (" + proven->name + ')';
      if (valid) proof += "  gap " + percent_text(relative_gap(objective, proven->value));
    }
    const std::vector<std::string> unchecked =
        both.claims ? both.claims->unchecked : std::vector<std::string>();
    mention(console, unchecked);
    conclude(console, violations, with_unit(objective, unit) + proof);

    JsonWriter json;
    begin_verdict(json, both.instance, valid, judgement.is_proven(), code);
    write_amount(json, "objective", objective, unit);
    if (proven) {
      write_amount(json, "bound", proven->value, unit);
      json.text("bound_by", proven->name);
      if (valid) json.number("gap", relative_gap(objective, proven->value));
    }
    write_amount(json, "claimed_bound", plan_bound(plan), unit);
    json.text("claimed_bound_by", plan_bound_by(plan));
    json.number("claimed_gap", relative_gap(objective, plan_bound(plan)));
    if (both.claims) write_unchecked(json, unchecked);
    write_violations(json, violations);
    json.end_object();
    return console.answer(json.take(), code);
  }

  ExitCode report(Console& console, const InfeasibleAnswer& answer,
                  const std::vector<Violation>& /*refused*/ = {}) const {
    const auto [violations, proven, by] = judge(answer);
    const bool valid = violations.empty();
    const ExitCode code = code_of(valid, proven);
    introduce(console, answer.instance, violations);
    if (valid && !proven) {
      console.warn(
          "that there is no plan is claimed and not proven here: the outcome has no "
          "certificate of it");
    }
    mention(console, answer.claims.unchecked);
    conclude(console, violations, proven ? "infeasible, proven by " + by : "infeasible as claimed");

    JsonWriter json;
    begin_verdict(json, answer.instance, valid, proven, code);
    json.text("infeasible_by", by);
    write_unchecked(json, answer.claims.unchecked);
    write_violations(json, violations);
    json.end_object();
    return console.answer(json.take(), code);
  }

  ExitCode code_of(bool valid, bool proven) const {
    return valid && (proven || !strict_) ? ExitCode::ok : ExitCode::refused;
  }

  static void introduce(Console& console, const Instance& instance,
                        const std::vector<Violation>& violations) {
    console.info(instance_line(instance));
    for (const Violation& violation : violations)
      console.finding("violation " + to_string(violation));
  }

  // Prints the members of an outcome that were not checked.
  static void mention(Console& console, const std::vector<std::string>& unchecked) {
    std::string list;
    for (const std::string& member : unchecked) {
      list += (list.empty() ? "" : ", ") + member;
    }
    if (!list.empty()) console.info("unchecked " + list + ": they prove nothing");
  }

  static void write_unchecked(JsonWriter& json, const std::vector<std::string>& unchecked) {
    json.key("unchecked");
    json.begin_array(kOneLine);
    for (const std::string& member : unchecked) json.text(member);
    json.end_array();
  }

  static void conclude(Console& console, const std::vector<Violation>& violations,
                       const std::string& what) {
    std::int64_t broken = 0;
    for (const Violation& violation : violations) broken += violation.count;
    console.verdict(
        violations.empty() ? "valid" : "invalid",
        "  " + what + "  " + grouped(broken) + (broken == 1 ? " violation" : " violations"));
  }

  static void begin_verdict(JsonWriter& json, const Instance& instance, bool valid, bool proven,
                            ExitCode code) {
    json.begin_object();
    write_head(json, "stowage/verdict", family_name(instance), instance_name(instance));
    json.boolean("valid", valid);
    json.boolean("proven", proven);
    json.integer("exit_code", to_int(code));
  }

  std::string instance_path_;
  std::string plan_path_;
  std::string stated_;
  std::string trainer_;
  bool strict_ = false;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_verify_command() { return std::make_unique<VerifyCommand>(); }

}  // namespace stowage
