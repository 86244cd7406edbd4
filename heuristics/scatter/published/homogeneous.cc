#include "heuristics/scatter/published/homogeneous.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/packing.h"
#include "heuristics/scatter/improve/rule_repair.h"

namespace stowage {
namespace {

// Estimates the time in ms of a homogeneous step with full groups and busy devices.
Ms estimate(const ScatterTable& table, int config, double fill) {
  const GroupConfig& group = table.configs()[static_cast<std::size_t>(config)];
  double tokens = 0;
  Ms time = 0;  // sum over all groups
  for (std::size_t k = 0; k < table.kinds().size(); ++k) {
    const DistinctLength& kind = table.kinds()[k];
    tokens += static_cast<double>(group.padded(kind.length) + group.sequence_tokens) * kind.count;
    time += table.kind_cost(static_cast<int>(k), config) * kind.count;
  }
  const double groups = std::max(std::ceil(tokens / (fill * static_cast<double>(group.capacity))),
                                 std::ceil(table.size() / static_cast<double>(group.sequences)));
  const int at_once = table.devices() / group.degree;
  return (time + groups * group.overhead) / at_once;
}

// If memory holds one sequence at a time, only time limits a group. Then one micro-batch of
// balanced groups suffices, unless the tokens of a group have their own limit. Returns nullopt in
// that case.
std::optional<Bins> even_bins(const ScatterTable& table, int config, std::span<const Tokens> sizes,
                              int groups) {
  std::vector<double> loads;
  for (int position = 0; position < table.size(); ++position) {
    loads.push_back(table.cost(position, config));
  }
  auto bins = longest_processing_time(loads, sizes, groups,
                                      table.configs()[static_cast<std::size_t>(config)].capacity);
  if (bins) std::erase_if(*bins, [](const std::vector<int>& bin) { return bin.empty(); });
  return bins;
}

}  // namespace

std::optional<WorkingStep> homogeneous(const ScatterTable& table, int config, double fill) {
  WorkingStep step;
  if (table.size() == 0) return step;
  const GroupConfig& group = table.configs()[static_cast<std::size_t>(config)];
  std::vector<Tokens> sizes;
  sizes.reserve(static_cast<std::size_t>(table.size()));
  for (int position = 0; position < table.size(); ++position) {
    sizes.push_back(group.packed_size(table.length(position)));
  }
  if (!table.holds(config, 0)) return std::nullopt;
  const Tokens room = std::max(
      static_cast<Tokens>(fill * static_cast<double>(group.packed_capacity())), sizes.front());
  const auto per_batch = static_cast<std::size_t>(table.devices() / group.degree);
  std::optional<Bins> bins;
  if (!table.packed()) bins = even_bins(table, config, sizes, static_cast<int>(per_batch));
  if (!bins) bins = best_fit_decreasing(sizes, room);
  cut_large(*bins, group.sequences);
  step.reserve(bins->size() / per_batch + 1);
  for (std::size_t bin = 0; bin < bins->size(); ++bin) {
    if (bin % per_batch == 0) {
      step.emplace_back().groups.reserve(std::min(per_batch, bins->size() - bin));
    }
    step.back().groups.push_back(group_of(table, config, std::move((*bins)[bin])));
    step.back().makespan = std::max(step.back().makespan, step.back().groups.back().time);
  }
  return step;
}

std::optional<WorkingStep> batch_ada(const ScatterTable& table, double fill, const Budget& budget) {
  std::vector<int> configs;  // configurations that can hold every sequence
  for (int config = 0; config < static_cast<int>(table.configs().size()); ++config) {
    if (table.size() == 0 || table.holds(config, 0)) configs.push_back(config);
  }
  if (configs.empty()) return std::nullopt;
  const int likely = *std::ranges::min_element(
      configs, {}, [&](int config) { return estimate(table, config, fill); });
  const auto made = [&](int config) {
    return as_planned(table, *homogeneous(table, config, fill));
  };
  TimedWorkingStep best = made(likely);
  int best_config = likely;
  for (const int config : configs) {
    if (config == likely) continue;
    if (budget.exhausted()) break;
    TimedWorkingStep step = made(config);
    if (std::pair(step.time, config) >= std::pair(best.time, best_config)) continue;
    best = std::move(step);
    best_config = config;
  }
  return std::move(best.step);
}

}  // namespace stowage
