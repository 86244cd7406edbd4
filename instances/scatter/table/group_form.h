// The forms that groups of a scatter step may have, and the tokens that they hold.
//
//   for (const GroupForm form : group_forms(step)) use(form, room_of_group(step, form));
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/units.h"

namespace stowage {

// Returns "none", "all_to_all", "ring", "all_gather", "two_level", in the order of ExchangeKind.
std::span<const std::string_view> exchange_names();

// The form of a group: its degree, its kind of exchange, the recomputation mode of its micro-batch,
// and its device pool.
struct GroupForm {
  int degree = 0;
  ExchangeKind exchange = ExchangeKind::none;
  int recomputation = 0;  // index into ModelMemory::recomputation; 0 if that is empty
  int place = 0;          // device pool of device_pools.h; 0 if all devices are alike

  GroupForm() = default;
  // A degree alone is a form too. NOLINTNEXTLINE(google-explicit-constructor)
  GroupForm(int degree_, ExchangeKind exchange_ = ExchangeKind::none, int recomputation_ = 0,
            int place_ = 0)
      : degree(degree_), exchange(exchange_), recomputation(recomputation_), place(place_) {}
  bool operator==(const GroupForm&) const = default;
};

// Returns all forms that groups may have: by degree, then by recomputation, by exchange and by
// place. If the instance has no such choices, there is one per allowed degree.
std::vector<GroupForm> group_forms(const ScatterInstance& instance);

// Returns the number of recomputation modes to choose from: 1 if the model lists none.
int recomputations(const ScatterInstance& instance);

// Returns the name of a recomputation mode; empty if the model lists none.
std::string recomputation_name(const ScatterInstance& instance, int index);

// Returns the index of that mode, or -1 for an unknown name. The empty name is 0 if the model lists
// none.
int recomputation_index(const ScatterInstance& instance, std::string_view name);

// Returns whether some group of this degree may stand on more than one node: it is larger than a
// node, does not divide it, or may start at any rank.
bool may_cross_nodes(const Cluster& cluster, int degree);

// Returns whether a group of this degree can exchange in this way. `two_level` needs groups of
// several whole nodes, the other kinds a degree above 1.
bool can_exchange(const Cluster& cluster, GroupForm form);

// Returns the form of a group of the micro-batch. Returns nullopt if the instance has no
// recomputation mode of this name, or if devices differ and the group is in no place.
std::optional<GroupForm> form_of(const ScatterInstance& instance,
                                 const ScatterMicroBatch& micro_batch, const ScatterGroup& group);

// Returns the number of tokens of which the padded length of every sequence of such a group is a
// multiple: pad_multiple, or that of ScatterInstance::padding.
Tokens sequence_multiple(const ScatterInstance& instance, GroupForm form);

// Returns the number of tokens of which the packed row of such a group is a multiple; 1 without
// `padding`, and without packing, where each sequence is a row of its own.
Tokens row_multiple(const ScatterInstance& instance, GroupForm form);

// Returns the tokens of a sequence of this length on such a group. Requires length <= kMaxExact.
Tokens padded_length(const ScatterInstance& instance, Tokens length, GroupForm form);

// Returns the most tokens that a sequence of this length has on any group.
Tokens most_padded_length(const ScatterInstance& instance, Tokens length);

// Returns the MiB of one token on its device: activations, logits unless they come in chunks, and
// keys and values that the device holds for other devices. The latter count once in a ring and
// `degree` times in an all-gather.
Mib token_mib(const ScatterInstance& instance, GroupForm form);

// Returns the MiB that a device holds with any groups: model states, and the logits of a chunk.
Mib fixed_mib(const ScatterInstance& instance);

// Returns the MiB of token_mib() that can leave for the host: those of ActivationOffload, at most
// the activations of the form's recomputation mode; 0 without offload.
Mib offload_mib(const ScatterInstance& instance, GroupForm form);

// Returns C_0, the tokens that one device of such a group holds with all their activations, at
// least 0 and at most kMaxExact: floor((memory - fixed_mib) / token_mib).
Tokens resident_tokens(const ScatterInstance& instance, GroupForm form = 1);

// Returns C, the tokens that one device of such a group holds, at least 0 and at most kMaxExact:
// C_0 without offload. With it, the lesser of floor(C_0 m / (m - a)), with m = token_mib() and
// a = offload_mib(), and of C_0 + floor(host_mib / m).
Tokens tokens_per_device(const ScatterInstance& instance, GroupForm form = 1);

// Returns the least share of the offload_mib() of a row of this many tokens that leaves for the
// host, so that the rest fits: (tokens - d C_0) m / (a tokens), in [0, 1]. Returns 0 without
// offload. Requires a row that such a group holds.
double least_offload(const ScatterInstance& instance, GroupForm form, Tokens tokens);

// Returns v, the tokens of such a group that each of its sequences takes beside its own:
// sequence_mib times the degree / token_mib, rounded up to whole tokens and to row_multiple(), at
// most kMaxExact.
Tokens sequence_tokens(const ScatterInstance& instance, GroupForm form);

// Returns the degrees of the cluster from min_degree on, ascending.
std::vector<int> allowed_degrees(const ScatterInstance& instance);

// The room of a group. Its n sequences have at most `capacity` - n `sequence_tokens` padded tokens
// together, and at most `most_tokens`; each has at most `longest`. No value exceeds kMaxExact. With
// `padding`, `longest` is a multiple of the form's sequence_multiple(), so that a length that is
// padded for all forms only can be compared with it. If
// rows are padded, capacity and most_tokens are multiples of the row's multiple, and so is
// `sequence_tokens`, rounded up.
struct GroupRoom {
  Tokens capacity = 0;
  Tokens sequence_tokens = 0;
  Tokens most_tokens = kMaxExact;
  Tokens longest = 0;
};

// Returns the room: the lesser of C and max_tokens_per_rank, times the degree. If sequences take
// more than their tokens, the two limits stay apart. Without packing, memory limits only `longest`.
GroupRoom room_of_group(const ScatterInstance& instance, GroupForm form);

// Returns the most tokens that all sequences of such a group may have together, with the fewest
// sequences.
Tokens group_capacity(const ScatterInstance& instance, GroupForm form);

// Returns the most tokens of one sequence of such a group, packed or not.
Tokens longest_in_group(const ScatterInstance& instance, GroupForm form);

// Returns the form of groups that holds the longest sequence; among equal forms that of the largest
// degree.
GroupForm largest_form(const ScatterInstance& instance);

// Returns the instance without offload, for planners that know none: each plan of it is one of the
// instance, with the same times. Returns nullopt if the instance has no offload, or if some
// sequence fits no group without it.
std::optional<ScatterInstance> without_offload(const ScatterInstance& instance);

// Returns the ids of sequences that fit no group: their padded length exceeds the room of a group
// of any allowed degree. If there are none, every sequence may have a micro-batch of its own. The
// instance is then feasible unless rules on whole micro-batches or on their number forbid it.
std::vector<std::int64_t> unplaceable_sequences(const ScatterInstance& instance);

}  // namespace stowage
