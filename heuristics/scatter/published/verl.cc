#include "heuristics/scatter/published/verl.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "heuristics/partition/differencing.h"
#include "heuristics/scatter/construct/uniform_degree.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Samples by descending work, equal work by descending id: the input order of differencing.
struct Samples {
  std::vector<int> positions;
  std::vector<double> work;
  std::vector<std::int64_t> ids;

  void add(const ScatterTable& table, int position) {
    const auto length = static_cast<double>(table.length(position));
    positions.push_back(position);
    work.push_back((24576 + length) * length);
    ids.push_back(table.id(position));
  }
};

// Returns all samples. Positions descend by length, and equal lengths ascend by id.
Samples samples_of(const ScatterTable& table) {
  Samples all;
  for (const DistinctLength& kind : table.kinds()) {
    for (int i = kind.count - 1; i >= 0; --i) all.add(table, kind.first + i);
  }
  return all;
}

std::vector<Samples> shared(const ScatterTable& table, const Samples& all, std::int64_t ranks) {
  std::vector<Samples> of_ranks;
  for (const auto& bin :
       differenced(std::span<const double>(all.work), all.ids, ranks, at(ranks))) {
    Samples& own = of_ranks.emplace_back();
    for (const std::int32_t i : bin) own.add(table, all.positions[at(i)]);
  }
  return of_ranks;
}

// Returns the samples of a rank in `count` groups by descending work. Some groups may be empty.
std::vector<WorkingGroup> grouped(const ScatterTable& table, const Samples& own, int config,
                                  std::int64_t count) {
  std::vector<std::pair<double, WorkingGroup>> groups;
  for (const auto& bin : differenced(std::span<const double>(own.work), own.ids, count, 1)) {
    double work = 0;
    std::vector<int> positions;
    for (const std::int32_t i : bin) {
      work += own.work[at(i)];
      positions.push_back(own.positions[at(i)]);
    }
    std::ranges::sort(positions);
    groups.emplace_back(work, group_of(table, config, std::move(positions)));
  }
  std::ranges::stable_sort(groups, std::greater<>(), &std::pair<double, WorkingGroup>::first);
  std::vector<WorkingGroup> made;
  for (auto& [work, group] : groups) made.push_back(std::move(group));
  return made;
}

// Puts the largest work in the middle: every second micro-batch in reverse order, then the others.
void least_at_both_ends(WorkingStep& step) {
  WorkingStep ordered;
  for (std::size_t i = 0; i < step.size(); i += 2) ordered.push_back(std::move(step[i]));
  std::ranges::reverse(ordered);
  for (std::size_t i = 1; i < step.size(); i += 2) ordered.push_back(std::move(step[i]));
  step = std::move(ordered);
}

// Returns the step with `count` micro-batches, or nullopt if a group exceeds a limit.
std::optional<WorkingStep> step_of(const ScatterTable& table, std::span<const Samples> ranks,
                                   int config, std::int64_t count) {
  WorkingStep step(at(count));
  for (const Samples& own : ranks) {
    if (own.positions.empty()) continue;
    std::vector<WorkingGroup> groups = grouped(table, own, config, count);
    for (std::size_t b = 0; b < step.size(); ++b) {
      if (groups[b].positions.empty()) continue;
      if (!has_room(table, groups[b])) return std::nullopt;
      step[b].groups.push_back(std::move(groups[b]));
    }
  }
  for (WorkingMicroBatch& batch : step) batch.makespan = slowest(batch);
  least_at_both_ends(step);
  std::erase_if(step, [](const WorkingMicroBatch& batch) { return batch.groups.empty(); });
  return step;
}

// Returns the first number of micro-batches to try, computed from the tokens alone.
std::int64_t fewest(const ScatterTable& table, std::span<const Samples> ranks, int config) {
  const GroupConfig& group = table.configs()[at(config)];
  const Tokens limit = group.packed_capacity();
  std::int64_t most = 1;
  for (const Samples& own : ranks) {
    Tokens tokens = 0;
    for (const int position : own.positions) tokens += group.padded(table.length(position));
    most = std::max(most, std::min(std::ssize(own.positions), (tokens + limit - 1) / limit));
  }
  return (most + table.multiple() - 1) / table.multiple() * table.multiple();
}

}  // namespace

std::optional<WorkingStep> verl(const ScatterTable& table, const Budget& budget) {
  if (table.size() == 0) return WorkingStep();
  const Samples all = samples_of(table);
  return fastest_degree(table, budget, [&](int config) -> std::optional<WorkingStep> {
    const std::int64_t groups = table.devices() / table.configs()[at(config)].degree;
    const std::vector<Samples> ranks = shared(table, all, groups);
    for (std::int64_t count = fewest(table, ranks, config); !budget.exhausted();
         count += table.multiple()) {
      std::optional<WorkingStep> step = step_of(table, ranks, config, count);
      if (step) return step;
    }
    return std::nullopt;
  });
}

}  // namespace stowage
