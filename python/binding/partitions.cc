// balanced_partitions(): the call, and its bins as flat arrays.
#include <nanobind/stl/string.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "python/binding/boxes.h"
#include "python/binding/errors.h"
#include "solvers/partition/balanced_partitions.h"

namespace stowage::python {
namespace {

using Lengths = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

PartitionOutcome partitioned(const Lengths& lengths, std::int64_t bins, PartitionCounts counts,
                             std::int64_t quadratic, std::int64_t linear) {
  const nb::gil_scoped_release unlocked;
  PartitionOutcome outcome =
      balanced_partitions({.lengths = {lengths.data(), lengths.data() + lengths.size()},
                           .bins = bins,
                           .counts = counts,
                           .quadratic = quadratic,
                           .linear = linear});
  if (!outcome.errors.empty()) throw CodedErrors(outcome.errors);
  return outcome;
}

// (sequences, offsets, tokens, costs, largest, smallest, lower bound, its name, gap)
nb::tuple balanced(const Lengths& lengths, std::int64_t bins, const std::string& counts,
                   std::int64_t quadratic, std::int64_t linear) {
  const PartitionOutcome outcome = partitioned(lengths, bins,
                                               counts == "any"     ? PartitionCounts::any
                                               : counts == "equal" ? PartitionCounts::equal
                                                                   : PartitionCounts::nearly_equal,
                                               quadratic, linear);
  if (!outcome.partition) {
    throw std::runtime_error("the partition is invalid: " + to_string(outcome.violations.front()));
  }
  const Partition& found = *outcome.partition;
  std::vector<std::int64_t> sequences;
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> costs;
  for (const PartitionBin& bin : found.bins) {
    sequences.insert(sequences.end(), bin.sequences.begin(), bin.sequences.end());
    offsets.push_back(std::ssize(sequences));
    tokens.push_back(bin.tokens);
    costs.push_back(bin.cost);
  }
  return nb::make_tuple(array_of(std::move(sequences)), array_of(std::move(offsets)),
                        array_of(std::move(tokens)), array_of(std::move(costs)), found.largest,
                        found.smallest, found.lower_bound, found.bound_by, outcome.gap);
}

}  // namespace

void bind_partitions(nb::module_& module) {
  constexpr const char* kSignature =
      "def balanced_partitions(lengths: numpy.typing.NDArray[numpy.int64], bins: int, counts: str, "
      "quadratic: int, linear: int) -> tuple[numpy.typing.NDArray[numpy.int64], "
      "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], "
      "numpy.typing.NDArray[numpy.int64], int, int, int, str, float]";
  module.def("balanced_partitions", &balanced, nb::sig(kSignature));
}

}  // namespace stowage::python
