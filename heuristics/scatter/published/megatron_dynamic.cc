#include "heuristics/scatter/published/megatron_dynamic.h"

#include <bit>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "heuristics/scatter/published/megatron_idle_ranks.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Limit on a group's work, per work of the longest sequence at the token limit.
constexpr double kSlack = 1.05;

class PackingScheduler {
 public:
  explicit PackingScheduler(const ScatterTable& table) : table_(table) {
    for (int config = 0; config < static_cast<int>(table.configs().size()); ++config) {
      if (!std::has_single_bit(static_cast<unsigned>(degree(config)))) continue;
      if (configs_.empty() || degree(configs_.back()) != degree(config)) configs_.push_back(config);
    }
  }

  std::optional<WorkingStep> run() {
    if (table_.size() == 0) return WorkingStep();
    if (!least_config(0)) return std::nullopt;
    waiting_.resize(at(table_.size()) + 1);
    std::iota(waiting_.begin(), waiting_.end(), 0);
    most_work_ = kSlack * static_cast<double>(table_.length(0)) *
                 static_cast<double>(table_.device_tokens());
    WorkingStep step;
    for (int last = table_.size() - 1; next_waiting(0) <= last;) {
      step.push_back(micro_batch(last));
      while (last >= 0 && next_waiting(last) != last) --last;
    }
    return step;
  }

 private:
  int degree(int config) const { return table_.configs()[at(config)].degree; }
  double work(int position, int config) const {
    const auto length = static_cast<double>(table_.length(position));
    return length * length / degree(config);
  }

  // Returns the index into levels_ of the least degree that holds the sequence, or nullopt.
  std::optional<std::size_t> least_config(int position) const {
    for (std::size_t own = 0; own < configs_.size(); ++own) {
      if (table_.holds(configs_[own], position)) return own;
    }
    return std::nullopt;
  }

  // Places waiting sequences. `last` is the position of the shortest of them.
  WorkingMicroBatch micro_batch(int last) {
    groups_.clear();
    work_.clear();
    own_.clear();
    free_ = table_.devices();
    int position = next_waiting(0);
    while (position <= last) {
      if (place(position)) {
        waiting_[at(position)] = position + 1;
        // If the shortest sequence has no choice, most others have none either.
        if (!choice(last)) break;
        position = next_waiting(position);
      } else {
        position = next_waiting(next_with_choice(position));
      }
    }
    double_smallest(table_, configs_, groups_, own_, free_);
    WorkingMicroBatch batch{.groups = groups_};
    batch.makespan = slowest(batch);
    return batch;
  }

  // Returns the first waiting position from `position` on, or the number of sequences.
  int next_waiting(int position) {
    int found = position;
    while (waiting_[at(found)] != found) found = waiting_[at(found)];
    while (waiting_[at(position)] != position) {
      position = std::exchange(waiting_[at(position)], found);
    }
    return found;
  }

  // Returns the first position after `refused` that may have a choice. Sequences of one least
  // degree get more room as they get shorter, so a bisection skips the refused ones.
  int next_with_choice(int refused) const {
    const std::size_t config = *least_config(refused);
    int low = refused + 1;
    int high = table_.size();
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (*least_config(middle) == config && !choice(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // The group whose work is least with the sequence, and that work. A new group has the index
  // groups_.size().
  struct Choice {
    std::size_t group = 0;
    double work = 0;
  };
  std::optional<Choice> choice(int position) const {
    const std::size_t own = *least_config(position);  // no position is longer than the first
    std::size_t best = groups_.size();
    double least = kInfinity;
    // The first sequence of a micro-batch is always accepted, whatever its work.
    if (degree(configs_[own]) <= free_ &&
        (groups_.empty() || work(position, configs_[own]) < most_work_)) {
      least = work(position, configs_[own]);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const double with = work_[g] + work(position, groups_[g].config);
      if (with < least && with < most_work_ && has_room(table_, groups_[g], position)) {
        least = with;
        best = g;
      }
    }
    if (least == kInfinity) return std::nullopt;
    return Choice{best, least};
  }

  bool place(int position) {
    const std::optional<Choice> chosen = choice(position);
    if (!chosen) return false;
    if (chosen->group == groups_.size()) {
      const std::size_t own = *least_config(position);
      free_ -= degree(configs_[own]);
      groups_.push_back(empty_group(table_, configs_[own]));
      work_.push_back(0);
      own_.push_back(own);
    }
    add_sequence(table_, groups_[chosen->group], position);
    work_[chosen->group] = chosen->work;
    return true;
  }

  const ScatterTable& table_;
  std::vector<int> configs_;  // of power-of-two degrees, ascending
  double most_work_ = 0;      // limit on the work of a group
  // Entry i: i if position i waits, else a later position; the last entry is the end.
  std::vector<int> waiting_;
  std::vector<WorkingGroup> groups_;  // of the current micro-batch
  std::vector<double> work_;
  std::vector<std::size_t> own_;  // index of the group's configuration into levels_
  int free_ = 0;
};

}  // namespace

std::optional<WorkingStep> megatron_dynamic(const ScatterTable& table) {
  return PackingScheduler(table).run();
}

}  // namespace stowage
