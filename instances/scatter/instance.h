// The scatter instance: a training step's sequences and the cluster they are scattered over.
//
// A step gets K sequences and N devices. It is cut into micro-batches that run one after another;
// inside a micro-batch the devices are partitioned into sequence-parallel groups of degree d, and
// every sequence is scattered over exactly one group. The groups run side by side, a micro-batch
// lasts as long as its slowest group, and the sum of these makespans is minimised.
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
#include <string>
#include <vector>

#include "instances/units.h"

namespace stowage {

struct Cluster {
  int devices = 0;           // N >= 1
  int devices_per_node = 8;  // used by pictures and generators, never by a rule
  Mib memory_mib = 0;        // usable memory of one device
  std::vector<int> degrees;  // allowed group degrees, strictly increasing, each in [1, N]
  // Groups of degree d start at a rank that is a multiple of d. Then the degrees must form a
  // divisibility chain (each divides the next), so that every multiset of degrees whose sum is at
  // most N can be placed, largest first. With `aligned = false` any degrees go, at any first rank.
  bool aligned = true;

  bool operator==(const Cluster&) const = default;
};

struct ModelMemory {
  Mib states_mib = 0;                // parameters, gradients, optimizer states on one device
  Mib activation_mib_per_token = 0;  // activations of one token that stays on one device; > 0

  bool operator==(const ModelMemory&) const = default;
};

// The exchange before and after attention. Maps are keyed by degree; degree 1 exchanges nothing.
struct AllToAll {
  Mib mib_per_token = 0;
  std::map<int, double> mib_per_ms;  // needed for every allowed degree > 1 if mib_per_token > 0
  std::map<int, Ms> latency_ms;      // once per group; missing = 0

  bool operator==(const AllToAll&) const = default;
};

// Coefficients of the time model in cost_model.h.
struct ScatterCost {
  double quadratic_ms = 0;  // alpha1, ms per token^2
  double linear_ms = 0;     // alpha2, ms per token
  Ms fixed_ms = 0;          // beta1, once per group that is used
  AllToAll all_to_all;

  bool operator==(const ScatterCost&) const = default;
};

struct ScatterInstance {
  std::string name;
  Cluster cluster;
  ModelMemory model;
  ScatterCost cost;
  Tokens pad_multiple = 1;      // every length is rounded up to a multiple of it before all else
  std::vector<Tokens> lengths;  // the id of a sequence is its index here

  bool operator==(const ScatterInstance&) const = default;
};

// length rounded up to a multiple of pad_multiple. Requires length <= kMaxExact.
inline Tokens padded_length(const ScatterInstance& instance, Tokens length) {
  return round_up(length, instance.pad_multiple);
}

// All padded lengths, in id order.
std::vector<Tokens> padded_lengths(const ScatterInstance& instance);

// C: how many tokens one device holds, floor((memory - states) / activation per token), at least 0
// and at most kMaxExact.
Tokens tokens_per_device(const ScatterInstance& instance);

// C * d clamped to kMaxExact: how many tokens a group of degree `degree` holds.
Tokens group_capacity(const ScatterInstance& instance, int degree);

// Ids of sequences that fit no group: their padded length exceeds C * d for every allowed degree.
// If this is empty the instance is feasible, since every sequence may have a micro-batch of its
// own.
std::vector<std::int64_t> unplaceable_sequences(const ScatterInstance& instance);

}  // namespace stowage
