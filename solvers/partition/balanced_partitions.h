// Balanced partitions with a proof: heuristic -> bounds -> independent verifier.
//
//   PartitionOutcome outcome = balanced_partitions({.lengths = lengths, .bins = 8});
//   if (outcome.partition) use(outcome.partition->bins);
//
// Takes milliseconds: 512 sequences over 8 bins less than one, 8,192 over 512 some forty, or two if
// counts are equal.
//
// Thread safety: its function reads its arguments and nothing else; any number of threads may call
// it at once.
#pragma once

#include <optional>
#include <vector>

#include "instances/partition/partition.h"
#include "instances/result.h"
#include "instances/violation.h"

namespace stowage {

struct PartitionOutcome {
  std::optional<Partition> partition;  // verified
  double gap = 0;                      // relative_gap() of its largest bin and its lower bound
  std::vector<InputError> errors;      // of the instance: what check() says; then no partition
  std::vector<Violation> violations;   // of a partition that the verifier refused: a bug
};

// A partition of the sequences into bins, none empty, with the counts that the instance asks for:
// the largest bin as cheap as the search can make it, then the smallest as dear. The same instance
// gives the same partition. Throws nothing but bad_alloc.
PartitionOutcome balanced_partitions(const PartitionInstance& instance);

}  // namespace stowage
