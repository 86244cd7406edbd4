// The independent verifier of a layout plan: is it valid for this instance, and is what it says
// true? What all verifiers promise stands in instances/verify.h.
//
// Rules of a layout plan:
//
//   offsets            one offset per buffer
//   offset_range       0 <= offset and offset + size <= 2^53
//   alignment          the offset is a multiple of the buffer's and of the instance's alignment
//   pin                a pinned buffer lies where it is pinned
//   overlap            no two buffers that need memory at one step share a byte
//   capacity           offset + size is at most the capacity, if there is one
//   peak               peak_bytes is the largest offset + size, 0 without buffers
//   bound              0 <= bound_bytes <= peak, and a positive bound names its certificate
//   instance_hash      the plan was made for this very instance (verify_instance_hash)
//
// Of overlaps, one is reported per buffer; if there are any, at least one is.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string_view>
#include <vector>

#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/proof.h"
#include "instances/violation.h"

namespace stowage {

// Names of all rules, in the order of the table above.
std::vector<std::string_view> layout_verify_rules();

// Every violation found, empty for a valid plan; by rule in the order of the table, then by place.
// Requires a valid instance (as the reader returns it). Does not look at plan.instance_hash.
std::vector<Violation> verify(const LayoutInstance& instance, const LayoutPlan& plan);

// The rule instance_hash: empty if `plan` carries `instance_hash`, the hash of the instance at
// hand.
std::vector<Violation> verify_instance_hash(const LayoutPlan& plan, std::string_view instance_hash);

// Whether a layout has no plan for the reason that an outcome gives. Empty if the proof holds,
// which is
//   pins      two pinned buffers, the witnesses, need memory at the step and share a byte
//   capacity  a pinned buffer, the witness, ends above the capacity
//   load      the witnesses need memory at the step, and more than the capacity: in whole blocks
//             of the greatest common divisor of their alignments but for the end of the topmost
// `none` proves nothing and breaks a rule if there is a simple plan. Requires a valid instance; any
// proof may be handed in.
std::vector<Violation> check_infeasibility(const LayoutInstance& instance,
                                           const InfeasibilityProof& proof);

}  // namespace stowage
