// What a stowage/outcome says about its plan, held against the plan itself, and against what else
// it says. Whether a bound is true is not asked here: judge.h does.
//
//   Result<std::optional<OutcomeClaims>> claims = read_outcome_claims(text, instance);
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

struct ClaimedImprovement {
  std::optional<double> seconds;
  std::optional<double> bound;
  std::optional<double> objective;
  std::int64_t nodes = 0;
  std::string source;
  std::string by;
};

struct ClaimedBound {
  std::string name;
  std::optional<double> value;
};

// Of an order whose layout was asked for.
struct ClaimedLayout {
  std::optional<Bytes> needed_bytes;
  std::string plan;  // its document; empty: none was found within the capacity
};

// Of a strategy: where its rates come from, as the outcome says and as the instance does.
struct ClaimedRates {
  std::string source;
  std::string stack;
  std::string known_source;
  std::string known_stack;
};

// Nothing where a key is missing, or null.
struct OutcomeClaims {
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
  bool errors = false;  // of writing the plan
  std::optional<ClaimedLayout> layout;
  std::optional<ClaimedRates> rates;
  std::optional<std::vector<ClaimedBound>> bounds;
  std::vector<std::int64_t> unplaceable;
  std::optional<InfeasibilityProof> infeasibility;
  std::vector<std::string> violated;  // rules that another candidate broke
  std::optional<std::vector<ClaimedImprovement>> improvements;
  // Members of the document that nothing is held against: they prove nothing, and only their type
  // and range are checked. In the order of instances/outcomes.md; members without content are left
  // out.
  std::vector<std::string> unchecked;
};

// Nothing for a stowage/plan, which says it all itself. Which keys there are depends on the family
// of the instance: the unit of its objective, and whether its bounds leave certificates. Errors:
// unknown keys, types and ranges; members that are missing are left empty. claims_json.cc.
Result<std::optional<OutcomeClaims>> read_outcome_claims(std::string_view text,
                                                         const Instance& instance);

// The rule of layout_claim.h, one of those below.
inline constexpr std::string_view kLayoutRule = "outcome_layout";

// The names of the rules below, in the order in which they are told.
std::vector<std::string_view> outcome_rules();

// Appends a violation for each claim that the plan does not bear out: `optimal` needs a plan whose
// own bound equals its objective, and all numbers are the plan's.
void check_claims(const OutcomeClaims& claims, const Plan& plan, const Unit& unit,
                  std::vector<Violation>& violations);

// The same of an outcome that says there is no plan. Whether that is true is not asked here.
void check_infeasible_claims(const OutcomeClaims& claims, const Unit& unit,
                             std::vector<Violation>& violations);

}  // namespace stowage
