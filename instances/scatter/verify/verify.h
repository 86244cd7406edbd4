// The independent verifier of a scatter plan: checks whether the plan is valid for the instance and
// whether its stated values are true. instances/verify.h has the promises of all verifiers.
//
// Rules of a scatter plan, with N devices, C tokens per device, and every time recomputed here:
//
//   number             every time, the objective and the bound are finite
//   coverage           each sequence of the instance stands in exactly one group, once
//   unknown_sequence   ids are in [0, K)
//   empty_micro_batch  a micro-batch has a group
//   empty_group        a group has a sequence
//   degree             the degree is one of cluster.degrees
//   min_degree         the degree is at least rules.min_degree
//   exchange           the exchange is one that groups of the degree may use
//   rank_range         0 <= first_rank and first_rank + degree <= N
//   rank_alignment     first_rank is a multiple of degree (aligned clusters only)
//   rank_overlap       the groups of a micro-batch share no rank; with `mixed`, but for one group of
//                      all ranks
//   devices            the degrees of a micro-batch sum to at most N, with `mixed` without that group
//   no_idle_ranks      with that rule, they sum to N
//   sorted_groups      with that rule, degrees do not increase with the first rank
//   micro_batches_multiple_of  their number is a multiple of rules.micro_batches_multiple_of
//   tokens             tokens is the sum of the lengths after padding, which depends on the group
//                      if the instance has `padding`, and after the padding of the row
//   cu_seqlens         one entry more than sequences, the first is 0, and entry i + 1 minus entry i
//                      is the padded length of sequence i; the padding of a row belongs to its last
//   capacity           the padded lengths of a group, plus v for each of its sequences, sum to at
//                       most C * degree; if rules.packed is false, each length plus v is at most
//                       that. With `mixed` a device holds its own row and 1/N of the shared one, and
//                       these are within max_tokens_per_rank
//   max_tokens_per_rank      the padded lengths of a group sum to at most it times the degree
//   max_sequences_per_group  a group has at most this many sequences
//   equal_sequences    with that rule, the groups of a micro-batch have equally many sequences
//   offload            offload is 0 to 1, at least the share that must leave for memory to hold the
//                      rest, and no more MiB of a device leave than host_mib; 0 without offload
//   time               time_ms is t(S, d), with the copies of that share
//   makespan           makespan_ms is the largest t(S, d) of the micro-batch, or with `mixed` that of
//                      its own rows beside the shared one
//   objective          objective_ms is the sum of those makespans, plus pipeline_stages - 1 times
//                       the longest
//   simulated          simulated_1f1b_ms is 0, or when the last micro-batch ends under the 1F1B
//                       schedule of those makespans in the order of the plan
//   bound              0 <= bound_ms <= objective, and a positive bound names its certificate
//   instance_hash      the plan was made for this very instance (verify_instance_hash)
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string_view>
#include <vector>

#include "instances/proof.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/violation.h"

namespace stowage {

// Returns the names of all rules, in the order of the table above.
std::vector<std::string_view> scatter_verify_rules();

// Returns every violation, by rule in the order of the table, then by place; empty for a valid
// plan. Requires a valid instance (as the reader returns it). Ignores plan.instance_hash.
std::vector<Violation> verify(const ScatterInstance& instance, const ScatterPlan& plan);

// The rule instance_hash: returns no violation if `plan` has `instance_hash`, the hash of the given
// instance.
std::vector<Violation> verify_instance_hash(const ScatterPlan& plan,
                                            std::string_view instance_hash);

// Checks the reason that an outcome gives for having no plan; returns no violations if the proof
// holds:
//   sequences  each witness is longer, after padding, than the room of a group of any allowed
//              degree; there is at least one witness
//   micro_batches  by the rules on whole micro-batches and on their number, the plan needs more
//                  groups than there are sequences, or no groups make up N ranks; no witness
// `none` proves nothing and breaks a rule if there is a simple plan. Requires a valid instance; the
// proof may hold any values.
std::vector<Violation> check_infeasibility(const ScatterInstance& instance,
                                           const InfeasibilityProof& proof);

}  // namespace stowage
