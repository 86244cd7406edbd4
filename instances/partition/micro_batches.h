// Micro-batches: the sequences of a batch over ranks, each of which runs the same number of
// micro-batches below a strict token limit.
//
//   const MicroBatchInstance batch{.lengths = {7, 7, 7, 7}, .ranks = 2, .max_tokens = 8};
//   for (const InputError& error : check(batch)) std::cerr << to_string(error) << '\n';
//
// No micro-batch is empty. A sequence of s tokens costs quadratic * s^2 + linear * s, as in a
// balanced partition (partition.h). The best plan has the fewest micro-batches per rank, among
// these the cheapest largest rank, and among these the cheapest largest micro-batch.
//
// Not installed.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "instances/json/limits.h"
#include "instances/partition/partition.h"
#include "instances/result.h"
#include "instances/units.h"
#include "instances/violation.h"

namespace stowage {

struct MicroBatchInstance {
  std::vector<Tokens> lengths;     // 1 to kMaxExact
  std::int64_t ranks = 1;          // 1 to the number of groups of sequences
  Tokens max_tokens = kMaxExact;   // of a micro-batch, from 1
  std::int64_t multiple_of = 1;    // the number of micro-batches of a rank is a multiple of it
  std::int64_t at_least = 1;       // least number of micro-batches of a rank
  std::vector<std::int64_t> kept;  // sequences of equal labels share a micro-batch; empty: none do
  std::int64_t quadratic = PartitionInstance().quadratic;  // cost of a token squared, from 0
  std::int64_t linear = PartitionInstance().linear;        // cost of a token, from 0
};

// The micro-batches of a rank, the most expensive first.
using RankMicroBatches = std::vector<PartitionBin>;

struct MicroBatches {
  std::vector<RankMicroBatches> ranks;  // by their first sequence
  std::int64_t largest = 0;             // cost of the most expensive rank
  std::int64_t smallest = 0;            // cost of the cheapest rank
  std::int64_t lower_bound = 0;         // no plan has a cheaper most expensive rank
  std::string bound_by;                 // "average" or "pigeonhole"
  std::int64_t fewest = 0;              // no plan has fewer micro-batches on each rank
  std::string fewest_by;  // "tokens", "large" or "staircase" (docs/theory/partitions.md)

  bool operator==(const MicroBatches&) const = default;
};

// The sequences that stay together: one unit of a plan.
struct KeptUnit {
  std::vector<std::int64_t> sequences;  // ascending
  Tokens tokens = 0;
  std::int64_t cost = 0;
};

// Returns every error of the instance, with pointers "/lengths/3" or "/ranks": those of a balanced
// partition, E354 a sequence or a group above max_tokens, E355 fewer groups than micro-batches,
// E356 labels that are not one per sequence. O(n log n).
std::vector<InputError> check(const MicroBatchInstance& instance);

// Returns the units by their first sequence. Requires an instance without errors. O(n log n).
std::vector<KeptUnit> kept_units(const MicroBatchInstance& instance);

// Returns the least number of micro-batches of a rank that holds `micro_batches` of all ranks: at
// least at_least, and a multiple of multiple_of.
std::int64_t micro_batches_per_rank(const MicroBatchInstance& instance, std::int64_t micro_batches);

// Returns the names of the rules of micro-batches, in the order of the table in
// docs/reference/partitions.md.
std::vector<std::string_view> micro_batch_verify_rules();

// The independent verifier (micro_batch_verify.cc): checks whether the micro-batches are valid for
// the instance and whether their stated values are true. Returns every violation, by rule in the
// order of the table, then by place. Requires an instance without errors (check()). O(n log n).
std::vector<Violation> verify(const MicroBatchInstance& instance, const MicroBatches& plan);

}  // namespace stowage
