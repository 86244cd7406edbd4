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
Ms estimate(const ScatterTable& table, int level, double fill) {
  const Level& group = table.levels()[static_cast<std::size_t>(level)];
  double tokens = 0;
  Ms time = 0;  // sum over all groups
  for (std::size_t k = 0; k < table.kinds().size(); ++k) {
    const Kind& kind = table.kinds()[k];
    tokens += static_cast<double>(kind.length + group.sequence_tokens) * kind.count;
    time += table.kind_cost(static_cast<int>(k), level) * kind.count;
  }
  const double groups = std::max(std::ceil(tokens / (fill * static_cast<double>(group.capacity))),
                                 std::ceil(table.size() / static_cast<double>(group.sequences)));
  const int at_once = table.devices() / group.degree;
  return (time + groups * group.overhead) / at_once;
}

// If memory holds one sequence at a time, only time limits a group. Then one micro-batch of
// balanced groups suffices, unless the tokens of a group have their own limit. Returns nullopt in
// that case.
std::optional<Bins> even_bins(const ScatterTable& table, int level, std::span<const Tokens> sizes,
                              int groups) {
  std::vector<double> loads;
  for (int position = 0; position < table.size(); ++position) {
    loads.push_back(table.cost(position, level));
  }
  auto bins = longest_processing_time(loads, sizes, groups,
                                      table.levels()[static_cast<std::size_t>(level)].capacity);
  if (bins) std::erase_if(*bins, [](const std::vector<int>& bin) { return bin.empty(); });
  return bins;
}

}  // namespace

std::optional<StepDraft> homogeneous(const ScatterTable& table, int level, double fill) {
  StepDraft step;
  if (table.size() == 0) return step;
  const Level& group = table.levels()[static_cast<std::size_t>(level)];
  std::vector<Tokens> sizes;
  sizes.reserve(static_cast<std::size_t>(table.size()));
  for (int position = 0; position < table.size(); ++position) {
    sizes.push_back(group.packed_size(table.length(position)));
  }
  if (!table.holds(level, 0)) return std::nullopt;
  const Tokens room = std::max(
      static_cast<Tokens>(fill * static_cast<double>(group.packed_capacity())), sizes.front());
  const auto per_batch = static_cast<std::size_t>(table.devices() / group.degree);
  std::optional<Bins> bins;
  if (!table.packed()) bins = even_bins(table, level, sizes, static_cast<int>(per_batch));
  if (!bins) bins = best_fit_decreasing(sizes, room);
  cut_large(*bins, group.sequences);
  step.reserve(bins->size() / per_batch + 1);
  for (std::size_t bin = 0; bin < bins->size(); ++bin) {
    if (bin % per_batch == 0) {
      step.emplace_back().groups.reserve(std::min(per_batch, bins->size() - bin));
    }
    step.back().groups.push_back(group_of(table, level, std::move((*bins)[bin])));
    step.back().makespan = std::max(step.back().makespan, step.back().groups.back().time);
  }
  return step;
}

std::optional<StepDraft> batch_ada(const ScatterTable& table, double fill, const Budget& budget) {
  std::vector<int> levels;  // levels that can hold every sequence
  for (int level = 0; level < static_cast<int>(table.levels().size()); ++level) {
    if (table.size() == 0 || table.holds(level, 0)) levels.push_back(level);
  }
  if (levels.empty()) return std::nullopt;
  const int likely = *std::ranges::min_element(
      levels, {}, [&](int level) { return estimate(table, level, fill); });
  const auto made = [&](int level) { return as_planned(table, *homogeneous(table, level, fill)); };
  TimedDraft best = made(likely);
  int best_level = likely;
  for (const int level : levels) {
    if (level == likely) continue;
    if (budget.exhausted()) break;
    TimedDraft step = made(level);
    if (std::pair(step.time, level) >= std::pair(best.time, best_level)) continue;
    best = std::move(step);
    best_level = level;
  }
  return std::move(best.step);
}

}  // namespace stowage
