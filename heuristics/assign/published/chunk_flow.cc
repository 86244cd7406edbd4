#include "heuristics/assign/published/chunk_flow.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "heuristics/assign/construct/chunked_step.h"
#include "heuristics/packing.h"
#include "instances/assign/plan_builder.h"
#include "instances/numeric/numbers.h"
#include "instances/ticker.h"

namespace stowage {
namespace {

// visits of replicas between two reads of the clock: some milliseconds
constexpr std::int64_t kChunkLooks = 4'000'000;

}  // namespace

std::optional<AssignPlan> assign_chunk_flow(const AssignInstance& instance, const Budget& budget) {
  if (instance.constraints.chunks->boundaries != ChunkBoundaries::fixed) {
    AssignInstance as_published = instance;
    as_published.constraints.chunks->boundaries = ChunkBoundaries::fixed;
    return assign_chunk_flow(as_published, budget);
  }
  const ChunkedStep step(instance);
  const Tokens size = instance.constraints.chunks->size;
  std::vector<Tokens> lengths;
  for (int position = 0; position < step.table().size(); ++position) {
    lengths.push_back(step.table().length(position));
  }
  Bins bins = first_fit_decreasing(lengths, size).value_or(Bins());
  std::optional<std::vector<ReplicaChoice>> best;
  int best_strategy = 0;
  Ms best_time = kInfinity;
  const auto composed = [&]() -> std::optional<AssignPlan> {
    if (!best) return std::nullopt;
    return compose_assign(instance, best_strategy, std::move(*best), budget);
  };
  PollEvery ticker(budget, kChunkLooks);
  for (const int strategy : step.strategies()) {
    if (best && budget.exhausted()) break;
    std::vector<ReplicaChoice> choices;
    std::vector<Ms> sums;
    std::vector<Ms> longest;
    bool holds_chunks = true;
    for (const SchemeGroup& group : step.table().groups(strategy)) {
      choices.resize(choices.size() + static_cast<std::size_t>(group.count),
                     {.scheme = group.scheme});
      holds_chunks = holds_chunks && step.scheme(group.scheme).max_tokens == size;
    }
    if (!holds_chunks) continue;
    sums.resize(choices.size());
    longest.resize(choices.size());
    const int schemes = static_cast<int>(step.table().schemes().size());
    // Assigns one group of rows to the replica that then ends first. `costs` holds the sum and the
    // longest row on each scheme. Returns false if the budget ends first.
    const auto deal = [&](std::vector<std::int64_t> ids,
                          const std::vector<std::pair<Ms, Ms>>& costs) {
      if (ticker.exhausted(std::ssize(choices))) return false;
      std::size_t home = 0;
      Ms least = kInfinity;
      for (std::size_t r = 0; r < choices.size(); ++r) {
        const auto [sum, most] = costs[static_cast<std::size_t>(choices[r].scheme)];
        const Ms time =
            sums[r] + sum + (step.scheme(choices[r].scheme).pp - 1) * std::max(longest[r], most);
        if (time < least) {
          least = time;
          home = r;
        }
      }
      const auto [sum, most] = costs[static_cast<std::size_t>(choices[home].scheme)];
      sums[home] += sum;
      longest[home] = std::max(longest[home], most);
      choices[home].rows.push_back(std::move(ids));
      return true;
    };
    std::vector<std::pair<Ms, Ms>> costs(step.table().schemes().size());
    for (std::int64_t cut = 0; cut < step.cuts(); ++cut) {
      for (int g = 0; g < schemes; ++g) {
        costs[static_cast<std::size_t>(g)] = {step.cost(cut, g).sum, step.cost(cut, g).longest};
      }
      if (!deal({step.id(cut)}, costs)) return composed();
    }
    for (const std::vector<int>& bin : bins) {
      std::vector<std::int64_t> ids;
      for (const int position : bin) ids.push_back(step.id(step.cuts() + position));
      for (int g = 0; g < schemes; ++g) {
        Ms time = step.scheme(g).fixed_ms;
        for (const int position : bin) time += step.table().work(position, g);
        costs[static_cast<std::size_t>(g)] = {time, time};
      }
      if (!deal(std::move(ids), costs)) return composed();
    }
    Ms time = 0;
    for (std::size_t r = 0; r < choices.size(); ++r) {
      time = std::max(time, sums[r] + (step.scheme(choices[r].scheme).pp - 1) * longest[r]);
    }
    if (best && std::pair(best_time, best_strategy) <= std::pair(time, strategy)) continue;
    best_time = time;
    best_strategy = strategy;
    best = std::move(choices);
  }
  return composed();
}

}  // namespace stowage
