// What a stowage/outcome says about the plan in it, held against the plan itself.
//
//   Result<std::optional<OutcomeClaims>> claims = read_outcome_claims(text, kMs);
//   if (*claims) check_claims(**claims, plan, kMs, violations);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/unit.h"
#include "instances/families.h"
#include "instances/result.h"
#include "instances/violation.h"

namespace stowage {

struct OutcomeClaims {
  std::string status;
  std::optional<double> objective;
  std::optional<double> bound;
  std::optional<double> gap;
};

// Nothing for a stowage/plan, which says it all itself. `unit` is that of the objective. Errors:
// those of types; members that are missing are left empty.
Result<std::optional<OutcomeClaims>> read_outcome_claims(std::string_view text, const Unit& unit);

// The names of the rules below, in the order in which they are told.
std::vector<std::string_view> outcome_rules();

// Appends a violation for each claim that the plan does not bear out: `optimal` needs a plan whose
// own bound equals its objective, and all numbers are the plan's. Whether the bound is true is not
// asked here.
void check_claims(const OutcomeClaims& claims, const Plan& plan, const Unit& unit,
                  std::vector<Violation>& violations);

}  // namespace stowage
