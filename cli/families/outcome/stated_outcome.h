// Checks that the members of a stowage/outcome agree with its plan and with each other.
// check_outcome.h checks whether a bound is true.
//
//   Result<std::optional<StatedOutcome>> claims = read_outcome_claims(text, instance);
//   if (*claims) check_claims(**claims, plan, kMs, violations);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/unit.h"
#include "instances/families.h"
#include "instances/proof.h"
#include "instances/result.h"
#include "instances/units.h"
#include "instances/violation.h"

namespace stowage {

struct StatedImprovement {
  std::optional<double> seconds;
  std::optional<double> bound;
  std::optional<double> objective;
  std::int64_t nodes = 0;
  std::string source;
  std::string by;
};

struct StatedBound {
  std::string name;
  std::optional<double> value;
};

// The claimed layout of an order.
struct StatedLayout {
  std::optional<Bytes> needed_bytes;
  std::string plan;  // the layout's document; empty if no layout within the capacity was found
};

// The sources of a strategy's rates in the outcome and in the instance.
struct StatedRates {
  std::string source;
  std::string stack;
  std::string known_source;
  std::string known_stack;
};

// Each optional is nullopt if its key is missing or null.
struct StatedOutcome {
  std::string status;
  std::optional<double> objective;
  std::optional<double> bound;
  std::optional<double> gap;
  std::optional<std::string> name;
  std::optional<std::string> stopped_by;
  std::optional<std::string> bound_by;
  std::optional<std::string> found_by;
  std::optional<double> method_bound;
  std::optional<double> seconds;
  std::optional<std::int64_t> nodes;
  std::optional<std::int64_t> exit_code;
  std::optional<std::string> detail;
  std::optional<std::string> remedy;
  // The claimed end of the plan's 1F1B schedule, its bound and their gap, and the bound by the
  // instance. The claims are absent from outcomes without pipeline stages.
  std::optional<double> simulated;
  std::optional<double> simulated_bound;
  std::optional<double> simulated_gap;
  std::optional<double> known_simulated_bound;
  bool errors = false;  // true if the plan could not be written
  std::optional<StatedLayout> layout;
  std::optional<StatedRates> rates;
  std::optional<std::vector<StatedBound>> bounds;
  std::vector<std::int64_t> unplaceable;
  std::optional<InfeasibilityProof> infeasibility;
  std::vector<std::string> violated;  // rules that another candidate violated
  std::optional<std::vector<StatedImprovement>> improvements;
  // Members that are not compared with anything: they prove nothing, and only their type and range
  // are checked. The order is that of instances/outcomes.md; members without content are omitted.
  std::vector<std::string> unchecked;
};

// Returns nullopt for a stowage/plan, which has no outcome members. The allowed keys depend on the
// instance's family: the unit of its objective, and whether its bounds have certificates. Missing
// members are empty. Errors: unknown keys, types and ranges. The source is stated_json.cc.
Result<std::optional<StatedOutcome>> read_outcome_claims(std::string_view text,
                                                         const Instance& instance);

// The rule of layout_claim.h, one of the rules of outcome_rules().
inline constexpr std::string_view kLayoutRule = "outcome_layout";

// Returns the names of the rules below, in the order of their reports.
std::vector<std::string_view> outcome_rules();

// Appends a violation for each claim that disagrees with the plan. `optimal` requires a plan whose
// own bound equals its objective, and all numbers must be the plan's.
void check_claims(const StatedOutcome& claims, const Plan& plan, const Unit& unit,
                  std::vector<Violation>& violations);

// Checks an outcome that claims infeasibility. The function does not check whether the claim is
// true.
void check_infeasible_claims(const StatedOutcome& claims, const Unit& unit,
                             std::vector<Violation>& violations);

}  // namespace stowage
