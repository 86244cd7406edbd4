#include "heuristics/scatter_homogeneous.h"

#include <algorithm>
#include <utility>

#include "heuristics/packing.h"

namespace stowage {

std::optional<StepDraft> homogeneous(const ScatterTable& table, int level, double fill) {
  StepDraft step;
  if (table.size() == 0) return step;
  const Level& group = table.levels()[static_cast<std::size_t>(level)];
  std::vector<Tokens> sizes;
  for (int position = 0; position < table.size(); ++position) {
    sizes.push_back(table.length(position));
  }
  if (sizes.front() > group.capacity) return std::nullopt;
  const Tokens room =
      std::max(static_cast<Tokens>(fill * static_cast<double>(group.capacity)), sizes.front());
  const std::optional<Bins> bins = best_fit_decreasing(sizes, room);
  const auto per_batch = static_cast<std::size_t>(table.devices() / group.degree);
  for (std::size_t bin = 0; bin < bins->size(); ++bin) {
    if (bin % per_batch == 0) step.emplace_back();
    step.back().groups.push_back(empty_group(table, level));
    for (const int position : (*bins)[bin]) {
      add_sequence(table, step.back().groups.back(), position);
    }
    step.back().makespan = std::max(step.back().makespan, step.back().groups.back().time);
  }
  return step;
}

std::optional<StepDraft> batch_ada(const ScatterTable& table, double fill) {
  std::optional<StepDraft> best;
  for (int level = 0; level < static_cast<int>(table.levels().size()); ++level) {
    std::optional<StepDraft> step = homogeneous(table, level, fill);
    if (step && (!best || total(*step) < total(*best))) best = std::move(step);
  }
  return best;
}

}  // namespace stowage
