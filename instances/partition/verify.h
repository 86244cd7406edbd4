// The independent verifier of a balanced partition: is it one, and is what it says true?
//
// Rules, with n sequences and k bins, and every amount recomputed here:
//
//   bins              there are k bins
//   unknown_sequence  ids are in [0, n)
//   coverage          each sequence stands in exactly one bin, once
//   empty_bin         a bin has a sequence
//   counts            of equal counts all bins hold n / k sequences; of nearly equal ones, floor or
//                     ceiling of that
//   tokens            tokens is the sum of the bin's lengths
//   cost              cost is the sum of the bin's costs
//   largest           largest is the greatest cost of a bin
//   smallest          smallest is the least cost of a bin
//   bound             lower_bound is at most `largest` and at most what the bound named in bound_by
//                     amounts to here
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <string_view>
#include <vector>

#include "instances/partition/partition.h"
#include "instances/violation.h"

namespace stowage {

// Names of all rules, in the order of the table above.
std::vector<std::string_view> partition_verify_rules();

// Every violation found, empty for a valid partition; by rule in the order of the table, then by
// place. Requires an instance without errors (check()). O(n log n).
std::vector<Violation> verify(const PartitionInstance& instance, const Partition& partition);

}  // namespace stowage
