#include "heuristics/scatter/published/skrull.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "heuristics/packing.h"

namespace stowage {
namespace {

// Places local sequences on the ranks of all local micro-batches, balanced together. Sequences
// without room are appended to `sharded`.
void place_locally(const ScatterTable& table, std::span<const int> local, int batches,
                   StepDraft& step, std::vector<int>& sharded) {
  const Level& level = table.levels().front();
  const int ranks = table.devices() / level.degree;
  using Load = std::pair<Ms, int>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (int bin = 0; bin < batches * ranks; ++bin) least.emplace(level.overhead, bin);
  std::vector<GroupDraft> bins(static_cast<std::size_t>(batches * ranks), empty_group(table, 0));
  // Ranks without room for the current sequence wait, sorted by room, until a short enough sequence
  // comes.
  std::priority_queue<std::pair<Tokens, int>> waiting;
  for (const int position : local) {  // the longest first
    while (!waiting.empty() && waiting.top().first >= table.length(position)) {
      const int index = waiting.top().second;
      least.emplace(bins[static_cast<std::size_t>(index)].time, index);
      waiting.pop();
    }
    while (!least.empty() &&
           !has_room(table, bins[static_cast<std::size_t>(least.top().second)], position)) {
      const int index = least.top().second;
      const GroupDraft& bin = bins[static_cast<std::size_t>(index)];
      if (std::ssize(bin.positions) < level.sequences) {
        waiting.emplace(level.room(bin.held, std::ssize(bin.positions)), index);
      }
      least.pop();
    }
    if (least.empty()) {
      sharded.push_back(position);
      continue;
    }
    const int index = least.top().second;
    GroupDraft& bin = bins[static_cast<std::size_t>(index)];
    add_sequence(table, bin, position);
    least.pop();
    least.emplace(bin.time, index);
  }
  // Ranks of similar load share a micro-batch.
  std::ranges::stable_sort(bins, std::greater<>(), &GroupDraft::time);
  for (int bin = 0; bin < batches * ranks; ++bin) {
    if (bin % ranks == 0) step.emplace_back();
    step.back().groups.push_back(std::move(bins[static_cast<std::size_t>(bin)]));
  }
}

}  // namespace

std::optional<StepDraft> skrull(const ScatterTable& table) {
  StepDraft step;
  if (table.size() == 0) return step;
  const int largest = static_cast<int>(table.levels().size()) - 1;
  if (!table.holds(largest, 0)) return std::nullopt;
  const Level& shard = table.levels().back();
  std::vector<int> sharded;
  std::vector<int> local;
  Tokens tokens = 0;
  for (int position = 0; position < table.size(); ++position) {
    const bool fits = table.holds(0, position) && largest > 0;
    (fits ? local : sharded).push_back(position);
    if (fits) tokens += table.levels().front().packed_size(table.length(position));
  }
  if (!local.empty()) {
    const Level& level = table.levels().front();
    // No step has more than kMaxExact tokens, so larger capacities are clamped to it.
    const Tokens held = std::min(
        checked_mul(level.packed_capacity(), table.devices() / level.degree).value_or(kMaxExact),
        kMaxExact);
    place_locally(table, local, static_cast<int>((tokens + held - 1) / held), step, sharded);
  }
  std::ranges::sort(sharded);
  std::vector<Tokens> sizes;
  for (const int position : sharded) {
    sizes.push_back(shard.packed_size(table.length(position)));
  }
  const auto per_batch = static_cast<std::size_t>(table.devices() / shard.degree);
  std::optional<Bins> bins = first_fit_decreasing(sizes, shard.packed_capacity());
  cut_large(*bins, shard.sequences);
  for (std::size_t bin = 0; bin < bins->size(); ++bin) {
    if (bin % per_batch == 0) step.emplace_back();
    step.back().groups.push_back(empty_group(table, largest));
    for (const int item : (*bins)[bin]) {
      add_sequence(table, step.back().groups.back(), sharded[static_cast<std::size_t>(item)]);
    }
  }
  for (MicroBatchDraft& batch : step) batch.makespan = slowest(batch);
  std::erase_if(step, [](const MicroBatchDraft& batch) { return positions_of(batch).empty(); });
  return step;
}

}  // namespace stowage
