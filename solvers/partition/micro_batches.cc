#include "solvers/partition/micro_batches.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "formulations/partition/bin_count.h"
#include "formulations/partition/bounds.h"
#include "heuristics/partition/micro_batch_packing.h"
#include "instances/json/errors.h"
#include "instances/numeric/numbers.h"
#include "solvers/outcome.h"

namespace stowage {
namespace {

InputError too_few(const MicroBatchInstance& instance, std::int64_t each, std::int64_t fewest,
                   std::size_t units) {
  return {code::kFewerThanMicroBatches, "/ranks",
          "must leave a sequence or group to each micro-batch: " + std::to_string(instance.ranks) +
              " ranks of " + std::to_string(each) + " micro-batches" +
              (each > fewest ? " (found none with fewer)" : "") + ", for " + std::to_string(units)};
}

RankMicroBatches rank_of(const std::vector<KeptUnit>& units,
                         std::span<const std::vector<std::int64_t>> bins) {
  RankMicroBatches rank;
  for (const std::vector<std::int64_t>& bin : bins) {
    PartitionBin batch;
    for (const std::int64_t unit : bin) {
      const KeptUnit& kept = units[at(unit)];
      batch.sequences.insert(batch.sequences.end(), kept.sequences.begin(), kept.sequences.end());
      batch.tokens += kept.tokens;
      batch.cost += kept.cost;
    }
    std::ranges::sort(batch.sequences);
    rank.push_back(std::move(batch));
  }
  std::ranges::sort(rank, [](const PartitionBin& a, const PartitionBin& b) {
    return std::pair(-a.cost, a.sequences.front()) < std::pair(-b.cost, b.sequences.front());
  });
  return rank;
}

std::int64_t cost_of_rank(const RankMicroBatches& rank) {
  std::int64_t cost = 0;
  for (const PartitionBin& batch : rank) cost += batch.cost;
  return cost;
}

std::int64_t first_sequence(const RankMicroBatches& rank) {
  return std::ranges::min_element(rank, {},
                                  [](const PartitionBin& batch) { return batch.sequences.front(); })
      ->sequences.front();
}

MicroBatches composed_plan(const MicroBatchInstance& instance, const std::vector<KeptUnit>& units,
                           const std::vector<std::vector<std::int64_t>>& bins) {
  MicroBatches plan;
  const std::size_t each = bins.size() / at(instance.ranks);
  for (std::size_t first = 0; first < bins.size(); first += each) {
    plan.ranks.push_back(rank_of(units, std::span(bins).subspan(first, each)));
  }
  std::ranges::sort(plan.ranks, {}, first_sequence);
  plan.smallest = cost_of_rank(plan.ranks.front());
  for (const RankMicroBatches& rank : plan.ranks) {
    plan.largest = std::max(plan.largest, cost_of_rank(rank));
    plan.smallest = std::min(plan.smallest, cost_of_rank(rank));
  }
  return plan;
}

}  // namespace

MicroBatchOutcome plan_micro_batches(const MicroBatchInstance& instance) {
  MicroBatchOutcome outcome{.errors = check(instance)};
  if (!outcome.errors.empty()) return outcome;
  const std::vector<KeptUnit> units = kept_units(instance);
  std::vector<CappedUnit> sizes;
  std::vector<Tokens> tokens;
  std::vector<std::int64_t> costs;
  for (const KeptUnit& unit : units) {
    sizes.push_back({.tokens = unit.tokens, .cost = unit.cost});
    tokens.push_back(unit.tokens);
    costs.push_back(unit.cost);
  }
  std::ranges::sort(tokens, std::greater<>());
  const PartitionBound count = bin_count_bounds(tokens, instance.max_tokens).back();
  const std::int64_t fewest = micro_batches_per_rank(instance, count.value);
  std::int64_t each = fewest;
  std::optional<std::vector<std::vector<std::int64_t>>> bins;
  for (; !bins; each += instance.multiple_of) {
    if (instance.ranks > std::ssize(units) / each) {
      outcome.errors.push_back(too_few(instance, each, fewest, units.size()));
      return outcome;
    }
    bins = pack_micro_batches(
        sizes, {.ranks = instance.ranks, .each = each, .max_tokens = instance.max_tokens});
  }
  MicroBatches plan = composed_plan(instance, units, *bins);
  plan.fewest = fewest;
  plan.fewest_by = count.name;
  const PartitionBound best = partition_bounds(costs, instance.ranks, fewest).back();
  plan.lower_bound = best.value;
  plan.bound_by = best.name;
  outcome.violations = verify(instance, plan);
  if (!outcome.violations.empty()) return outcome;
  outcome.gap =
      relative_gap(static_cast<double>(plan.largest), static_cast<double>(plan.lower_bound));
  outcome.plan = std::move(plan);
  return outcome;
}

}  // namespace stowage
