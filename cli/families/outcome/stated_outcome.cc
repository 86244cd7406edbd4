#include "cli/families/outcome/stated_outcome.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>

#include "cli/families/families.h"
#include "instances/json/text.h"
#include "instances/numeric/numbers.h"
#include "instances/proof/plan_claims.h"
#include "solvers/outcome.h"

namespace stowage {
namespace {

enum Rule : std::size_t {
  kStatus,
  kObjective,
  kBound,
  kGap,
  kBounds,
  kImprovements,
  kExitCode,
  kUnplaceable,
  kViolations,
  kName,
  kLayout,
  kRates,
  kSimulated,
};
constexpr std::array<std::string_view, 13> kRules = {
    "outcome_status",     "outcome_objective",    "outcome_bound",     "outcome_gap",
    "outcome_bounds",     "outcome_improvements", "outcome_exit_code", "outcome_unplaceable",
    "outcome_violations", "outcome_name",         kLayoutRule,         "outcome_rates",
    "outcome_simulated"};
// Tolerance for numbers, since other tools may have rounded them; integers must be exact.
constexpr double kRounding = 1e-9;

// Compares with a tolerance relative to the largest of both values and `least`.
bool close(double have, double need, double least = 0, double rounding = kRounding) {
  if (!std::isfinite(have) || !std::isfinite(need)) return have == need;
  return std::abs(have - need) <= rounding * std::max({least, std::abs(have), std::abs(need)});
}

bool above(double have, double most, double rounding = kRounding) {
  return have > most && !close(have, most, 0, rounding);
}

class ClaimCheck {
 public:
  ClaimCheck(const StatedOutcome& claims, const Unit& unit, std::vector<Violation>& violations)
      : claims_(claims),
        in_unit_('_' + std::string(unit.name)),
        rounding_(unit.integral ? 0 : kRounding),
        violations_(violations) {}

  bool without_layout() const { return claims_.layout && claims_.layout->plan.empty(); }

  void exit_code(std::int64_t need) {
    if (!claims_.exit_code || *claims_.exit_code == need) return;
    broken(kExitCode, "/exit_code", text(*claims_.exit_code), text(need));
  }

  void agree_with(const Plan& plan, double proof_gap) {
    objective_ = plan_objective(plan);
    bound_ = plan_bound(plan);
    const double gap = relative_gap(objective_, bound_);
    status(gap <= proof_gap);
    compare(kObjective, "/objective" + in_unit_, claims_.objective, objective_, 0, rounding_);
    compare(kBound, "/bound" + in_unit_, claims_.bound, bound_, 0, rounding_);
    if (claims_.bound_by && *claims_.bound_by != plan_bound_by(plan)) {
      broken(kBound, "/bound_by", in_quotes(*claims_.bound_by),
             in_quotes(plan_bound_by(plan)) + " like the plan's");
    }
    compare(kGap, "/gap", claims_.gap, gap, 1, kRounding);  // the gap is a difference of amounts
    bounds(plan_bound_by(plan));
    improvements();
    exit_code(claims_.errors ? 2 : without_layout() ? 3 : 0);
    if (!claims_.unplaceable.empty()) {
      broken(kUnplaceable, "/unplaceable", text(claims_.unplaceable.size()) + " sequences",
             "none beside a plan");
    }
    if (claims_.infeasibility) {
      broken(kStatus, "/infeasibility", "a reason why there is no plan", "none beside a plan");
    }
    if (claims_.remedy && !claims_.remedy->empty()) {
      broken(kStatus, "/remedy", in_quotes(*claims_.remedy), "none beside a plan");
    }
    candidates();
    rates();
    simulated(plan_simulated(plan));
    const std::string& name = std::visit(
        [](const auto& p) -> auto& { return p.name; }, plan);
    if (claims_.name && *claims_.name != name) {
      broken(kName, "/name", in_quotes(*claims_.name), in_quotes(name) + " like the plan's");
    }
    if (claims_.method_bound && above(*claims_.method_bound, objective_ * (1 + kBoundTolerance))) {
      broken(kBounds, "/method_bound" + in_unit_, shortest(*claims_.method_bound),
             "at most the objective, " + shortest(objective_));
    }
  }

  void be_infeasible() {
    if (claims_.status != "infeasible") {
      broken(kStatus, "/status", in_quotes(claims_.status), "infeasible without a plan");
    }
    if (claims_.stopped_by && *claims_.stopped_by != "proof") {
      broken(kStatus, "/stopped_by", in_quotes(*claims_.stopped_by), "proof");
    }
    if (claims_.objective) {
      broken(kObjective, "/objective" + in_unit_, shortest(*claims_.objective), "null");
    }
    if (claims_.gap) broken(kGap, "/gap", shortest(*claims_.gap), "null");
    if (claims_.found_by && !claims_.found_by->empty()) {
      broken(kStatus, "/found_by", in_quotes(*claims_.found_by), "\"\" without a plan");
    }
    if (claims_.bound) {
      // Without a plan every bound is valid, so the objective is infinite.
      objective_ = kNoLimit;
      bound_ = *claims_.bound;
      bounds(claims_.bound_by.value_or(""));
      improvements();
    }
    exit_code(1);
    if (claims_.layout) broken(kLayout, "/layout", "a layout", "none without a plan");
    const bool listed = claims_.infeasibility && claims_.infeasibility->by == "sequences";
    if (claims_.infeasibility && claims_.unplaceable != (listed ? claims_.infeasibility->witnesses
                                                                : std::vector<std::int64_t>())) {
      broken(kUnplaceable, "/unplaceable", text(claims_.unplaceable.size()) + " sequences",
             "the witnesses");
    }
    candidates();
    rates();
  }

 private:
  static std::string text(auto number) { return std::to_string(number); }

  void broken(Rule rule, std::string where, std::string have, std::string need) {
    violations_.push_back(
        {std::string(kRules[rule]), std::move(where), std::move(have), std::move(need)});
  }

  void compare(Rule rule, const std::string& where, std::optional<double> have, double need,
               double least, double rounding) {
    if (have && !close(*have, need, least, rounding))
      broken(rule, where, shortest(*have), shortest(need));
  }

  void status(bool closed) {
    if (claims_.status != "feasible" && !(claims_.status == "optimal" && closed)) {
      broken(kStatus, "/status", in_quotes(claims_.status),
             closed ? "optimal or feasible" : "feasible by the plan's own bound");
    }
    if (claims_.stopped_by && (*claims_.stopped_by == "proof") != (claims_.status == "optimal")) {
      broken(kStatus, "/stopped_by", in_quotes(*claims_.stopped_by),
             claims_.status == "optimal" ? "proof" : "a limit, the gap or the end of the search");
    }
  }

  // The stated bound must be the best of the listed bounds.
  void bounds(const std::string& by) {
    if (!claims_.bounds) return;
    std::set<std::string> names;
    bool found = bound_ == 0;
    for (std::size_t k = 0; k < claims_.bounds->size(); ++k) {
      const StatedBound& each = (*claims_.bounds)[k];
      const std::string where = "/bounds/" + text(k);
      if (!names.insert(each.name).second) {
        broken(kBounds, where + "/name", in_quotes(each.name), "another than those before");
      }
      if (!each.value) continue;
      // Rounding may put a bound that equals the optimum slightly above it.
      if (above(*each.value, objective_ * (1 + kBoundTolerance)) ||
          above(std::min(*each.value, objective_), bound_)) {
        broken(kBounds, where + "/value" + in_unit_, shortest(*each.value),
               "at most the bound, " + shortest(bound_));
      }
      found = found || (each.name == by && close(std::min(*each.value, objective_), bound_));
    }
    if (!found) {
      broken(kBounds, "/bounds", "no bound " + in_quotes(by) + " of " + shortest(bound_),
             "the one that the outcome states");
    }
  }

  void improvements() {
    if (!claims_.improvements) return;
    const bool has_plan = objective_ < kNoLimit;
    StatedImprovement last{.seconds = 0, .bound = 0};
    std::string finder;
    // A plan that was chosen by its simulated time may have a higher objective than plans before.
    const bool chosen =
        !claims_.improvements->empty() && claims_.improvements->back().source == "C";
    for (std::size_t k = 0; k < claims_.improvements->size(); ++k) {
      const StatedImprovement& each = (*claims_.improvements)[k];
      const std::string where = "/improvements/" + text(k);
      const auto grows = [&](const std::string& key, double have, double least, double most,
                             double rounding = kRounding) {
        if (!above(least, have, rounding) && !above(have, most, rounding)) return;
        broken(kImprovements, where + key, shortest(have),
               "from " + shortest(least) + " to " + shortest(most));
      };
      if (each.seconds) grows("/seconds", *each.seconds, *last.seconds, seconds());
      grows("/nodes", static_cast<double>(each.nodes), static_cast<double>(last.nodes), nodes());
      const double objective = each.objective.value_or(kNoLimit);
      if (each.objective && !has_plan) {
        broken(kImprovements, where + "/objective" + in_unit_, shortest(*each.objective),
               "null: there is no plan");
        continue;
      }
      const bool choice = chosen && k + 1 == claims_.improvements->size();
      grows("/objective" + in_unit_, objective, chosen && !choice ? 0 : objective_,
            choice ? objective_ : last.objective.value_or(kNoLimit), rounding_);
      // Rounding may put a bound that equals the optimum slightly above it.
      const double stated = each.bound.value_or(0);
      const bool false_bound = above(stated, objective_ * (1 + kBoundTolerance));
      const double bound = std::min(stated, objective_);
      grows("/bound" + in_unit_, false_bound ? stated : bound, *last.bound, bound_);
      last = {.seconds = each.seconds.value_or(*last.seconds),
              .bound = bound,
              .objective = each.objective ? each.objective : last.objective,
              .nodes = each.nodes};
      if (each.source != "B") finder = each.by;
    }
    const double reached = *last.bound;
    if (!has_plan) {
      if (close(reached, bound_)) return;
      broken(kImprovements, "/improvements", "an end at bound " + shortest(reached),
             "bound " + shortest(bound_));
    } else if (!last.objective || !close(*last.objective, objective_) || !close(reached, bound_)) {
      broken(kImprovements, "/improvements",
             "an end at " + (last.objective ? shortest(*last.objective) : "no plan") +
                 " and bound " + shortest(reached),
             shortest(objective_) + " and bound " + shortest(bound_));
    } else if (claims_.found_by && *claims_.found_by != finder) {
      broken(kImprovements, "/found_by", in_quotes(*claims_.found_by),
             in_quotes(finder) + ", who found the last plan");
    }
  }

  // Candidates that failed verification must be mentioned in the detail.
  void candidates() {
    if (claims_.violated.empty() || !claims_.detail || !claims_.detail->empty()) return;
    broken(kViolations, "/violations", text(claims_.violated.size()) + " of them",
           "no rejected candidate, or a detail that names it");
  }

  void rates() {
    if (!claims_.rates) return;
    const StatedRates& its = *claims_.rates;
    if (its.source != its.known_source) {
      broken(kRates, "/rates/source", in_quotes(its.source),
             in_quotes(its.known_source) + " like the instance's");
    }
    if (its.stack != its.known_stack) {
      broken(kRates, "/rates/stack", in_quotes(its.stack),
             in_quotes(its.known_stack) + " like the instance's");
    }
  }

  void simulated(std::optional<double> end) {
    if (end) compare(kSimulated, "/simulated_1f1b_ms", claims_.simulated, *end, 0, kRounding);
    const std::optional<double> bound = claims_.simulated_bound;
    if (bound && above(*bound, *claims_.known_simulated_bound)) {
      broken(kSimulated, "/simulated_bound_ms", shortest(*bound),
             "at most " + shortest(*claims_.known_simulated_bound));
    }
    if (!claims_.simulated || !bound) return;
    compare(kSimulated, "/simulated_gap", claims_.simulated_gap,
            relative_gap(*claims_.simulated, *bound), 1, kRounding);
  }

  double seconds() const { return claims_.seconds.value_or(kNoLimit); }
  double nodes() const { return claims_.nodes ? static_cast<double>(*claims_.nodes) : kNoLimit; }

  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  const StatedOutcome& claims_;
  std::string in_unit_;
  double rounding_;  // absolute rounding error of amounts in this unit
  std::vector<Violation>& violations_;
  double objective_ = 0;
  double bound_ = 0;
};

}  // namespace

std::vector<std::string_view> outcome_rules() { return {kRules.begin(), kRules.end()}; }

void check_claims(const StatedOutcome& claims, const Plan& plan, const Unit& unit,
                  std::vector<Violation>& violations) {
  ClaimCheck(claims, unit, violations).agree_with(plan, unit.integral ? 0 : kOptimalityGap);
}

void check_infeasible_claims(const StatedOutcome& claims, const Unit& unit,
                             std::vector<Violation>& violations) {
  ClaimCheck(claims, unit, violations).be_infeasible();
}

}  // namespace stowage
