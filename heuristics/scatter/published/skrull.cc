#include "heuristics/scatter/published/skrull.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "heuristics/packing.h"
#include "heuristics/scatter/mixed/mixed_step.h"

namespace stowage {
namespace {

// Places local sequences on the ranks of all local micro-batches, balanced together. Sequences
// without room are appended to `sharded`.
void place_locally(const ScatterTable& table, std::span<const int> local, int batches,
                   WorkingStep& step, std::vector<int>& sharded) {
  const GroupConfig& config = table.configs().front();
  const int ranks = table.devices() / config.degree;
  using Load = std::pair<Ms, int>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (int bin = 0; bin < batches * ranks; ++bin) least.emplace(config.overhead, bin);
  std::vector<WorkingGroup> bins(static_cast<std::size_t>(batches * ranks), empty_group(table, 0));
  // Ranks without room for the current sequence wait, sorted by room, until a short enough sequence
  // comes.
  std::priority_queue<std::pair<Tokens, int>> waiting;
  for (const int position : local) {  // the longest first
    while (!waiting.empty() && waiting.top().first >= config.padded(table.length(position))) {
      const int index = waiting.top().second;
      least.emplace(bins[static_cast<std::size_t>(index)].time, index);
      waiting.pop();
    }
    while (!least.empty() &&
           !has_room(table, bins[static_cast<std::size_t>(least.top().second)], position)) {
      const int index = least.top().second;
      const WorkingGroup& bin = bins[static_cast<std::size_t>(index)];
      if (std::ssize(bin.positions) < config.sequences) {
        waiting.emplace(config.room(bin.held, std::ssize(bin.positions)), index);
      }
      least.pop();
    }
    if (least.empty()) {
      sharded.push_back(position);
      continue;
    }
    const int index = least.top().second;
    WorkingGroup& bin = bins[static_cast<std::size_t>(index)];
    add_sequence(table, bin, position);
    least.pop();
    least.emplace(bin.time, index);
  }
  // Ranks of similar load share a micro-batch.
  std::ranges::stable_sort(bins, std::greater<>(), &WorkingGroup::time);
  for (int bin = 0; bin < batches * ranks; ++bin) {
    if (bin % ranks == 0) step.emplace_back();
    step.back().groups.push_back(std::move(bins[static_cast<std::size_t>(bin)]));
  }
}

// Returns the device's row of the micro-batch with the most tokens that holds a sequence.
int fullest_row(const MixedStep& step, int batch) {
  int fullest = step.own_row(batch, 0);
  for (int row = fullest; row < step.shared_row(batch); ++row) {
    if (step.tokens(row) > step.tokens(fullest)) fullest = row;
  }
  return fullest;
}

// Shards the sequence, and the longest sequence of the fullest device until all have room. Returns
// false if that is not enough.
bool shard(MixedStep& step, int position, int batch) {
  step.place(position, step.shared_row(batch));
  while (!step.is_within_room(batch)) {
    const std::vector<int>& fullest = step.positions(fullest_row(step, batch));
    if (fullest.empty()) return false;
    const int longest = std::ranges::min(fullest);
    step.remove(longest);
    step.place(longest, step.shared_row(batch));
  }
  return true;
}

// Places the sequences of a micro-batch, which are the shortest first.
bool place_all(MixedStep& step, const std::vector<int>& positions, int batch) {
  for (const int position : positions) {
    int idlest = step.own_row(batch, 0);
    int emptiest = idlest;
    for (int row = idlest; row < step.shared_row(batch); ++row) {
      if (step.own_ms(row) < step.own_ms(idlest)) idlest = row;
      if (step.tokens(row) < step.tokens(emptiest)) emptiest = row;
    }
    if (step.has_room(position, idlest)) {
      step.place(position, idlest);
    } else if (step.has_room(position, emptiest)) {
      step.place(position, emptiest);
    } else if (!shard(step, position, batch)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<WorkingStep> skrull(const ScatterTable& table) {
  WorkingStep step;
  if (table.size() == 0) return step;
  const int largest = static_cast<int>(table.configs().size()) - 1;
  if (!table.holds(largest, 0)) return std::nullopt;
  const GroupConfig& shard = table.configs().back();
  std::vector<int> sharded;
  std::vector<int> local;
  Tokens tokens = 0;
  for (int position = 0; position < table.size(); ++position) {
    const bool fits = table.holds(0, position) && largest > 0;
    (fits ? local : sharded).push_back(position);
    if (fits) tokens += table.configs().front().packed_size(table.length(position));
  }
  if (!local.empty()) {
    const GroupConfig& config = table.configs().front();
    // No step has more than kMaxExact tokens, so larger capacities are clamped to it.
    const Tokens held = std::min(
        checked_mul(config.packed_capacity(), table.devices() / config.degree).value_or(kMaxExact),
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
  for (WorkingMicroBatch& batch : step) batch.makespan = slowest(batch);
  std::erase_if(step, [](const WorkingMicroBatch& batch) { return positions_of(batch).empty(); });
  return step;
}

std::optional<WorkingStep> mixed_skrull(const ScatterTable& table) {
  if (table.size() == 0) return WorkingStep();
  if (!table.holds(static_cast<int>(table.configs().size()) - 1, 0)) return std::nullopt;
  const Tokens room = table.batch_capacity();
  const auto fewest = static_cast<int>((table.total_held() + room - 1) / room);
  for (int batches = std::max(1, fewest); batches <= table.size(); ++batches) {
    MixedStep step(table, batches);
    bool fits = true;
    for (int batch = 0; batch < batches && fits; ++batch) {
      std::vector<int> positions;
      for (int position = table.size() - 1 - batch; position >= 0; position -= batches) {
        positions.push_back(position);
      }
      fits = place_all(step, positions, batch);
    }
    if (fits) return step.to_working_step();
  }
  return std::nullopt;
}

}  // namespace stowage
