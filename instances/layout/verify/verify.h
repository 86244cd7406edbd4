// The independent verifier of a layout plan: checks whether the plan is valid for the instance and
// whether its stated values are true. instances/verify.h has the promises of all verifiers.
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
// At most one overlap is reported per buffer, and at least one if there are any.
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

// Returns the names of all rules, in the order of the table above.
std::vector<std::string_view> layout_verify_rules();

// Returns every violation, by rule in the order of the table, then by place; empty for a valid
// plan. Requires a valid instance (as the reader returns it). Ignores plan.instance_hash.
std::vector<Violation> verify(const LayoutInstance& instance, const LayoutPlan& plan);

// The rule instance_hash: returns no violation if `plan` has `instance_hash`, the hash of the given
// instance.
std::vector<Violation> verify_instance_hash(const LayoutPlan& plan, std::string_view instance_hash);

// Checks the reason that an outcome gives for having no plan; returns no violations if the proof
// holds:
//   pins      two pinned buffers, the witnesses, need memory at the step and share a byte
//   capacity  a pinned buffer, the witness, ends above the capacity
//   load      the witnesses need memory at the step, and more than the capacity. Each takes whole
//              blocks of the greatest common divisor of their alignments, the topmost may end early
// `none` proves nothing and breaks a rule if there is a simple plan. Requires a valid instance; the
// proof may hold any values.
std::vector<Violation> check_infeasibility(const LayoutInstance& instance,
                                           const InfeasibilityProof& proof);

}  // namespace stowage
