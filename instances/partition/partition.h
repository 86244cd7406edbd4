// Balanced partitions: the sequences of a batch over k bins of nearly equal cost.
//
//   const PartitionInstance batch{.lengths = {4000, 300, 2500, 900}, .bins = 2};
//   for (const InputError& error : check(batch)) std::cerr << to_string(error) << '\n';
//
// A sequence of s tokens costs quadratic * s^2 + linear * s, an integer without a unit. No bin is
// empty. The best partition has the cheapest largest bin and, among these, the dearest smallest
// bin. Source of the default cost: verl's workload of a transformer with 4,096 hidden units (24576
// s + s^2).
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "instances/result.h"
#include "instances/units.h"
#include "instances/violation.h"

namespace stowage {

// The rule for the number of sequences in a bin.
enum class PartitionCounts {
  any,           // at least one
  equal,         // the same number in all bins, which must divide the number of sequences
  nearly_equal,  // numbers that differ by at most one
};

struct PartitionInstance {
  std::vector<Tokens> lengths;  // 1 to kMaxExact
  std::int64_t bins = 1;        // 1 to the number of sequences
  PartitionCounts counts = PartitionCounts::any;
  std::int64_t quadratic = 1;   // cost of a token squared, from 0; one of the two is positive
  std::int64_t linear = 24576;  // cost of a token, from 0
};

struct PartitionBin {
  std::vector<std::int64_t> sequences;  // ascending indices into `lengths`
  Tokens tokens = 0;
  std::int64_t cost = 0;

  bool operator==(const PartitionBin&) const = default;
};

struct Partition {
  std::vector<PartitionBin> bins;  // by their first sequence
  std::int64_t largest = 0;        // cost of the largest bin
  std::int64_t smallest = 0;       // cost of the smallest bin
  std::int64_t lower_bound = 0;    // no partition has a cheaper largest bin
  std::string bound_by;            // "average" or "pigeonhole" (docs/theory/partitions.md)

  bool operator==(const Partition&) const = default;
};

// Returns every error of the instance, with pointers "/lengths/3" or "/bins": E108 too many
// sequences, E205 a number out of its range, E351 fewer sequences than bins, E352 a number of
// sequences that equal counts cannot share, E353 costs that sum to more than kMaxExact. O(n).
std::vector<InputError> check(const PartitionInstance& instance);

// Returns the cost of each sequence, in their order. Requires an instance without errors. O(n).
std::vector<std::int64_t> partition_costs(const PartitionInstance& instance);

// Returns the names of a partition's rules, in the order of the table in
// docs/reference/partitions.md.
std::vector<std::string_view> partition_verify_rules();

// The independent verifier (verify.cc): checks whether the partition is valid for the instance and
// whether its stated values are true. Returns every violation, by rule in the order of the table,
// then by place; empty for a valid partition. Requires an instance without errors (check()). O(n
// log n).
std::vector<Violation> verify(const PartitionInstance& instance, const Partition& partition);

}  // namespace stowage
