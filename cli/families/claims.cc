#include "cli/families/claims.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "cli/families/answer_reader.h"
#include "cli/families/families.h"
#include "instances/json/text.h"
#include "instances/numbers.h"
#include "solvers/outcome.h"

namespace stowage {
namespace {

constexpr std::array<std::string_view, 4> kRules = {"outcome_status", "outcome_objective",
                                                    "outcome_bound", "outcome_gap"};
// Numbers may have passed through a tool that rounds them.
constexpr double kRounding = 1e-9;

// Relative to the larger of both, and to `least` where that is more.
bool close(double have, double need, double least) {
  return std::abs(have - need) <= kRounding * std::max({least, std::abs(have), std::abs(need)});
}

}  // namespace

Result<std::optional<OutcomeClaims>> read_outcome_claims(std::string_view text, const Unit& unit) {
  const std::string in_unit = '_' + std::string(unit.name);
  const std::string objective = "objective" + in_unit;
  const std::string bound = "bound" + in_unit;
  ErrorList errors;
  const std::optional<JsonValue> document =
      parse_json_head(text, {"format", "status", objective, bound, "gap"}, errors);
  if (!document) return std::move(errors).take();
  const JsonPath root;
  const AnswerReader outcome(*document, root, errors);
  if (outcome.text("format") != "stowage/outcome") return std::optional<OutcomeClaims>();
  OutcomeClaims claims{.status = outcome.text("status"),
                       .objective = outcome.number(objective),
                       .bound = outcome.number(bound),
                       .gap = outcome.number("gap")};
  if (!errors.empty()) return std::move(errors).take();
  return std::optional(std::move(claims));
}

std::vector<std::string_view> outcome_rules() { return {kRules.begin(), kRules.end()}; }

void check_claims(const OutcomeClaims& claims, const Plan& plan, const Unit& unit,
                  std::vector<Violation>& violations) {
  const auto broken = [&](std::size_t rule, std::string where, std::string have, std::string need) {
    violations.push_back(
        {std::string(kRules[rule]), std::move(where), std::move(have), std::move(need)});
  };
  const double gap = relative_gap(plan_objective(plan), plan_bound(plan));
  const bool closed = gap <= kOptimalityGap;
  if (claims.status != "feasible" && !(claims.status == "optimal" && closed)) {
    broken(0, "/status", in_quotes(claims.status),
           closed ? "optimal or feasible" : "feasible by the plan's own bound");
  }
  const auto compare = [&](std::size_t rule, const std::string& where, std::optional<double> have,
                           double need, double least = 0) {
    if (have && !close(*have, need, least)) broken(rule, where, shortest(*have), shortest(need));
  };
  const std::string in_unit = '_' + std::string(unit.name);
  compare(1, "/objective" + in_unit, claims.objective, plan_objective(plan));
  compare(2, "/bound" + in_unit, claims.bound, plan_bound(plan));
  compare(3, "/gap", claims.gap, gap, 1);  // a difference of amounts
}

}  // namespace stowage
