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
    for (int level = 0; level < static_cast<int>(table.levels().size()); ++level) {
      const bool first = levels_.empty() || degree(levels_.back()) < degree(level);
      if (first && std::has_single_bit(static_cast<unsigned>(degree(level))))
        levels_.push_back(level);
    }
    waiting_.resize(levels_.size());
  }

  std::optional<StepDraft> run() {
    std::size_t left = static_cast<std::size_t>(table_.size());
    for (int position = 0; position < table_.size(); ++position) {
      std::size_t own = 0;
      while (own < levels_.size() && !table_.holds(levels_[own], position)) ++own;
      if (own == levels_.size()) return std::nullopt;
      waiting_[own].push_back(position);
    }
    for (std::vector<int>& queue : waiting_)
      std::ranges::reverse(queue);  // the longest at the back
    StepDraft step;
    while (left > 0) {
      step.push_back(micro_batch());
      for (const GroupDraft& group : step.back().groups) left -= group.positions.size();
    }
    return step;
  }

 private:
  int degree(int level) const { return table_.levels()[static_cast<std::size_t>(level)].degree; }
  double work(int position, int level) const {
    const auto length = static_cast<double>(table_.length(position));
    return length * length / degree(level);
  }

  MicroBatchDraft micro_batch() {
    groups_.clear();
    loads_.clear();
    own_.clear();
    free_ = table_.devices();
    std::size_t reached = levels_.size();  // index of the smallest degree placed so far
    while (true) {
      const std::optional<std::size_t> placed = place_next();
      if (!placed) break;
      if (reached < levels_.size() && *placed < reached && is_balanced()) break;
      reached = std::min(reached, *placed);
    }
    give_back();
    double_smallest(table_, levels_, groups_, own_, free_);
    MicroBatchDraft batch{.groups = groups_};
    batch.makespan = slowest(batch);
    return batch;
  }

  // Places the longest waiting sequence that can be placed. Returns the index of its degree into
  // levels_, or nullopt if no sequence can be placed.
  std::optional<std::size_t> place_next() {
    for (std::size_t own = levels_.size(); own-- > 0;) {
      if (waiting_[own].empty()) continue;
      const int position = waiting_[own].back();
      std::size_t best = groups_.size();
      if (degree(levels_[own]) <= free_) {
        free_ -= degree(levels_[own]);
        groups_.push_back(empty_group(table_, levels_[own]));
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
      loads_[best] += work(position, levels_[own]);
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
      GroupDraft& group = groups_[most];
      if (group.positions.size() < 2) return;
      const double before = slack();
      const int last = group.positions.back();
      loads_[most] -= work(last, group.level);
      if (slack() >= before) {
        loads_[most] += work(last, group.level);
        return;
      }
      remove_sequence(table_, group, group.positions.size() - 1);
      std::vector<int>& queue = waiting_[own_[most]];
      queue.insert(std::ranges::upper_bound(queue, last, std::greater<>()), last);
    }
  }

  const ScatterTable& table_;
  std::vector<int> levels_;                // of power-of-two degrees, ascending
  std::vector<std::vector<int>> waiting_;  // positions by least level, the shortest first
  std::vector<GroupDraft> groups_;         // of the current micro-batch
  std::vector<double> loads_;
  std::vector<std::size_t> own_;  // index of the group's level into levels_
  int free_ = 0;
};

}  // namespace

std::optional<StepDraft> megatron_hybrid(const ScatterTable& table) {
  return Scheduler(table).run();
}

}  // namespace stowage
