#include "heuristics/scatter/published/megatron_dp_balanced.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "heuristics/scatter/construct/uniform_degree.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Splits sequences off the last packs until the number of packs is a multiple of `multiple`, or
// until every pack has one sequence.
void round_up(const ScatterTable& table, std::vector<WorkingGroup>& packs, std::size_t multiple) {
  std::size_t giver = packs.size();
  while (packs.size() % multiple != 0 && giver > 0) {
    if (packs[giver - 1].positions.size() < 2) {
      --giver;
      continue;
    }
    const int config = packs[giver - 1].config;
    const int position = packs[giver - 1].positions.back();
    remove_sequence(table, packs[giver - 1], packs[giver - 1].positions.size() - 1);
    packs.push_back(group_of(table, config, {position}));
  }
}

WorkingStep packed_at(const ScatterTable& table, std::span<const int> order, int config) {
  std::vector<WorkingGroup> packs;
  for (const int position : order) {
    if (packs.empty() || !has_room(table, packs.back(), position)) {
      packs.push_back(empty_group(table, config));
    }
    add_sequence(table, packs.back(), position);
  }
  const auto side_by_side = at(table.devices() / table.configs()[at(config)].degree);
  round_up(table, packs, side_by_side * at(table.multiple()));
  WorkingStep step;
  for (std::size_t pack = 0; pack < packs.size(); ++pack) {
    if (pack % side_by_side == 0) step.emplace_back();
    step.back().groups.push_back(std::move(packs[pack]));
  }
  for (WorkingMicroBatch& batch : step) batch.makespan = slowest(batch);
  return step;
}

}  // namespace

std::optional<WorkingStep> dp_balanced(const ScatterTable& table, const Budget& budget) {
  std::vector<int> order(at(table.size()));  // positions in data order
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int position) { return table.id(position); });
  return fastest_degree(table, budget, [&](int config) -> std::optional<WorkingStep> {
    return packed_at(table, order, config);
  });
}

}  // namespace stowage
