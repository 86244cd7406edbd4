// The independent verifier of an order plan: is it valid for this instance, and is what it says
// true? What all verifiers promise stands in instances/verify.h.
//
// Rules of an order plan:
//
//   once               every operator stands in the order, and again only where it may
//   precedence         a tensor is written before it is touched; the old contents of an updated
//                      tensor are read before the update, the new ones after; `after` holds. An
//                      operator that runs again sees what its first run saw: all its runs stand
//                      before an update of what it touches or writes that must come behind it
//   transfers          only where there is a host: a tensor goes out when it is on the device, is
//                      freed when the host has it as it is, is not touched while it is away, and
//                      comes back for a run that touches it, or to stay
//   capacity           no step needs more than the capacity, if there is one
//   host               at no step does the host hold more than its capacity, if it has one
//   stalls             objective peak: no run waits for a transfer, and the end for none
//   peak               peak_bytes is the most that any step needs
//   time_ms            time_ms is when the last run and the last transfer end: the sum of the times
//                      of all runs and of what they wait for; of objective time alone
//   bound              the bound lies between 0 and the objective, is in its unit, and names its
//                      certificate if positive
//   rows               where sizes grow with a length, rows hold all lengths of the range, one after
//                      another, and the last one's order is that of the plan; otherwise none. All
//                      rules above hold for each row too, with its peaks and bounds at both ends
//   instance_hash      the plan was made for this very instance (verify_instance_hash)
//
// A step needs what is live before it, and the outputs and the workspace of its operator, each
// rounded up to the alignment. A tensor is live from each run that writes it to the last touch
// before the next such run, but for the steps that it is on the host alone. What steps need is told
// of complete orders with possible transfers only. The peak of a plan is that of the longest
// length. What holds at both ends of a row holds for all lengths in between: what a step needs is
// affine in the length.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string_view>
#include <vector>

#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/proof.h"
#include "instances/violation.h"

namespace stowage {

// Names of all rules, in the order of the table above.
std::vector<std::string_view> order_verify_rules();

// Every violation found, empty for a valid plan; by rule in the order of the table, then by place.
// Requires a valid instance (as the reader returns it). Does not look at plan.instance_hash.
std::vector<Violation> verify(const OrderInstance& instance, const OrderPlan& plan);

// The rule instance_hash: empty if `plan` carries `instance_hash`, the hash of the instance at
// hand.
std::vector<Violation> verify_instance_hash(const OrderPlan& plan, std::string_view instance_hash);

// Whether a graph has no plan for the reason that an outcome gives. Empty if the proof holds, which
// is
//   operator  the one witness needs more than the capacity, whatever the order: what it touches and
//             writes, its workspace, and, without a host, what lives from the start to the end
//   ends      the inputs, which are there at the start, or the outputs, which are there at the end,
//             are more than the capacity; no witnesses
// `none` proves nothing and breaks a rule if there is a simple plan. Requires a valid instance; any
// proof may be handed in.
std::vector<Violation> check_infeasibility(const OrderInstance& instance,
                                           const InfeasibilityProof& proof);

}  // namespace stowage
