// The scatter instance: a training step's sequences and the cluster they are scattered over.
//
// A step gets K sequences and N devices. It is cut into micro-batches that run one after another;
// inside a micro-batch the devices are partitioned into sequence-parallel groups of degree d, and
// every sequence is scattered over exactly one group. The groups run side by side, a micro-batch
// lasts as long as its slowest group, and the sum of these makespans is minimised; in a pipeline of
// p stages, the sum and p - 1 times the longest of them.
// Source: FlexSP (arXiv 2412.01523, section 3). The file format is in instances/scatter/README.md.
//
//   ScatterInstance step{.name = "two",
//                        .cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
//                        .model = {.states_mib = 20, .activation_mib_per_token = 1},
//                        .cost = {.linear_ms = 0.5, .fixed_ms = 3},
//                        .lengths = {64, 80}};
//   assert(tokens_per_device(step) == 80);
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "instances/scatter/cluster.h"
#include "instances/scatter/time_grid.h"
#include "instances/units.h"

namespace stowage {

// One way to trade memory for time: some activations are dropped and computed again in the backward
// pass. What it repeats of a step is in the factors; what a group pays once is not repeated.
struct Recomputation {
  std::string name;                  // "none", "selective", "full", ...; not empty
  Mib activation_mib_per_token = 0;  // in place of the model's; > 0
  double quadratic_factor = 1;       // of quadratic_ms, > 0
  double linear_factor = 1;          // of linear_ms, > 0
  double exchange_factor = 1;        // of what an exchange sends, > 0

  bool operator==(const Recomputation&) const = default;
};

struct ModelMemory {
  Mib states_mib = 0;                // parameters, gradients, optimizer states on one device
  Mib activation_mib_per_token = 0;  // activations of one token that stays on one device; > 0
  // Of each sequence of a group, on every device of it: workspaces and offsets.
  Mib sequence_mib = 0;
  // Logits of a token that stays on one device; of so many tokens at a time, or of all if it is 0.
  Mib logits_mib_per_token = 0;
  Tokens logits_chunk_tokens = 0;
  // Keys and values of a token that a device holds for others: a block in a ring, those of the
  // whole group in an all-gather.
  Mib keys_values_mib_per_token = 0;
  // What each micro-batch may recompute, all its groups alike, each name once. Empty: what `model`
  // and `cost` say, and nothing to choose.
  std::vector<Recomputation> recomputation = {};

  bool operator==(const ModelMemory&) const = default;
};

// The exchange before and after attention. Maps are keyed by degree; degree 1 exchanges nothing.
struct AllToAll {
  Mib mib_per_token = 0;
  std::map<int, double> mib_per_ms;  // needed for every allowed degree > 1 if mib_per_token > 0
  std::map<int, Ms> latency_ms;      // once per group; missing = 0

  bool operator==(const AllToAll&) const = default;
};

// How the devices of a group exchange what attention needs. `none` is what a group of degree 1
// does, and a group of any degree if the instance has an `all_to_all` in place of an `exchange`.
enum class ExchangeKind { none, all_to_all, ring, all_gather, two_level };

// "none", "all_to_all", "ring", "all_gather", "two_level", in the order of ExchangeKind.
std::span<const std::string_view> exchange_names();

// The exchange of groups by kind, from volumes and from bandwidths inside a node and across nodes.
// cost_model.h states what each kind costs.
struct Exchange {
  // By degree: the kinds that a group may choose from, ascending, each once. One at least for every
  // allowed degree above 1.
  std::map<int, std::vector<ExchangeKind>> kinds;
  Mib all_to_all_mib_per_token = 0;   // queries, keys, values and outputs
  Mib keys_values_mib_per_token = 0;  // keys and values
  double inside_mib_per_ms = 0;       // of a device, to devices of its node
  double across_mib_per_ms = 0;       // of a device, to other nodes
  Ms inside_latency_ms = 0;           // of a message; never hidden
  Ms across_latency_ms = 0;
  double overlap = 0;  // in [0, 1]: how much of an all-to-all or all-gather compute can hide

  bool operator==(const Exchange&) const = default;
};

// In `share` of the layers a token attends to itself and the tokens - 1 before it.
struct SlidingWindow {
  Tokens tokens = 0;
  double share = 0;  // in [0, 1]; 0: all layers attend to the whole sequence

  bool operator==(const SlidingWindow&) const = default;
};

// Coefficients of the time model in cost_model.h.
struct ScatterCost {
  double quadratic_ms = 0;  // alpha1, ms per token^2
  double linear_ms = 0;     // alpha2, ms per token
  Ms fixed_ms = 0;          // beta1, once per group that is used
  AllToAll all_to_all;
  Ms sequence_fixed_ms = 0;  // once per sequence, on every device of its group
  Tokens tile_tokens = 1;    // attention computes whole tiles: lengths rounded up to a multiple
  SlidingWindow window;
  std::optional<Exchange> exchange;  // then all_to_all is not used
  // By degree: what groups were measured to take. If any, then for every allowed degree, and
  // nothing else of the cost is used.
  std::map<int, TimeGrid> table;

  bool operator==(const ScatterCost&) const = default;
};

// What the consumer of the plan asks of it. The defaults ask nothing. Sources: the packing
// scheduler and the hybrid context parallelism of Megatron-Core, the micro-batches and the equal
// partitions of verl.
struct ScatterRules {
  bool no_idle_ranks = false;                  // in every micro-batch the degrees sum to N
  bool sorted_groups = false;                  // degrees do not increase with the rank
  std::int64_t micro_batches_multiple_of = 1;  // how many micro-batches there are, >= 1
  int min_degree = 1;                          // smaller degrees of the cluster are not used
  Tokens max_tokens_per_rank = kMaxExact;      // of a group's padded tokens, beside memory; >= 1
  std::int64_t max_sequences_per_group = kMaxExact;  // >= 1
  bool equal_sequences = false;  // the groups of a micro-batch hold equally many
  // False: a group computes its sequences one by one. The fixed time and the latency are then paid
  // once per sequence, and memory holds the longest sequence instead of their sum.
  bool packed = true;

  bool operator==(const ScatterRules&) const = default;
};

struct ScatterInstance {
  std::string name;
  Cluster cluster;
  ModelMemory model;
  ScatterCost cost;
  ScatterRules rules = {};
  // p >= 1: every micro-batch goes through p stages, one after the other, and takes its makespan on
  // each. Cluster, model and cost are those of one stage.
  int pipeline_stages = 1;
  Tokens pad_multiple = 1;      // every length is rounded up to a multiple of it before all else
  std::vector<Tokens> lengths;  // the id of a sequence is its index here
  // Targets of each sequence, 0 to its length: the tokens that the loss is a sum over (labels that
  // are not masked). Empty: all tokens are.
  std::vector<Tokens> loss_tokens;

  bool operator==(const ScatterInstance&) const = default;
};

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

// The time of a step whose makespans have such a sum and such a longest one: sum + (p - 1) longest.
// While the first stage computes the micro-batches one after another, the last of them still has
// p - 1 stages to go, and none goes faster than the longest lets it.
inline Ms step_ms(const ScatterInstance& instance, Ms sum, Ms longest) {
  return sum + (instance.pipeline_stages - 1) * longest;
}

// length rounded up to a multiple of pad_multiple. Requires length <= kMaxExact.
inline Tokens padded_length(const ScatterInstance& instance, Tokens length) {
  return round_up(length, instance.pad_multiple);
}

// What the sequence adds to the number that the step's sum of token losses is divided by. Requires
// a known id.
inline Tokens targets_of(const ScatterInstance& instance, std::int64_t id) {
  const auto& targets = instance.loss_tokens.empty() ? instance.lengths : instance.loss_tokens;
  return targets[static_cast<std::size_t>(id)];
}

// All padded lengths, in id order.
std::vector<Tokens> padded_lengths(const ScatterInstance& instance);

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
