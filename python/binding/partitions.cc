// balanced_partitions(): returns the bins as flat arrays or as lists.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "python/binding/boxes.h"
#include "python/binding/errors.h"
#include "solvers/outcome.h"
#include "solvers/partition/balanced_partitions.h"
#include "solvers/partition/micro_batches.h"

namespace stowage::python {
namespace {

using Lengths = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Returns a verified partition; other Python threads run meanwhile.
Partition partitioned(const PartitionInstance& instance) {
  const nb::gil_scoped_release unlocked;
  PartitionOutcome outcome = balanced_partitions(instance);
  if (!outcome.errors.empty()) throw CodedErrors(outcome.errors);
  if (!outcome.partition) {
    throw std::runtime_error("the partition is invalid: " + to_string(outcome.violations.front()));
  }
  return *std::move(outcome.partition);
}

// Bins as flat arrays.
struct FlatBins {
  std::vector<std::int64_t> sequences;
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> costs;

  void add(const PartitionBin& bin) {
    sequences.insert(sequences.end(), bin.sequences.begin(), bin.sequences.end());
    offsets.push_back(std::ssize(sequences));
    tokens.push_back(bin.tokens);
    costs.push_back(bin.cost);
  }
};

// Returns (sequences, offsets, tokens, costs, largest, smallest, lower bound, its name, gap).
nb::tuple balanced(const Lengths& lengths, std::int64_t bins, const std::string& counts,
                   std::int64_t quadratic, std::int64_t linear) {
  const Partition found =
      partitioned({.lengths = {lengths.data(), lengths.data() + lengths.size()},
                   .bins = bins,
                   .counts = counts == "any"     ? PartitionCounts::any
                             : counts == "equal" ? PartitionCounts::equal
                                                 : PartitionCounts::nearly_equal,
                   .quadratic = quadratic,
                   .linear = linear});
  FlatBins flat;
  for (const PartitionBin& bin : found.bins) flat.add(bin);
  return nb::make_tuple(
      array_of(std::move(flat.sequences)), array_of(std::move(flat.offsets)),
      array_of(std::move(flat.tokens)), array_of(std::move(flat.costs)), found.largest,
      found.smallest, found.lower_bound, found.bound_by,
      relative_gap(static_cast<double>(found.largest), static_cast<double>(found.lower_bound)));
}

// Returns (sequences, offsets, tokens, costs, largest, smallest, lower bound, its name, gap, fewest
// micro-batches of a rank, its name), with one entry per micro-batch, rank after rank.
nb::tuple micro_batches(const Lengths& lengths, std::int64_t ranks, std::int64_t max_tokens,
                        std::int64_t multiple_of, std::int64_t at_least, const Lengths& kept,
                        std::int64_t quadratic, std::int64_t linear) {
  const MicroBatchInstance instance{.lengths = {lengths.data(), lengths.data() + lengths.size()},
                                    .ranks = ranks,
                                    .max_tokens = max_tokens,
                                    .multiple_of = multiple_of,
                                    .at_least = at_least,
                                    .kept = {kept.data(), kept.data() + kept.size()},
                                    .quadratic = quadratic,
                                    .linear = linear};
  const MicroBatchOutcome outcome = [&] {
    const nb::gil_scoped_release unlocked;
    return plan_micro_batches(instance);
  }();
  if (!outcome.errors.empty()) throw CodedErrors(outcome.errors);
  if (!outcome.plan) {
    throw std::runtime_error("the micro-batches are invalid: " +
                             to_string(outcome.violations.front()));
  }
  FlatBins flat;
  for (const RankMicroBatches& rank : outcome.plan->ranks) {
    for (const PartitionBin& batch : rank) flat.add(batch);
  }
  const MicroBatches& found = *outcome.plan;
  return nb::make_tuple(array_of(std::move(flat.sequences)), array_of(std::move(flat.offsets)),
                        array_of(std::move(flat.tokens)), array_of(std::move(flat.costs)),
                        found.largest, found.smallest, found.lower_bound, found.bound_by,
                        outcome.gap, found.fewest, found.fewest_by);
}

// Takes costs and returns bins as Python lists. Returns nullopt if an item is not an integer of 64
// bits; the call with arrays then reports the error.
std::optional<nb::list> balanced_lists(const nb::list& costs, std::int64_t bins, bool equal) {
  PartitionInstance instance{.bins = bins,
                             .counts = equal ? PartitionCounts::equal : PartitionCounts::any,
                             .quadratic = 0,
                             .linear = 1};
  instance.lengths.reserve(costs.size());
  for (const nb::handle item : costs) {
    int beyond = 0;
    if (!PyLong_CheckExact(item.ptr())) return std::nullopt;
    const std::int64_t cost = PyLong_AsLongLongAndOverflow(item.ptr(), &beyond);
    if (beyond != 0) return std::nullopt;
    instance.lengths.push_back(std::max<std::int64_t>(cost, 1));
  }
  const Partition found = partitioned(instance);
  nb::list lists;
  for (const PartitionBin& bin : found.bins) lists.append(nb::cast(bin.sequences));
  return lists;
}

}  // namespace

void bind_partitions(nb::module_& module) {
  constexpr const char* kSignature =
      "def balanced_partitions(lengths: numpy.typing.NDArray[numpy.int64], bins: int, counts: str, "
      "quadratic: int, linear: int) -> tuple[numpy.typing.NDArray[numpy.int64], "
      "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], "
      "numpy.typing.NDArray[numpy.int64], int, int, int, str, float]";
  module.def("balanced_partitions", &balanced, nb::sig(kSignature));
  constexpr const char* kMicroBatches =
      "def micro_batches(lengths: numpy.typing.NDArray[numpy.int64], ranks: int, max_tokens: int, "
      "multiple_of: int, at_least: int, kept: numpy.typing.NDArray[numpy.int64], quadratic: int, "
      "linear: int) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], "
      "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], int, int, int, str, "
      "float, int, str]";
  module.def("micro_batches", &micro_batches, nb::sig(kMicroBatches));
  module.def("balanced_lists", &balanced_lists, nb::arg("costs").lock(), nb::arg("bins"),
             nb::arg("equal"),
             nb::sig("def balanced_lists(costs: list[int], bins: int, equal: bool) -> "
                     "list[list[int]] | None"));
}

}  // namespace stowage::python
