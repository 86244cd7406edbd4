// stowage explain: the bottlenecks of a plan and possible remedies, or the reasons why no plan
// exists.
#include "solvers/explain/explain.h"

#include <algorithm>
#include <cmath>

#include "cli/answers/explanation_json.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/status_line.h"
#include "instances/families.h"
#include "instances/numeric/numbers.h"
#include "instances/verify.h"

namespace stowage {
namespace {

constexpr double kSeconds = 2;       // limit of each solve in seconds, unless -t is given
constexpr std::size_t kListed = 12;  // number of bottlenecks that are printed

class ExplainCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "explain",
            .arguments = "INSTANCE [PLAN]",
            .summary = "Say what limits a plan and what changes would gain, or why there is none",
            .examples = {"stowage explain instance.json -t 0.5",
                         "stowage explain instance.json plan.json -t 0.5",
                         "stowage explain strategy.json --configuration "
                         "pp=2,tp=4,zero=1,recompute=full,micro_batch_size=1"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_, "The instance, - for stdin");
    flags.positional(
        "PLAN", plan_path_,
        "The plan to explain, or an outcome with one; default the plan that solving finds", false);
    flags.text("--configuration", stated_, "LIST",
               "Instead of PLAN, of a strategy: pp=4,tp=8,zero=1,recompute=full,"
               "micro_batch_size=2 and the like");
    solve_.declare(flags, "Wall clock of each solve; default 2");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    const Result<SolveOptions> options = solve_.options();
    if (!options) return console.refuse(options.errors().front());
    if (!stated_.empty() && !plan_path_.empty()) {
      return console.refuse({kUsage, "--configuration", "has no effect with PLAN"});
    }
    std::optional<Plan> plan;
    Instance instance;
    std::vector<Violation> violations;
    if (plan_path_.empty() && stated_.empty()) {
      Loaded<Instance> loaded = load_instance(instance_path_);
      if (!loaded.value) return console.refuse(loaded.errors);
      instance = *std::move(loaded.value);
    } else {
      Loaded<InstanceAndPlan> both = stated_.empty()
                                         ? load_both(instance_path_, plan_path_)
                                         : with_stated(load_instance(instance_path_),
                                                       instance_path_, "--configuration", stated_);
      if (!both.value) return console.refuse(both.errors);
      if (allow_stated(*both.value)) {
        console.info(
            "options   the values of the configuration were added to those of the "
            "instance");
      }
      instance = std::move(both.value->instance);
      plan = std::move(both.value->plan);
      violations = verify(instance, *plan);
      for (const Violation& violation : violations) {
        console.finding("violation " + to_string(violation));
      }
      // A configuration that does not fit in memory still has prices.
      const bool priced = std::holds_alternative<StrategyInstance>(instance) &&
                          std::ranges::all_of(violations, [](const Violation& violation) {
                            return violation.rule == "memory";
                          });
      if (!violations.empty() && !priced) {
        return console.refuse({kUsage, stated_.empty() ? "PLAN" : "--configuration",
                               "the plan is invalid: " + to_string(violations.front())},
                              ExitCode::refused);
      }
    }
    console.info(instance_line(instance));
    const InterruptScope interrupt;
    const Budget::Limits each = solve_.limits(interrupt.flag());
    Budget budget({.interrupt = each.interrupt});
    StatusLine status(console);
    const Explanation explanation =
        explain(instance, plan,
                {.solve = *options,
                 .seconds = std::isfinite(each.time_limit_s) ? each.time_limit_s : kSeconds,
                 .nodes = each.node_limit},
                budget, [&](const std::string& what) {
                  status.tell("work      " + what);
                  console.debug("work      " + what);
                });
    const bool refused = explanation.outcome.status == Status::infeasible || !violations.empty();
    const ExitCode code = refused                 ? ExitCode::refused
                          : explanation.objective ? ExitCode::ok
                                                  : ExitCode::unknown;
    tell(console, instance, explanation, violations.empty());
    return console.answer(explanation_json(instance, explanation, violations, code), code);
  }

 private:
  static void tell(Console& console, const Instance& instance, const Explanation& explanation,
                   bool valid) {
    const Unit unit = objective_unit(instance);
    const Outcome& outcome = explanation.outcome;
    if (outcome.status == Status::infeasible) return tell_conflict(console, explanation, unit);
    if (!explanation.objective) {
      console.info("unknown   no plan was found and none was refuted: allow more with -t");
      return;
    }
    const double objective = *explanation.objective;
    console.verdict(
        valid ? to_string(explanation.status) : "invalid",
        "  " + with_unit(objective, unit) + "  bound " + with_unit(outcome.bound, unit) + " (" +
            outcome.bound_by + ')' +
            (valid ? "  gap " + percent_text(relative_gap(objective, outcome.bound)) : ""));
    const std::vector<Finding>& parts = explanation.binding.parts;
    for (std::size_t k = 0; k < std::min(parts.size(), kListed); ++k) {
      console.info("binds     " + parts[k].where + ": " + parts[k].text);
    }
    if (parts.size() > kListed) {
      console.info("          and " + grouped(static_cast<std::int64_t>(parts.size() - kListed)) +
                   " more in the JSON");
    }
    for (const NamedBound& bound : outcome.bounds) {
      console.info("bound     " + bound.name + "  " + with_unit(bound.value, unit));
    }
    tell_moves(console, explanation.binding.moves, unit);
    for (const Finding& assumed : explanation.binding.assumptions) {
      console.info("rests on  " + assumed.where + ": " + assumed.text);
    }
    for (const WhatIf& what : explanation.what_if) {
      tell_what_if(console, what, *explanation.objective, unit);
    }
  }

  static void tell_conflict(Console& console, const Explanation& explanation, const Unit& unit) {
    console.verdict("infeasible", std::string("  these cannot be met together") +
                                      (explanation.conflict.irreducible
                                           ? ", and without any one of them the rest can"
                                           : " (perhaps not all of them are needed)"));
    for (const Finding& cause : explanation.conflict.causes) {
      console.info("cause     " + cause.where + ": " + cause.text);
    }
    for (const Remedy& remedy : explanation.remedies) {
      console.info("remedy    " + remedy.change.text + ": gives a plan of " +
                   with_unit(remedy.objective, unit));
    }
  }

  static void tell_moves(Console& console, const Moves& moves, const Unit& unit) {
    if (moves.tried == 0) return;
    const std::string count = (moves.all ? "" : "the first ") + grouped(moves.tried);
    if (moves.best_text.empty()) {
      console.info("moves     none of " + count + " single moves and exchanges helps");
    } else {
      console.info("moves     of " + count + ", the best gains " +
                   with_unit(moves.best_gain, unit) + ": " + moves.best_text);
    }
  }

  static void tell_what_if(Console& console, const WhatIf& what, double objective,
                           const Unit& unit) {
    if (!what.objective) {
      console.info(
          "what if   " + what.text +
          (what.status == Status::infeasible ? ": no plan exists" : ": no plan within the limits"));
      return;
    }
    const double gain = objective - *what.objective;
    std::string line = "what if   " + what.text + ": " + with_unit(*what.objective, unit) + ", ";
    line += gain > 0 ? "saves " + with_unit(gain, unit) + " (" +
                           percent_text(gain / std::max(objective, 1e-300)) + ")"
            : what.where.empty() ? std::string("finds nothing better in its time")
                                 : std::string("saves nothing that was found in its time");
    console.info(line + "; no plan saves more than " +
                 with_unit(std::max(objective - what.bound, 0.0), unit));
  }

  std::string instance_path_;
  std::string plan_path_;
  std::string stated_;
  SolveFlags solve_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace stowage
