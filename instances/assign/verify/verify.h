// The independent verifier of an assign plan: checks whether the plan is valid for the instance and
// whether its stated values are true. instances/verify.h has the promises of all verifiers.
//
// Rules of an assign plan; every time is recomputed here, the simulated time as well:
//
//   number             every time, the objective, the simulated time and the bound are finite
//   strategy           the strategy is one of the instance's
//   scheme             the scheme of a replica is one of the instance's
//   replicas           there are as many replicas of each scheme as the strategy has
//   coverage           each sequence of the instance stands in exactly one row, once
//   unknown_sequence   ids are in [0, K)
//   empty_row          a row has a sequence
//   tokens             tokens is the sum of the lengths after padding
//   loss_tokens        loss_tokens of a row is the sum of its sequences' loss_tokens, or of their
//                      lengths before padding where the instance has none, and that
//                      of the plan the sum of all
//   cu_seqlens         one entry more than sequences, the first is 0, and entry i + 1 minus entry i
//                      is the padded length of sequence i
//   capacity           the padded lengths of a row sum to at most max_tokens of its scheme
//   row_time           time_ms of a row is t_g(B)
//   replica_time       time_ms of a replica is the sum of its t_g(B), plus pp - 1 times the largest
//   objective          objective_ms is the largest replica time
//   simulated          simulated_1f1b_ms is when the last replica ends under the 1F1B schedule
//   rows_multiple_of   the rows of a replica are a multiple of constraints.rows_multiple_of
//   equal_rows         all replicas with rows have equally many, if constraints.equal_rows
//   allow_empty        every replica has rows, unless constraints.allow_empty
//   bound              0 <= bound_ms <= objective, and a positive bound names its certificate
//   instance_hash      the plan was made for this very instance (verify_instance_hash)
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string_view>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/proof.h"
#include "instances/violation.h"

namespace stowage {

// Returns the names of all rules, in the order of the table above.
std::vector<std::string_view> assign_verify_rules();

// Returns every violation, by rule in the order of the table, then by place; empty for a valid
// plan. Requires a valid instance (as the reader returns it). Ignores plan.instance_hash.
std::vector<Violation> verify(const AssignInstance& instance, const AssignPlan& plan);

// The rule instance_hash: returns no violation if `plan` has `instance_hash`, the hash of the given
// instance.
std::vector<Violation> verify_instance_hash(const AssignPlan& plan, std::string_view instance_hash);

// Checks the reason that an outcome gives for having no plan; returns no violations if the proof
// holds:
//   sequences  each witness is longer, after padding, than any scheme of any strategy admits; there
//              is one at least
//   rows       the row constraints ask each strategy for more rows than it has sequences, since a
//              row holds at least one. Replicas of schemes up to some cap, all of which need rows,
//              count only the sequences up to that cap. No witnesses.
// `none` proves nothing and breaks a rule if there is a simple plan. Requires a valid instance; the
// proof may hold any values.
std::vector<Violation> check_infeasibility(const AssignInstance& instance,
                                           const InfeasibilityProof& proof);

}  // namespace stowage
