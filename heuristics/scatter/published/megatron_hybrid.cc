#include "heuristics/scatter/published/megatron_hybrid.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "heuristics/scatter/published/megatron_idle_ranks.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr double kBalanced = 0.05;  // loads within this share of the largest load count as balanced

class Scheduler {
 public:
  explicit Scheduler(const ScatterTable& table) : table_(table) {
    for (int config = 0; config < static_cast<int>(table.configs().size()); ++config) {
      const bool first = configs_.empty() || degree(configs_.back()) < degree(config);
      if (first && std::has_single_bit(static_cast<unsigned>(degree(config))))
        configs_.push_back(config);
    }
    waiting_.resize(configs_.size());
  }

  std::optional<WorkingStep> run() {
    std::size_t left = static_cast<std::size_t>(table_.size());
    for (int position = 0; position < table_.size(); ++position) {
      std::size_t own = 0;
      while (own < configs_.size() && !table_.holds(configs_[own], position)) ++own;
      if (own == configs_.size()) return std::nullopt;
      waiting_[own].push_back(position);
    }
    for (std::vector<int>& queue : waiting_)
      std::ranges::reverse(queue);  // the longest at the back
    WorkingStep step;
    while (left > 0) {
      step.push_back(micro_batch());
      for (const WorkingGroup& group : step.back().groups) left -= group.positions.size();
    }
    return step;
  }

 private:
  int degree(int config) const { return table_.configs()[static_cast<std::size_t>(config)].degree; }
  double work(int position, int config) const {
    const auto length = static_cast<double>(table_.length(position));
    return length * length / degree(config);
  }

  WorkingMicroBatch micro_batch() {
    groups_.clear();
    loads_.clear();
    own_.clear();
    free_ = table_.devices();
    std::size_t reached = configs_.size();  // index of the smallest degree placed so far
    while (true) {
      const std::optional<std::size_t> placed = place_next();
      if (!placed) break;
      if (reached < configs_.size() && *placed < reached && is_balanced()) break;
      reached = std::min(reached, *placed);
    }
    give_back();
    double_smallest(table_, configs_, groups_, own_, free_);
    WorkingMicroBatch batch{.groups = groups_};
    batch.makespan = slowest(batch);
    return batch;
  }

  // Places the longest waiting sequence that can be placed. Returns the index of its degree into
  // levels_, or nullopt if no sequence can be placed.
  std::optional<std::size_t> place_next() {
    for (std::size_t own = configs_.size(); own-- > 0;) {
      if (waiting_[own].empty()) continue;
      const int position = waiting_[own].back();
      std::size_t best = groups_.size();
      if (degree(configs_[own]) <= free_) {
        free_ -= degree(configs_[own]);
        groups_.push_back(empty_group(table_, configs_[own]));
        loads_.push_back(0);
        own_.push_back(own);
      } else {
        double least = kInfinity;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
          if (own_[g] == own && loads_[g] < least && has_room(table_, groups_[g], position)) {
            least = loads_[g];
            best = g;
          }
        }
        if (best == groups_.size()) continue;
      }
      waiting_[own].pop_back();
      add_sequence(table_, groups_[best], position);
      loads_[best] += work(position, configs_[own]);
      return own;
    }
    return std::nullopt;
  }

  bool is_balanced() const { return free_ == 0 && slack() <= kBalanced * largest(); }
  double largest() const { return *std::ranges::max_element(loads_); }
  double slack() const { return largest() - *std::ranges::min_element(loads_); }

  // Returns the last sequence of the most loaded group to the waiting ones, as long as that
  // balances the loads.
  void give_back() {
    while (free_ == 0 && slack() > kBalanced * largest()) {
      const auto most = static_cast<std::size_t>(std::ranges::max_element(loads_) - loads_.begin());
      WorkingGroup& group = groups_[most];
      if (group.positions.size() < 2) return;
      const double before = slack();
      const int last = group.positions.back();
      loads_[most] -= work(last, group.config);
      if (slack() >= before) {
        loads_[most] += work(last, group.config);
        return;
      }
      remove_sequence(table_, group, group.positions.size() - 1);
      std::vector<int>& queue = waiting_[own_[most]];
      queue.insert(std::ranges::upper_bound(queue, last, std::greater<>()), last);
    }
  }

  const ScatterTable& table_;
  std::vector<int> configs_;               // of power-of-two degrees, ascending
  std::vector<std::vector<int>> waiting_;  // positions by least configuration, the shortest first
  std::vector<WorkingGroup> groups_;       // of the current micro-batch
  std::vector<double> loads_;
  std::vector<std::size_t> own_;  // index of the group's configuration into levels_
  int free_ = 0;
};

}  // namespace

std::optional<WorkingStep> megatron_hybrid(const ScatterTable& table) {
  return Scheduler(table).run();
}

}  // namespace stowage
