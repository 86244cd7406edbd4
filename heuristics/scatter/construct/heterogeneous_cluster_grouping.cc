#include "heuristics/scatter/construct/heterogeneous_cluster_grouping.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "heuristics/scatter/improve/local_search.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr int kBisections = 14;
constexpr double kNearMakespan = 1e-3;  // the bisection ends within this share of the lower bound

class Placing {
 public:
  Placing(const ScatterTable& table, std::span<const int> positions)
      : table_(table), positions_(positions), order_(table.configs().size()) {
    for (int config = 0; config < static_cast<int>(order_.size()); ++config) {
      devices_.push_back(table.devices_of_kinds(config));
    }
    std::iota(order_.begin(), order_.end(), 0);
    // Levels of equal degree are sorted by the time of the longest sequence.
    std::ranges::stable_sort(order_, {}, [&](int config) {
      return std::pair(table.configs()[at(config)].degree, alone(positions.front(), config));
    });
  }

  std::optional<WorkingMicroBatch> run() {
    Ms low = 0;
    Ms high = 0;
    for (const int position : positions_) low = std::max(low, least_alone(position));
    if (low == kInfinity) return std::nullopt;
    std::optional<WorkingMicroBatch> best = place(kInfinity);
    if (!best) return std::nullopt;
    high = best->makespan;
    for (int i = 0; i < kBisections && high > low * (1 + kNearMakespan); ++i) {
      const Ms middle = low + (high - low) / 2;
      std::optional<WorkingMicroBatch> placed = place(middle);
      if (placed && placed->makespan < best->makespan) {
        best = std::move(placed);
        high = best->makespan;
      } else {
        low = middle;
      }
    }
    return best;
  }

 private:
  Ms alone(int position, int config) const {
    return table_.configs()[at(config)].overhead + table_.cost(position, config);
  }
  Ms least_alone(int position) const {
    Ms least = kInfinity;
    for (const int config : order_) {
      if (table_.holds(config, position)) least = std::min(least, alone(position, config));
    }
    return least;
  }

  bool fits(int config) const {
    for (std::size_t kind = 0; kind < left_.size(); ++kind) {
      if (devices_[at(config)][kind] > left_[kind]) return false;
    }
    return true;
  }

  // Places all sequences in groups of at most `most` ms. If the limit is infinite, each sequence
  // goes to the group where it ends first. Returns nullopt if a sequence fits no group.
  std::optional<WorkingMicroBatch> place(Ms most) {
    left_ = table_.devices_of_kinds();
    WorkingMicroBatch batch;
    for (const int position : positions_) {
      WorkingGroup* best = nullptr;
      double least = kInfinity;
      for (WorkingGroup& group : batch.groups) {
        if (!has_room(table_, group, position)) continue;
        const Ms then = time_with(table_, group, position);
        if (then > most) continue;
        const double price = most == kInfinity
                                 ? then
                                 : table_.configs()[at(group.config)].degree * (then - group.time);
        if (price < least) {
          least = price;
          best = &group;
        }
      }
      int opened = -1;
      if (best == nullptr || most == kInfinity) {
        for (const int config : order_) {
          if (!table_.holds(config, position) || !fits(config) || alone(position, config) > most) {
            continue;
          }
          if (most == kInfinity && best != nullptr && alone(position, config) >= least) continue;
          opened = config;
          break;
        }
      }
      if (opened >= 0) {
        for (std::size_t kind = 0; kind < left_.size(); ++kind) {
          left_[kind] -= devices_[at(opened)][kind];
        }
        batch.groups.push_back(empty_group(table_, opened));
        best = &batch.groups.back();
      }
      if (best == nullptr) return std::nullopt;
      add_sequence(table_, *best, position);
    }
    batch.makespan = slowest(batch);
    return batch;
  }

  const ScatterTable& table_;
  std::span<const int> positions_;
  std::vector<int> order_;  // configurations in the order in which new groups try them
  std::vector<std::vector<int>> devices_;  // by configuration and kind
  std::vector<int> left_;                  // free devices, by kind
};

}  // namespace

std::optional<WorkingMicroBatch> heterogeneous_grouping(const ScatterTable& table,
                                                        std::span<const int> positions,
                                                        int polish_rounds) {
  std::optional<WorkingMicroBatch> batch = Placing(table, positions).run();
  if (batch) polish(table, *batch, polish_rounds);
  return batch;
}

}  // namespace stowage
