#include "solvers/partition/balanced_partitions.h"

#include <algorithm>
#include <utility>

#include "formulations/partition/bounds.h"
#include "heuristics/partition/balance.h"
#include "instances/numeric/numbers.h"
#include "instances/partition/partition.h"
#include "solvers/outcome.h"

namespace stowage {
namespace {

BalanceRules rules_of(const PartitionInstance& instance) {
  const auto n = static_cast<std::int64_t>(instance.lengths.size());
  if (instance.counts == PartitionCounts::any) {
    return {.bins = instance.bins, .fewest = 1, .most = n};
  }
  return {.bins = instance.bins,
          .fewest = n / instance.bins,
          .most = (n + instance.bins - 1) / instance.bins};
}

Partition composed(const PartitionInstance& instance, const std::vector<std::int64_t>& costs,
                   std::vector<std::vector<std::int64_t>> bins) {
  Partition partition;
  for (std::vector<std::int64_t>& sequences : bins) {
    PartitionBin bin;
    for (const std::int64_t id : sequences) {
      bin.tokens += instance.lengths[at(id)];
      bin.cost += costs[at(id)];
    }
    bin.sequences = std::move(sequences);
    partition.bins.push_back(std::move(bin));
  }
  const auto [least, most] = std::ranges::minmax_element(partition.bins, {}, &PartitionBin::cost);
  partition.smallest = least->cost;
  partition.largest = most->cost;
  std::ranges::sort(partition.bins, {},
                    [](const PartitionBin& bin) { return bin.sequences.front(); });
  return partition;
}

}  // namespace

PartitionOutcome balanced_partitions(const PartitionInstance& instance) {
  PartitionOutcome outcome{.errors = check(instance)};
  if (!outcome.errors.empty()) return outcome;
  const std::vector<std::int64_t> costs = partition_costs(instance);
  BalanceRules rules = rules_of(instance);
  const PartitionBound best = partition_bounds(costs, rules.bins, rules.fewest).back();
  rules.enough = best.value;
  Partition partition = composed(instance, costs, balance(costs, rules));
  partition.lower_bound = best.value;
  partition.bound_by = best.name;
  outcome.violations = verify(instance, partition);
  if (!outcome.violations.empty()) return outcome;
  outcome.gap = relative_gap(static_cast<double>(partition.largest),
                             static_cast<double>(partition.lower_bound));
  outcome.partition = std::move(partition);
  return outcome;
}

}  // namespace stowage
