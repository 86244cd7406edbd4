// The scatter instance: a training step's sequences and the cluster they are scattered over.
//
// A step gets K sequences and N devices. It is cut into micro-batches that run one after another.
// In a micro-batch the devices are partitioned into sequence-parallel groups of degree d, and every
// sequence is scattered over exactly one group. The groups run side by side, and a micro-batch
// lasts as long as its slowest group. The sum of these makespans is minimised; in a pipeline of p
// stages, the sum and p - 1 times the longest makespan. Source: FlexSP (arXiv 2412.01523, section
// 3). The file format is in docs/reference/scatter.md.
//
//   ScatterInstance step{.name = "two",
//                        .cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
//                        .model = {.states_mib = 20, .activation_mib_per_token = 1},
//                        .cost = {.linear_ms = 0.5, .fixed_ms = 3},
//                        .lengths = {64, 80}};
//   assert(padded_length(step, step.lengths[0]) == 64);
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "instances/units.h"

namespace stowage {

// Consecutive nodes of equal devices.
struct DeviceKind {
  std::string name;    // for people; may be empty
  int nodes = 0;       // >= 1
  double speed = 1;    // compute takes 1 / speed times the cost, > 0
  Mib memory_mib = 0;  // in place of the cluster's

  bool operator==(const DeviceKind&) const = default;
};

struct Cluster {
  int devices = 0;  // N >= 1
  // Devices [k n, (k + 1) n) are a node. Costs depend on nodes only with `ScatterCost::exchange`;
  // pictures always do.
  int devices_per_node = 8;
  Mib memory_mib = 0;        // usable memory of one device
  std::vector<int> degrees;  // allowed group degrees, strictly increasing, each in [1, N]
  // Groups of degree d start at a rank that is a multiple of d. Then the degrees must form a
  // divisibility chain (each divides the next), so that every multiset of degrees whose sum is at
  // most N can be placed, largest first. With `aligned = false` any degrees are allowed, at any
  // first rank.
  bool aligned = true;
  // If nodes differ: their kinds in the order of ranks, which cover all nodes. Empty: all devices
  // are alike. Needs `aligned`. Each kind must start at a multiple of every allowed degree that
  // fits into it: see table/device_pools.h.
  std::vector<DeviceKind> kinds = {};

  bool operator==(const Cluster&) const = default;
};

// One recomputation mode, which trades memory for time: some activations are dropped and computed
// again in the backward pass. The factors contain the repeated work; costs that a group pays once
// are not repeated.
struct Recomputation {
  std::string name;                  // "none", "selective", "full", ...; not empty
  Mib activation_mib_per_token = 0;  // in place of the model's; > 0
  double quadratic_factor = 1;       // of quadratic_ms, > 0
  double linear_factor = 1;          // of linear_ms, > 0
  double exchange_factor = 1;        // of the volume of an exchange, > 0

  bool operator==(const Recomputation&) const = default;
};

// Copies of activations to the host, made while a group computes: some tokens' activations leave
// their device in the forward pass and return in the backward pass. table/group_form.h has the
// tokens that groups then hold, and cost/cost_model.h the time that a group waits for copies.
struct ActivationOffload {
  Mib mib_per_token = 0;      // of the activations of a token, that can leave; > 0
  double out_mib_per_ms = 0;  // of a device, to the host; > 0
  double in_mib_per_ms = 0;   // of a device, from the host; > 0
  // Most MiB of a device that are on the host at a time; absent: no limit.
  std::optional<Mib> host_mib = {};
  double forward_share = 1.0 / 3;  // of a group's time, in [0, 1]: copies out hide under it

  bool operator==(const ActivationOffload&) const = default;
};

struct ModelMemory {
  Mib states_mib = 0;                // parameters, gradients, optimizer states on one device
  Mib activation_mib_per_token = 0;  // activations of one token that stays on one device; > 0
  // Taken by each sequence of a group, on every device of the group: workspaces and offsets.
  Mib sequence_mib = 0;
  // Logits of a token on its device, for `logits_chunk_tokens` tokens at a time, or for all if that
  // is 0.
  Mib logits_mib_per_token = 0;
  Tokens logits_chunk_tokens = 0;
  // Keys and values of a token that a device holds for other devices: a block in a ring, those of
  // the whole group in an all-gather.
  Mib keys_values_mib_per_token = 0;
  // The recomputation modes of micro-batches, each name once; all groups of a micro-batch have one
  // mode. Empty: `model` and `cost` are the only mode.
  std::vector<Recomputation> recomputation = {};
  // Absent: activations stay on their devices.
  std::optional<ActivationOffload> offload = {};

  bool operator==(const ModelMemory&) const = default;
};

// The exchange before and after attention. Maps are keyed by degree; degree 1 exchanges nothing.
struct AllToAll {
  Mib mib_per_token = 0;
  std::map<int, double> mib_per_ms;  // needed for every allowed degree > 1 if mib_per_token > 0
  std::map<int, Ms> latency_ms;      // once per group; missing = 0

  bool operator==(const AllToAll&) const = default;
};

// The exchange of the data of attention between the devices of a group. `none` is for groups of
// degree 1, and for groups of any degree if the instance has an `all_to_all` instead of an
// `exchange`.
enum class ExchangeKind { none, all_to_all, ring, all_gather, two_level };

// The exchange of groups by kind, from volumes and from bandwidths inside a node and across nodes.
// cost/cost_model.h states the cost of each kind.
struct Exchange {
  // By degree: the kinds that a group may choose from, ascending, each once. Every allowed degree
  // above 1 has at least one.
  std::map<int, std::vector<ExchangeKind>> kinds;
  Mib all_to_all_mib_per_token = 0;   // queries, keys, values and outputs
  Mib keys_values_mib_per_token = 0;  // keys and values
  // By devices that share an all-to-all, in place of all_to_all_mib_per_token: more devices than
  // key and value heads repeat the heads. A two-level exchange uses the volume of a node. Empty, or
  // a volume for each number of devices that some group needs.
  std::map<int, Mib> all_to_all_by_devices = {};
  double inside_mib_per_ms = 0;  // of a device, to devices of its node
  double across_mib_per_ms = 0;  // of a device, to other nodes
  Ms inside_latency_ms = 0;      // of a message; never hidden
  Ms across_latency_ms = 0;
  double overlap = 0;  // in [0, 1]: share of an all-to-all or all-gather that compute can hide

  bool operator==(const Exchange&) const = default;
};

// Returns the volume of an all-to-all of this many devices, MiB per token; 0 if it is not known.
inline Mib all_to_all_volume(const Exchange& exchange, int devices) {
  if (exchange.all_to_all_by_devices.empty()) return exchange.all_to_all_mib_per_token;
  const auto found = exchange.all_to_all_by_devices.find(devices);
  return found == exchange.all_to_all_by_devices.end() ? 0 : found->second;
}

// In `share` of the layers a token attends only to itself and the tokens - 1 before it.
struct SlidingWindow {
  Tokens tokens = 0;
  double share = 0;  // in [0, 1]; 0: all layers attend to the whole sequence

  bool operator==(const SlidingWindow&) const = default;
};

// The measured times of groups of one degree: times by the tokens and by the sum of the squares of
// the padded lengths, with interpolation.
//
//   TimeGrid grid{.tokens = {0, 1024}, .squares = {0, 1048576}, .ms = {3, 9, 8, 20}};
//   grid.at(512, 262144);  // between 3, 8 and 20: a row of 512 tokens
//
// Each cell of the grid is cut in two by the diagonal from its least to its greatest corner. On
// each half the time is the plane through its three corners. So the time is continuous, and
// increases if the entries do.
struct TimeGrid {
  // Ascending from 0, two entries at least.
  std::vector<double> tokens;
  std::vector<double> squares;
  // By tokens, then squares; not decreasing in either, never negative.
  std::vector<Ms> ms;

  Ms entry(std::size_t token, std::size_t square) const {
    return ms[token * squares.size() + square];
  }
  // Beyond the last entries, the plane of the last cell continues.
  Ms at(double token, double square) const {
    const std::size_t i = cell(tokens, token);
    const std::size_t j = cell(squares, square);
    const double u = (token - tokens[i]) / (tokens[i + 1] - tokens[i]);
    const double v = (square - squares[j]) / (squares[j + 1] - squares[j]);
    const Ms* const low = ms.data() + i * squares.size() + j;
    const Ms* const high = low + squares.size();
    return u >= v ? low[0] + u * (high[0] - low[0]) + v * (high[1] - high[0])
                  : low[0] + v * (low[1] - low[0]) + u * (high[1] - low[1]);
  }

  bool operator==(const TimeGrid&) const = default;

 private:
  // Returns the index of the last entry that is at most `value`, or of the last but one entry.
  static std::size_t cell(const std::vector<double>& axis, double value) {
    std::size_t first = 0;
    for (std::size_t left = axis.size() - 2; left > 0;) {
      const std::size_t step = (left + 1) / 2;
      const bool beyond = axis[first + step] <= value;
      first = beyond ? first + step : first;
      left = beyond ? left - step : step - 1;
    }
    return first;
  }
};

// Coefficients of the time model in cost/cost_model.h.
struct ScatterCost {
  double quadratic_ms = 0;  // alpha1, ms per token^2
  double linear_ms = 0;     // alpha2, ms per token
  Ms fixed_ms = 0;          // beta1, once per group with sequences
  AllToAll all_to_all;
  Ms sequence_fixed_ms = 0;  // once per sequence, on every device of its group
  // Of a token whose sequence d devices share, times 1 - 1/d, on every device of the group:
  // attention over shorter parts of a sequence takes longer than its share of the whole.
  double split_ms = 0;
  Tokens tile_tokens = 1;  // attention computes whole tiles: lengths are rounded up
  SlidingWindow window;
  std::optional<Exchange> exchange;  // with it, all_to_all is not used
  // The measured times of groups, by degree. With any entry, every allowed degree needs one, and
  // the other coefficients are not used.
  std::map<int, TimeGrid> table;
  // Keys of coefficients of which the measurements determine only the sum, not the split. For
  // information only.
  std::vector<std::string> undetermined;

  bool operator==(const ScatterCost&) const = default;
};

// The rules that the consumer of the plan sets. The defaults set none. Sources: the packing
// scheduler and the hybrid context parallelism of Megatron-Core, the micro-batches and the equal
// partitions of verl.
struct ScatterRules {
  bool no_idle_ranks = false;                  // in every micro-batch the degrees sum to N
  bool sorted_groups = false;                  // degrees do not increase with the rank
  std::int64_t micro_batches_multiple_of = 1;  // their number is a multiple of it, >= 1
  int min_degree = 1;                          // smaller degrees of the cluster are not used
  Tokens max_tokens_per_rank = kMaxExact;      // of a group's padded tokens, beside memory; >= 1
  std::int64_t max_sequences_per_group = kMaxExact;  // >= 1
  bool equal_sequences = false;  // the groups of a micro-batch hold the same number
  // False: a group computes its sequences one by one. Every sequence then pays the fixed time and
  // the latency, and memory must hold the longest sequence instead of their sum.
  bool packed = true;

  bool operator==(const ScatterRules&) const = default;
};

// Padding by the form of a group, in place of one multiple for all groups. On a group of degree d
// each sequence is padded to a multiple of lcm(sequence_multiple, a d), and the packed row to a
// multiple of lcm(row_multiple, d). a is device_multiple, or lcm(2, device_multiple) if the devices
// hold two chunks of each sequence (ring, all_gather, two_level). The padding of a row lies behind
// its last sequence; it costs linear work and exchange, but no attention. Without `per_degree` the
// two multiples are sequence_multiple and row_multiple for all groups.
struct Padding {
  Tokens sequence_multiple = 1;  // >= 1
  Tokens row_multiple = 1;       // >= 1
  bool per_degree = true;
  // The part of each sequence on a device is a multiple of it: the ranks of tensor parallelism that
  // share the part, or 2 for a loop that cuts each sequence into two chunks a device with any
  // exchange. 0: an all-to-all cuts the row, wherever its sequences end, and a is 2 for the others.
  int device_multiple = 1;

  bool operator==(const Padding&) const = default;
};

// Micro-batches may hold rows of single devices beside one row that all devices share. Each device
// then computes its own row and its part of the shared row, one after the other, while the shared
// row exchanges: cost/mixed.h has the time. Needs the degrees 1 and N alone, and an all-to-all.
// Source: Skrull (arXiv 2505.19609, section 4).
struct MixedMicroBatches {
  double hidden_share = 1;  // in [0, 1], of the exchange, which work on the own rows can hide

  bool operator==(const MixedMicroBatches&) const = default;
};

struct ScatterInstance {
  std::string name;
  Cluster cluster;
  ModelMemory model;
  ScatterCost cost;
  ScatterRules rules = {};
  // p >= 1: every micro-batch goes through p stages, one after another, and takes its makespan on
  // each. Cluster, model and cost are those of one stage.
  int pipeline_stages = 1;
  Tokens pad_multiple = 1;              // every length is rounded up to a multiple of it first
  std::optional<Padding> padding = {};  // in place of pad_multiple, which is then 1
  // Absent: the groups of a micro-batch share no device.
  std::optional<MixedMicroBatches> mixed = {};
  std::vector<Tokens> lengths;  // the id of a sequence is its index here
  // Targets of each sequence, 0 to its length: the tokens over which the loss is summed (labels
  // that are not masked). Empty: all tokens are targets.
  std::vector<Tokens> loss_tokens;

  bool operator==(const ScatterInstance&) const = default;
};

// Returns the time of a step with this sum of makespans and this longest makespan: sum + (p - 1)
// longest. The first stage computes the micro-batches one after another. Then the last micro-batch
// has p - 1 stages to go, each at the pace of the longest makespan.
inline Ms step_ms(const ScatterInstance& instance, Ms sum, Ms longest) {
  return sum + (instance.pipeline_stages - 1) * longest;
}

// Returns the largest multiple that every group pads its sequences to: pad_multiple unless the
// instance has `padding`. padding.h has the multiples of one form of groups.
Tokens common_multiple(const ScatterInstance& instance);

// Returns `length` rounded up to a multiple of common_multiple(): the tokens that the sequence has
// on any group. Requires length <= kMaxExact.
inline Tokens padded_length(const ScatterInstance& instance, Tokens length) {
  return round_up(length, instance.padding ? common_multiple(instance) : instance.pad_multiple);
}

// Returns the targets of the sequence: its share of the number that the step's sum of token losses
// is divided by. Requires a known id.
inline Tokens targets_of(const ScatterInstance& instance, std::int64_t id) {
  const auto& targets = instance.loss_tokens.empty() ? instance.lengths : instance.loss_tokens;
  return targets[static_cast<std::size_t>(id)];
}

// Returns padded_length() of all sequences, in id order.
std::vector<Tokens> padded_lengths(const ScatterInstance& instance);

}  // namespace stowage
