// The independent verifier: is this plan valid for this instance, and is what it says true?
//
// Written from instances/README.md. It shares no code with a solver, a heuristic or the cost model
// beyond units.h, so that a mistake there cannot hide here. Runs in O(K log K) for K sequences or
// buffers, and O(rows * stages) to simulate pipelines, and any plan at all may be handed in: huge
// ids, negative ranks and a million empty groups are violations, never a crash.
//
//   for (const Violation& v : verify(instance, plan)) std::cerr << to_string(v) << '\n';
//
// Rules of a scatter plan, with N devices, C tokens per device, and every time recomputed here:
//
//   number             every time, the objective and the bound are finite
//   coverage           each sequence of the instance stands in exactly one group, once
//   unknown_sequence   ids are in [0, K)
//   empty_micro_batch  a micro-batch has a group
//   empty_group        a group has a sequence
//   degree             the degree is one of cluster.degrees
//   rank_range         0 <= first_rank and first_rank + degree <= N
//   rank_alignment     first_rank is a multiple of degree (aligned clusters only)
//   rank_overlap       the groups of a micro-batch share no rank
//   devices            the degrees of a micro-batch sum to at most N
//   tokens             tokens is the sum of the lengths after padding
//   cu_seqlens         one entry more than sequences, the first is 0, and entry i + 1 minus entry i
//                      is the padded length of sequence i
//   capacity           the padded lengths of a group sum to at most C * degree
//   time               time_ms is t(S, d)
//   makespan           makespan_ms is the largest t(S, d) of the micro-batch
//   objective          objective_ms is the sum of those makespans
//   bound              0 <= bound_ms <= objective, and a positive bound names its certificate
//   instance_hash      the plan was made for this very instance (verify_instance_hash)
//
// Rules of an assign plan, with every time recomputed here, the simulated one as well:
//
//   number             every time, the objective, the simulated time and the bound are finite
//   strategy           the strategy is one of the instance's
//   scheme             the scheme of a replica is one of the instance's
//   replicas           there are as many replicas of each scheme as the strategy has
//   coverage           each sequence of the instance stands in exactly one row, once
//   unknown_sequence   ids are in [0, K)
//   empty_row          a row has a sequence
//   tokens             tokens is the sum of the lengths after padding
//   loss_tokens        loss_tokens of a row is the sum of its lengths before padding, and that
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
//   instance_hash      as above
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
//   instance_hash      as above
//
// Of overlaps, one is told per buffer, and one is told if there are any.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

// One broken rule. `rule` is one of the family's rules, e.g. of scatter_verify_rules(); `where` is
// a JSON pointer into the plan; `have` and `need` say what stands there and what the rule asks for,
// with units. The entry that stands for all the violations of a rule beyond the first
// kMaxViolationsPerRule has an empty `where` and `need`, and `have` is "and 980 more".
struct Violation {
  std::string rule;
  std::string where;
  std::string have;
  std::string need;
  std::int64_t count = 1;  // that it stands for: 980 of "and 980 more"

  bool operator==(const Violation&) const = default;
};

// So many violations of one rule are spelled out; the rest are counted.
inline constexpr std::size_t kMaxViolationsPerRule = 20;

// "capacity at /micro_batches/0/groups/1: has 70000 tokens, needs at most 51592 tokens"
std::string to_string(const Violation& violation);

// Names of all rules, in the order of the tables above.
std::vector<std::string_view> scatter_verify_rules();
std::vector<std::string_view> assign_verify_rules();
std::vector<std::string_view> layout_verify_rules();

// Every violation found, empty for a valid plan; by rule in the order of the table, then by place.
// Times agree when they differ by at most 1e-9 relative; the bound may exceed the objective by at
// most 1e-6 relative. Requires a valid instance (as the reader returns it); for others the answer
// is unspecified, but there is one. Does not look at plan.instance_hash, which needs a reader.
std::vector<Violation> verify(const ScatterInstance& instance, const ScatterPlan& plan);
std::vector<Violation> verify(const AssignInstance& instance, const AssignPlan& plan);
std::vector<Violation> verify(const LayoutInstance& instance, const LayoutPlan& plan);

// The rule instance_hash: empty if `plan` carries `instance_hash`, the hash of the instance at
// hand.
std::vector<Violation> verify_instance_hash(const ScatterPlan& plan,
                                            std::string_view instance_hash);
std::vector<Violation> verify_instance_hash(const AssignPlan& plan, std::string_view instance_hash);
std::vector<Violation> verify_instance_hash(const LayoutPlan& plan, std::string_view instance_hash);

}  // namespace stowage
