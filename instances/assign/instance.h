// The assign instance: a training step's sequences and the replicas that may share them.
//
// A scheme is a pipeline shape (tensor-parallel degree, pipeline stages) with a time model and a
// cap on the tokens of one row. A strategy is a multiset of schemes, the replicas, that fits on the
// devices. A plan chooses one strategy for the step, and dispatches every sequence to one replica
// whose cap admits it. It packs each replica's sequences into rows, one row a micro-batch, so that
// the slowest replica is as fast as possible:
//
//   row      t_g(B) = fixed + sum over B of (quadratic s^2 + linear s)
//   replica  T = sum_j t_g(B_j) + (pp_g - 1) max_j t_g(B_j); 0 without rows
//   step     max over the replicas of T
//
// A part of a cut sequence (ChunkRule) takes fixed + quadratic (end^2 - begin^2) + linear (end -
// begin), and a third more if it goes forward twice.
//
// Source: Hydraulis (arXiv 2412.07894, section 4). The format is in docs/reference/assign.md.
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
  std::vector<int> replicas;  // count of each scheme, in the order of AssignInstance::schemes

  bool operator==(const Strategy&) const = default;
};

// The rule by which a plan chooses the ends of a sequence's parts.
enum class ChunkBoundaries {
  fixed,         // at multiples of the rule's size
  equal_time,    // where all parts take equally long, with no more parts
  least_bubble,  // where the replica's time is least
};
inline constexpr std::array<std::string_view, 3> kChunkBoundaries = {"fixed", "equal_time",
                                                                     "least_bubble"};
inline constexpr std::int64_t kMaxPartsPerSize = 4;  // if boundaries are not fixed

// Rows by ChunkFlow (arXiv 2503.02356). A sequence of more than `size` tokens is cut into parts of
// `size`, the last one shorter, and each part is a row. Other rows hold at most `size` tokens. Only
// the last `retained` parts of a sequence keep their activations. The others keep keys and values,
// and go forward again before they go backward (chunks/chunk_flow.h).
//
// Bytes are those of a token in one layer, per hidden unit; only their ratio matters. The defaults
// are those of half precision without attention's scores (Korthikanti et al., arXiv 2205.05198,
// section 4.1), and of two tensors as wide as the model.
//
// The plan may choose the ends of the parts (chunks/chunk_cuts.h). Parts then have up to `size`
// tokens each, and there are at most four times as many as parts of that size would be.
struct ChunkRule {
  Tokens size = 0;  // after padding; >= 1
  int retained = 1;
  std::int64_t activation_bytes = 34;  // all tensors of the backward pass
  std::int64_t key_value_bytes = 4;    // of these, keys and values; from 1 to activation_bytes
  ChunkBoundaries boundaries = ChunkBoundaries::fixed;

  bool operator==(const ChunkRule&) const = default;
};

struct RowConstraints {
  int rows_multiple_of = 1;         // of the rows of every replica that has rows
  bool equal_rows = false;          // all replicas that have rows have the same number
  bool allow_empty = true;          // a replica may have no rows
  std::optional<ChunkRule> chunks;  // if set, the other three have their defaults

  bool operator==(const RowConstraints&) const = default;
};

struct AssignInstance {
  std::string name;
  int devices = 0;  // N >= 1; sum of tp * pp of a strategy's replicas is at most N
  std::vector<Scheme> schemes;
  std::vector<Strategy> strategies;  // at least one, each with a replica
  RowConstraints constraints;
  Tokens pad_multiple = 1;      // every length is rounded up to a multiple of it first
  std::vector<Tokens> lengths;  // the id of a sequence is its index here
  // Targets of each sequence, 0 to its length: the tokens over which the loss is summed (labels
  // that are not masked). Empty: all tokens are targets.
  std::vector<Tokens> loss_tokens;

  bool operator==(const AssignInstance&) const = default;
};

// Returns `length` rounded up to a multiple of pad_multiple. Requires length <= kMaxExact.
inline Tokens padded_length(const AssignInstance& instance, Tokens length) {
  return round_up(length, instance.pad_multiple);
}

// Returns the targets of the sequence: its share of the number that the sum of token losses is
// divided by. Requires a known id.
inline Tokens targets_of(const AssignInstance& instance, std::int64_t id) {
  const auto& targets = instance.loss_tokens.empty() ? instance.lengths : instance.loss_tokens;
  return targets[static_cast<std::size_t>(id)];
}

// Returns all padded lengths, in id order.
std::vector<Tokens> padded_lengths(const AssignInstance& instance);

// Returns the most tokens of one row on the scheme: its cap, or the size of a chunk if that is
// less.
Tokens row_cap(const AssignInstance& instance, const Scheme& scheme);

// Returns the longest sequence that the scheme admits. Without chunks that is its cap. If the
// scheme's rows hold a chunk, it is as many tokens as its stages have memory for. The stages hold
// pp caps together, since so many rows are under way on the first stage. A sequence takes
// activations for `retained` chunks, and keys and values for the rest:
//
//   activation_bytes min(L, retained size) + key_value_bytes max(0, L - retained size)
//     <= activation_bytes pp max_tokens
Tokens longest_sequence(const AssignInstance& instance, const Scheme& scheme);

// Returns the most parts that a rule may cut a sequence of more than rule.size tokens into.
std::int64_t most_parts(const ChunkRule& rule, Tokens length);

// Returns the most parts that the rule may cut all sequences into, whole sequences not counted; 0
// without a rule.
std::int64_t cut_parts(const AssignInstance& instance);

// Returns the longest sequence that any of the strategy's replicas admits.
Tokens longest_allowed(const AssignInstance& instance, const Strategy& strategy);

// Returns the indices of the strategies whose longest_allowed() admits every sequence, ascending.
// No other strategy can serve this step.
std::vector<std::size_t> usable_strategies(const AssignInstance& instance);

// Returns the ids of sequences that no strategy admits. The list is empty exactly if a strategy is
// usable. Whether there is a plan then depends only on the row constraints: without them each
// sequence may have a row of its own.
std::vector<std::int64_t> unplaceable_sequences(const AssignInstance& instance);

}  // namespace stowage
