// What groups of a scatter step may be, and how much they hold.
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

// "none", "all_to_all", "ring", "all_gather", "two_level", in the order of ExchangeKind.
std::span<const std::string_view> exchange_names();

// What a group may be: a degree, how its devices exchange, what its micro-batch recomputes, and on
// which kinds of devices it lies.
struct GroupForm {
  int degree = 0;
  ExchangeKind exchange = ExchangeKind::none;
  int recomputation = 0;  // index into ModelMemory::recomputation; 0 if there is none
  int place = 0;          // among places of devices.h; 0 if all devices are alike

  GroupForm() = default;
  // A degree alone is a form too. NOLINTNEXTLINE(google-explicit-constructor)
  GroupForm(int degree_, ExchangeKind exchange_ = ExchangeKind::none, int recomputation_ = 0,
            int place_ = 0)
      : degree(degree_), exchange(exchange_), recomputation(recomputation_), place(place_) {}
  bool operator==(const GroupForm&) const = default;
};

// All forms that groups may have: by degree, then by recomputation, by exchange and by place.
// Without these one per allowed degree.
std::vector<GroupForm> group_forms(const ScatterInstance& instance);

// How many ways to recompute there are to choose from: 1 if the model lists none.
int recomputations(const ScatterInstance& instance);

// The name of one of them; empty if the model lists none.
std::string recomputation_name(const ScatterInstance& instance, int index);

// The index of that name, or -1 if it is none. The empty name is 0 if the model lists none.
int recomputation_index(const ScatterInstance& instance, std::string_view name);

// Whether some group of this degree may stand on more than one node: if it is larger than a node,
// does not divide it, or may start anywhere.
bool may_cross_nodes(const Cluster& cluster, int degree);

// Whether a group of this degree can exchange in this way. `two_level` needs groups of several
// whole nodes, the others a degree above 1.
bool can_exchange(const Cluster& cluster, GroupForm form);

// The form of a group of the micro-batch; nothing if the instance does not know what this one
// recomputes, or where devices differ and the group has no place among them.
std::optional<GroupForm> form_of(const ScatterInstance& instance,
                                 const ScatterMicroBatch& micro_batch, const ScatterGroup& group);

// What a token of a group takes on a device that has it: activations, logits unless they come in
// chunks, and keys and values that the device holds for others, once in a ring and as often as the
// degree says in an all-gather.
Mib token_mib(const ScatterInstance& instance, GroupForm form);

// What a device holds whatever its groups: model states, and the logits of a chunk.
Mib fixed_mib(const ScatterInstance& instance);

// C: how many tokens one device of such a group holds beside nothing else, at least 0 and at most
// kMaxExact: floor((memory - fixed_mib) / token_mib).
Tokens tokens_per_device(const ScatterInstance& instance, GroupForm form = 1);

// v: as how many tokens of such a group each of its sequences counts beside its own, rounded up and
// at most kMaxExact: sequence_mib times the degree / token_mib.
Tokens sequence_tokens(const ScatterInstance& instance, GroupForm form);

// The degrees of the cluster from min_degree on, ascending.
std::vector<int> allowed_degrees(const ScatterInstance& instance);

// What a group holds. Its n sequences have at most `capacity` - n `sequence_tokens` tokens
// together, and at most `most_tokens`; each has at most `longest`. None exceeds kMaxExact.
struct GroupRoom {
  Tokens capacity = 0;
  Tokens sequence_tokens = 0;
  Tokens most_tokens = kMaxExact;
  Tokens longest = 0;
};

// C or max_tokens_per_rank, whichever is less, times the degree; where sequences count for more
// than their tokens, the two apart. Without packing memory limits `longest` alone.
GroupRoom room_of_group(const ScatterInstance& instance, GroupForm form);

// How many tokens all sequences of such a group may have together, if they are as few as can be.
Tokens group_capacity(const ScatterInstance& instance, GroupForm form);

// How many tokens one sequence of such a group may have, packed or not.
Tokens longest_in_group(const ScatterInstance& instance, GroupForm form);

// The form of groups that holds the longest sequence; of equals the one of the largest degree.
GroupForm largest_form(const ScatterInstance& instance);

// Ids of sequences that fit no group: their padded length exceeds what a group of any allowed
// degree holds. If this is empty the instance is feasible unless rules on whole micro-batches or on
// their number forbid it, since every sequence may have a micro-batch of its own.
std::vector<std::int64_t> unplaceable_sequences(const ScatterInstance& instance);

}  // namespace stowage
