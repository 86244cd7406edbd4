// The independent verifier of an order plan: checks whether the plan is valid for the instance and
// whether its stated values are true. instances/verify.h has the promises of all verifiers.
//
// Rules of an order plan:
//
//   once               every operator stands in the order; only `recompute` lets it stand again
//   precedence         a tensor is written before it is touched; the old contents of an updated
//                      tensor are read before the update, the new ones after; `after` holds. An
//                      operator that runs again sees what its first run saw: all its runs come
//                       before an update, later in the list, of a tensor that it touches or writes
//   transfers          only with a host: a tensor goes out when it is on the device, is freed when
//                       the host has its contents, is not touched while it is away, and comes back
//                       for a run that touches it, or to stay
//   capacity           no step needs more than the capacity, if there is one
//   host               at no step does the host hold more than its capacity, if it has one
//   stalls             objective peak: neither a run nor the end waits for a transfer
//   peak               peak_bytes is the largest need of any step
//   time_ms            time_ms is the end of the last run and of the last transfer: the times of
//                       all runs and of their waits; only if the objective is the time
//   bound              the bound lies between 0 and the objective, is in its unit, and names its
//                      certificate if positive
//   rows               if sizes grow with a length, rows hold all lengths of the range, one after
//                       another, and the order of the last row is that of the plan; otherwise there
//                       are no rows. All rules above hold for each row, at both ends
//   instance_hash      the plan was made for this very instance (verify_instance_hash)
//
// A step needs the memory that is live before it, and the outputs and the workspace of its
// operator, each rounded up to the alignment. A tensor is live from each run that writes it to the
// last touch before the next such run, except at steps at which only the host holds it. Needs of
// steps are reported only for complete orders with possible transfers. The peak of a plan is that
// of the longest length. If a rule holds at both ends of a row, it holds for all lengths in
// between, because the memory of a step is affine in the length.
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

// Returns the names of all rules, in the order of the table above.
std::vector<std::string_view> order_verify_rules();

// Returns every violation, by rule in the order of the table, then by place; empty for a valid
// plan. Requires a valid instance (as the reader returns it). Ignores plan.instance_hash.
std::vector<Violation> verify(const OrderInstance& instance, const OrderPlan& plan);

// The rule instance_hash: returns no violation if `plan` has `instance_hash`, the hash of the given
// instance.
std::vector<Violation> verify_instance_hash(const OrderPlan& plan, std::string_view instance_hash);

// Checks the reason that an outcome gives for having no plan; returns no violations if the proof
// holds:
//   operator  the one witness needs more than the capacity in every order: the tensors that it
//             touches and writes, its workspace, and, without a host, the tensors that live from
//             the start to the end
//   ends      the inputs, which are live at the start, or the outputs, which are live at the end,
//             need more than the capacity; no witnesses
// `none` proves nothing and breaks a rule if there is a simple plan. Requires a valid instance; the
// proof may hold any values.
std::vector<Violation> check_infeasibility(const OrderInstance& instance,
                                           const InfeasibilityProof& proof);

}  // namespace stowage
