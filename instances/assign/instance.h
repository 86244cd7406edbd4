// The assign instance: a training step's sequences and the replicas that may share them.
//
// A scheme is a pipeline shape (tensor-parallel degree, pipeline stages) with a time model and a
// cap on the tokens of one row. A strategy is a multiset of schemes, the replicas, that fits on the
// devices. For one step a strategy is chosen, every sequence is dispatched to one replica whose cap
// admits it, and each replica's sequences are packed into rows, one row a micro-batch, so that the
// slowest replica is as fast as possible:
//
//   row      t_g(B) = fixed + sum over B of (quadratic s^2 + linear s)
//   replica  T = sum_j t_g(B_j) + (pp_g - 1) max_j t_g(B_j); 0 without rows
//   step     max over the replicas of T
//
// A part of a sequence that was cut (ChunkRule) takes fixed + quadratic (end^2 - begin^2) + linear
// (end - begin), and a third more if it goes forward twice.
//
// Source: Hydraulis (arXiv 2412.07894, section 4). The format is in instances/assign/README.md.
//
//   AssignInstance step{.name = "two",
//                       .devices = 6,
//                       .schemes = {{.name = "4x1", .tp = 4, .pp = 1, .linear_ms = 0.1,
//                                    .fixed_ms = 5, .max_tokens = 4096},
//                                   {.name = "2x1", .tp = 2, .pp = 1, .linear_ms = 0.2,
//                                    .fixed_ms = 5, .max_tokens = 1024}},
//                       .strategies = {{.name = "both", .replicas = {1, 1}}},
//                       .lengths = {2000, 300}};
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/units.h"

namespace stowage {

struct Scheme {
  std::string name;         // unique
  int tp = 1;               // tensor-parallel degree, >= 1
  int pp = 1;               // pipeline stages, >= 1
  double quadratic_ms = 0;  // a, ms per token^2 of a sequence
  double linear_ms = 0;     // b, ms per token
  Ms fixed_ms = 0;          // c, once per row
  Tokens max_tokens = 0;    // of a row, after padding; >= 1

  bool operator==(const Scheme&) const = default;
};

struct Strategy {
  std::string name;           // unique
  std::vector<int> replicas;  // how many of each scheme, in the order of AssignInstance::schemes

  bool operator==(const Strategy&) const = default;
};

// How a plan is to choose where the parts of a sequence end.
enum class ChunkBoundaries {
  fixed,         // at multiples of the rule's size
  equal_time,    // where the parts, as many at most, take equally long
  least_bubble,  // where the replica is fastest
};
inline constexpr std::array<std::string_view, 3> kChunkBoundaries = {"fixed", "equal_time",
                                                                     "least_bubble"};
inline constexpr std::int64_t kMostPartsPerSize = 4;  // where boundaries are not fixed

// Rows by ChunkFlow (arXiv 2503.02356): a sequence of more than `size` tokens is cut into parts of
// `size`, the last one shorter, each a row by itself; other rows hold `size` tokens at most. Of a
// sequence's parts only the last `retained` keep their activations, the others keep keys and values
// and go forward once more before they go backward (chunk_flow.h).
//
// Bytes are those of a token in one layer, per hidden unit; only their ratio matters. The defaults
// are those of half precision without attention's scores (Korthikanti et al., arXiv 2205.05198,
// section 4.1) and of two tensors as wide as the model.
//
// Where the parts end may be left to the plan (chunk_cuts.h): parts then have up to `size` tokens
// each, and there are at most four times as many as parts of that size would be.
struct ChunkRule {
  Tokens size = 0;  // after padding; >= 1
  int retained = 1;
  std::int64_t activation_bytes = 34;  // all that the backward pass needs
  std::int64_t key_value_bytes = 4;    // of these, keys and values; from 1 to activation_bytes
  ChunkBoundaries boundaries = ChunkBoundaries::fixed;

  bool operator==(const ChunkRule&) const = default;
};

struct RowConstraints {
  int rows_multiple_of = 1;         // of the rows of every replica that has any
  bool equal_rows = false;          // all replicas that have rows have equally many
  bool allow_empty = true;          // a replica may have no rows
  std::optional<ChunkRule> chunks;  // with it the other three have their defaults

  bool operator==(const RowConstraints&) const = default;
};

struct AssignInstance {
  std::string name;
  int devices = 0;  // N >= 1; sum of tp * pp of a strategy's replicas is at most N
  std::vector<Scheme> schemes;
  std::vector<Strategy> strategies;  // at least one, each with a replica
  RowConstraints constraints;
  Tokens pad_multiple = 1;      // every length is rounded up to a multiple of it before all else
  std::vector<Tokens> lengths;  // the id of a sequence is its index here
  // Targets of each sequence, 0 to its length: the tokens that the loss is a sum over (labels that
  // are not masked). Empty: all tokens are.
  std::vector<Tokens> loss_tokens;

  bool operator==(const AssignInstance&) const = default;
};

// length rounded up to a multiple of pad_multiple. Requires length <= kMaxExact.
inline Tokens padded_length(const AssignInstance& instance, Tokens length) {
  return round_up(length, instance.pad_multiple);
}

// What the sequence adds to the number that a sum of token losses is divided by. Requires a
// known id.
inline Tokens targets_of(const AssignInstance& instance, std::int64_t id) {
  const auto& targets = instance.loss_tokens.empty() ? instance.lengths : instance.loss_tokens;
  return targets[static_cast<std::size_t>(id)];
}

// All padded lengths, in id order.
std::vector<Tokens> padded_lengths(const AssignInstance& instance);

// The most tokens of one row on the scheme: its cap, or the size of a chunk if that is less.
Tokens row_cap(const AssignInstance& instance, const Scheme& scheme);

// The longest sequence that the scheme admits: its cap or, cut into chunks of at most that, as many
// tokens as its stages have memory for. Those hold pp caps between them, since so many rows are
// under way on the first; a sequence takes activations for `retained` chunks, keys and values for
// the rest:
//
//   activation_bytes min(L, retained size) + key_value_bytes max(0, L - retained size)
//     <= activation_bytes pp max_tokens
Tokens longest_sequence(const AssignInstance& instance, const Scheme& scheme);

// Into how many parts a rule may cut a sequence of more than rule.size tokens.
std::int64_t most_parts(const ChunkRule& rule, Tokens length);

// Into how many parts the rule may cut the sequences, those left whole not counted; 0 without one.
std::int64_t cut_parts(const AssignInstance& instance);

// The longest sequence that any of the strategy's replicas admits.
Tokens longest_allowed(const AssignInstance& instance, const Strategy& strategy);

// Indices of the strategies whose longest_allowed() admits every sequence, ascending: no other can
// serve this step.
std::vector<std::size_t> usable_strategies(const AssignInstance& instance);

// Ids of sequences that no strategy admits. Empty exactly if a strategy is usable. Whether there is
// a plan then depends on the row constraints alone: without them each sequence may have a row of
// its own.
std::vector<std::int64_t> unplaceable_sequences(const AssignInstance& instance);

}  // namespace stowage
