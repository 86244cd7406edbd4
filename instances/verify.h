// The independent verifier: is this plan valid for this instance, and is what it says true?
//
// Written from the pages of the formats. It shares no code with a solver, a heuristic or the cost
// model beyond units.h, so that a mistake there is found here. Runs in O(K log K) for K sequences
// or buffers, and O(rows * stages) to simulate pipelines. It accepts any plan: huge ids, negative
// ranks and a million empty groups are violations, never a crash.
//
//   for (const Violation& v : verify(instance, plan)) std::cerr << to_string(v) << '\n';
//
// The rules of each family stand in its README, e.g. instances/scatter/README.md. Times agree when
// they differ by at most 1e-9 relative; the bound may exceed the objective by at most 1e-6
// relative.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <vector>

#include "instances/instance.h"
#include "instances/proof.h"
#include "instances/violation.h"

namespace stowage {

// Every violation found, that of the instance hash first: a plan of another instance breaks the
// other rules for that reason alone. A plan of another family breaks the rule `problem`. No plan is
// valid for an instance that check() refuses: what it says is told under the rule `instance`, and
// nothing else is looked at.
std::vector<Violation> verify(const InstanceView& instance, const PlanView& plan);

// Whether an instance has no plan for the reason that an outcome gives: empty if the proof holds.
// `none` proves nothing. It breaks a rule only if a plan is found without a search, or by the
// search that small instances and all strategies get. What the others must show stands in
// instances/outcomes.md. An instance that check() refuses breaks the rule `instance`.
std::vector<Violation> check_infeasibility(const InstanceView& instance,
                                           const InfeasibilityProof& proof);

struct CheckedCertificate {
  std::vector<Violation> violations;
  double bound = 0;  // what is proven, in the unit of the objective; 0 if there are violations
};

// Whether no plan of the instance is better than a certificate says, by arithmetic on the two
// alone. One of another family breaks the rule `problem`, an instance that check() refuses the rule
// `instance`.
CheckedCertificate check_certificate(const InstanceView& instance, const Certificate& certificate);

}  // namespace stowage
