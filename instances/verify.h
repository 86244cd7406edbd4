// The independent verifier: checks whether a plan is valid for an instance and whether its stated
// values are true.
//
// Written from the pages of the formats. It shares no code with a solver, a heuristic or the cost
// model beyond units.h, so that a mistake there is found here. Runs in O(K log K) for K sequences
// or buffers, and O(rows * stages) to simulate pipelines. It accepts any plan: huge ids, negative
// ranks and a million empty groups are violations, never a crash.
//
//   for (const Violation& v : verify(instance, plan)) std::cerr << v << '\n';
//
// Each family lists its rules in its page, e.g. docs/reference/scatter.md. Times agree when
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

// Returns every violation. A wrong instance hash comes first: a plan of another instance breaks the
// other rules for that reason alone. A plan of another family breaks the rule `problem`. No plan is
// valid for an instance that check() refuses: the errors of check() are then returned under the
// rule `instance`, and nothing else is checked.
std::vector<Violation> verify(const InstanceView& instance, const PlanView& plan);

// Checks the reason that an outcome gives for having no plan; returns no violations if the proof
// holds. The proof `none` proves nothing: it breaks a rule only if a plan is found without a
// search, or by the search that small instances and all strategies get. instances/outcomes.md lists
// the requirements of the other proofs. An instance that check() refuses breaks the rule
// `instance`.
std::vector<Violation> check_infeasibility(const InstanceView& instance,
                                           const InfeasibilityProof& proof);

struct CheckedCertificate {
  std::vector<Violation> violations;
  double bound = 0;  // the proven bound, in the unit of the objective; 0 if there are violations
};

// Checks that no plan of the instance is better than the bound of a certificate, by arithmetic on
// the two alone. A certificate of another family breaks the rule `problem`, an instance that
// check() refuses the rule `instance`.
CheckedCertificate check_certificate(const InstanceView& instance, const Certificate& certificate);

}  // namespace stowage
