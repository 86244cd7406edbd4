#include "heuristics/scatter/construct/equal_counts/equal_count_grouping.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/scatter/construct/equal_counts/group_degrees.h"
#include "heuristics/scatter/improve/local_search.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Numbers, beside 1, of groups of a chunk and of sequences of a group.
constexpr std::array<int, 15> kRound = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
constexpr double kPromising = 1.05;  // groupings up to this ratio to the best makespan are polished
constexpr Ms kLongest = std::numeric_limits<Ms>::max();
constexpr int kMaxCut = 4096;  // sequences; larger steps are not cut by even_chunks()

// Computes the times of each group at each configuration. Stores the times of one group after the
// other.
class GroupTimes {
 public:
  explicit GroupTimes(const ScatterTable& table) : table_(table) {}

  std::span<const ConfigTimes> of(std::span<const std::vector<int>> groups) {
    const std::size_t configs = table_.configs().size();
    times_.clear();
    groups_.clear();
    for (const std::vector<int>& positions : groups) {
      WorkingGroup group{.positions = positions};
      for (std::size_t config = 0; config < configs; ++config) {
        group = group_of(table_, static_cast<int>(config), std::move(group.positions));
        times_.push_back(has_room(table_, group) ? group.time : kInfinity);
      }
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      groups_.push_back(ConfigTimes(times_).subspan(g * configs, configs));
    }
    return groups_;
  }

 private:
  const ScatterTable& table_;
  std::vector<Ms> times_;
  std::vector<ConfigTimes> groups_;
};

using Groups = std::vector<std::vector<int>>;

// Groups sequences of similar lengths.
Groups alike(std::span<const int> positions, std::size_t groups) {
  Groups blocks(groups);
  const std::size_t each = positions.size() / groups;
  for (std::size_t i = 0; i < positions.size(); ++i) blocks[i / each].push_back(positions[i]);
  return blocks;
}

// Deals the sequences in rounds over the groups, alternately forwards and backwards.
Groups mixed(std::span<const int> positions, std::size_t groups) {
  Groups blocks(groups);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::size_t place = i % groups;
    blocks[i / groups % 2 == 0 ? place : groups - 1 - place].push_back(positions[i]);
  }
  return blocks;
}

// Shortest path over the cut points.
class Cuts {
 public:
  explicit Cuts(const ScatterTable& table)
      : table_(table),
        degrees_(table),
        tokens_(table.configs().size(), {0}),
        loads_(table.configs().size()) {
    for (int config = 0; config < static_cast<int>(loads_.size()); ++config) {
      const GroupConfig& own = table.configs()[at(config)];
      loads_[at(config)].emplace_back();
      for (int position = 0; position < table.size(); ++position) {
        tokens_[at(config)].push_back(tokens_[at(config)].back() +
                                      own.padded(table.length(position)));
        loads_[at(config)].push_back(loads_[at(config)].back() + table.load(position, config));
      }
    }
  }

  std::optional<WorkingStep> run(const Budget& budget) {
    const int size = table_.size();
    best_.assign(at(size) + 1, {});
    best_[0].sum = 0;
    std::vector<Blocks> rounds{Blocks(*this, 1)};
    for (const int each : kRound) rounds.emplace_back(*this, each);
    for (int first = 0; first < size; ++first) {
      if (budget.exhausted()) return std::nullopt;
      if (best_[at(first)].sum == kInfinity) continue;
      for (Blocks& blocks : rounds) try_each(first, blocks);
    }
    if (best_.back().sum == kInfinity) return std::nullopt;
    WorkingStep step;
    for (int end = size; end > 0; end = best_[at(end)].first) step.push_back(batch(end));
    std::ranges::reverse(step);
    return step;
  }

 private:
  struct Cut {
    Ms sum = kInfinity;
    int first = 0;  // first position of the last chunk
    int each = 0;   // sequences per group of the last chunk
  };

  // The times of all groups of `each` consecutive sequences, computed on demand.
  class Blocks {
   public:
    Blocks(const Cuts& cuts, int each)
        : cuts_(cuts),
          each_(each),
          configs_(cuts.table_.configs().size()),
          known_(at(cuts.table_.size())),
          times_(known_.size() * configs_) {}

    int each() const { return each_; }

    ConfigTimes from(int begin) {
      const std::span<Ms> times = std::span(times_).subspan(at(begin) * configs_, configs_);
      if (!known_[at(begin)]) cuts_.measure(begin, begin + each_, times);
      known_[at(begin)] = true;
      return times;
    }

   private:
    const Cuts& cuts_;
    int each_;
    std::size_t configs_;
    std::vector<bool> known_;
    std::vector<Ms> times_;
  };

  // Tries all chunks from `first` on whose groups hold `each` sequences.
  void try_each(int first, Blocks& blocks) {
    const int each = blocks.each();
    const int most = std::min((table_.size() - first) / each, table_.devices());
    groups_.clear();
    int devices = 0;  // least number of devices for these groups without a time limit
    for (int groups = 1; groups <= most; groups = next(groups)) {
      while (static_cast<int>(groups_.size()) < groups) {
        const ConfigTimes times = blocks.from(first + static_cast<int>(groups_.size()) * each);
        devices += degrees_.needed({&times, 1}, kLongest);
        if (devices > table_.devices()) return;  // more groups need more devices
        groups_.push_back(times);
      }
      Cut& end = best_[at(first + groups * each)];
      const Ms before = best_[at(first)].sum;
      const Ms most_ms = std::min(end.sum - before, kLongest);
      if (degrees_.needed(groups_, most_ms) > table_.devices()) continue;
      const Ms sum = before + degrees_.choose(groups_, table_.no_idle_ranks());
      if (sum < end.sum) end = {sum, first, each};
    }
  }

  static int next(int groups) {
    for (const int round : kRound) {
      if (round > groups) return round;
    }
    return 2 * groups;
  }

  // Computes the time at each configuration of the sequences [begin, end) as one group.
  void measure(int begin, int end, std::span<Ms> times) const {
    for (std::size_t config = 0; config < loads_.size(); ++config) {
      const Tokens tokens = tokens_[config][at(end)] - tokens_[config][at(begin)];
      const GroupConfig& own = table_.configs()[config];
      const auto beside = checked_mul(end - begin, own.sequence_tokens);
      const bool fits = end - begin <= own.sequences && beside && *beside <= own.capacity &&
                        table_.holds(static_cast<int>(config), begin) &&
                        own.room_to_grow(tokens + *beside, end - begin) >= 0;
      const Load load = loads_[config][at(end)] - loads_[config][at(begin)];
      const int own_config = static_cast<int>(config);
      const Ms time = table_.measured() || table_.offloads()
                          ? table_.time(own_config, table_.empty_load(own_config) + load)
                          : own.overhead + load.time();
      times[config] = fits ? time : kInfinity;
    }
  }

  WorkingMicroBatch batch(int end) {
    const Cut& cut = best_[at(end)];
    Blocks blocks(*this, cut.each);
    groups_.clear();
    for (int begin = cut.first; begin < end; begin += cut.each) {
      groups_.push_back(blocks.from(begin));
    }
    degrees_.choose(groups_, table_.no_idle_ranks());
    WorkingMicroBatch batch;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      std::vector<int> positions;
      for (int i = 0; i < cut.each; ++i) {
        positions.push_back(cut.first + static_cast<int>(g) * cut.each + i);
      }
      batch.groups.push_back(group_of(table_, degrees_.configs()[g], std::move(positions)));
    }
    batch.makespan = slowest(batch);
    return batch;
  }

  const ScatterTable& table_;
  GroupDegrees degrees_;
  // By configuration: the sum of padded tokens before each position.
  std::vector<std::vector<Tokens>> tokens_;
  std::vector<std::vector<Load>> loads_;  // sum of loads before each position, by configuration
  std::vector<Cut> best_;                 // best cut, by end
  std::vector<ConfigTimes> groups_;
};

}  // namespace

bool has_equal_groups(const WorkingMicroBatch& batch) {
  std::size_t each = 0;
  for (const WorkingGroup& group : batch.groups) {
    if (group.positions.empty()) continue;
    if (each != 0 && group.positions.size() != each) return false;
    each = group.positions.size();
  }
  return true;
}

namespace {

// One partition of the sequences into groups, before any swap.
struct Grouping {
  Ms makespan = 0;
  Groups groups;
  std::vector<int> configs;
};

// Returns the best grouping found, on all devices if `whole`; nullopt if no grouping was found.
std::optional<WorkingMicroBatch> grouped(const ScatterTable& table, std::span<const int> positions,
                                         int polish_rounds, bool whole) {
  std::vector<Grouping> groupings;
  GroupDegrees degrees(table);
  GroupTimes times(table);
  const std::size_t most = std::min(positions.size(), at(table.devices()));
  for (std::size_t count = 1; count <= most; ++count) {
    if (positions.size() % count != 0) continue;
    for (auto* const deal : {alike, mixed}) {
      // Both deals give the same groups.
      if (deal == mixed && (count == 1 || count == positions.size())) continue;
      Groups groups = deal(positions, count);
      const Ms makespan = degrees.choose(times.of(groups), whole);
      if (makespan == kInfinity) continue;
      groupings.push_back({makespan, std::move(groups), degrees.configs()});
    }
  }
  // The fastest groupings come first, so that most others need no polish.
  std::ranges::stable_sort(groupings, {}, &Grouping::makespan);
  std::optional<WorkingMicroBatch> best;
  for (Grouping& grouping : groupings) {
    if (best && grouping.makespan > kPromising * best->makespan) break;
    WorkingMicroBatch batch;
    for (std::size_t g = 0; g < grouping.groups.size(); ++g) {
      batch.groups.push_back(group_of(table, grouping.configs[g], std::move(grouping.groups[g])));
    }
    polish(table, batch, polish_rounds);
    if (!best || batch.makespan < best->makespan) best = std::move(batch);
  }
  return best;
}

}  // namespace

std::optional<WorkingMicroBatch> equal_count_grouping(const ScatterTable& table,
                                                      std::span<const int> positions,
                                                      int polish_rounds) {
  if (table.no_idle_ranks()) {
    if (auto batch = grouped(table, positions, polish_rounds, true)) return batch;
  }
  return grouped(table, positions, polish_rounds, false);
}

std::optional<WorkingStep> even_chunks(const ScatterTable& table, const Budget& budget) {
  if (table.size() > kMaxCut) return std::nullopt;
  return Cuts(table).run(budget);
}

}  // namespace stowage
