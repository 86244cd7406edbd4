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
    for (int level = 0; level < static_cast<int>(table.levels().size()); ++level) {
      if (!std::has_single_bit(static_cast<unsigned>(degree(level)))) continue;
      if (levels_.empty() || degree(levels_.back()) != degree(level)) levels_.push_back(level);
    }
  }

  std::optional<StepDraft> run() {
    if (table_.size() == 0) return StepDraft();
    if (!least_level(0)) return std::nullopt;
    waiting_.resize(at(table_.size()) + 1);
    std::iota(waiting_.begin(), waiting_.end(), 0);
    most_work_ = kSlack * static_cast<double>(table_.length(0)) *
                 static_cast<double>(table_.device_tokens());
    StepDraft step;
    for (int last = table_.size() - 1; next_waiting(0) <= last;) {
      step.push_back(micro_batch(last));
      while (last >= 0 && next_waiting(last) != last) --last;
    }
    return step;
  }

 private:
  int degree(int level) const { return table_.levels()[at(level)].degree; }
  double work(int position, int level) const {
    const auto length = static_cast<double>(table_.length(position));
    return length * length / degree(level);
  }

  // Returns the index into levels_ of the least degree that holds the sequence, or nullopt.
  std::optional<std::size_t> least_level(int position) const {
    for (std::size_t own = 0; own < levels_.size(); ++own) {
      if (table_.holds(levels_[own], position)) return own;
    }
    return std::nullopt;
  }

  // Places waiting sequences. `last` is the position of the shortest of them.
  MicroBatchDraft micro_batch(int last) {
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
    double_smallest(table_, levels_, groups_, own_, free_);
    MicroBatchDraft batch{.groups = groups_};
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
    const std::size_t level = *least_level(refused);
    int low = refused + 1;
    int high = table_.size();
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (*least_level(middle) == level && !choice(middle)) {
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
    const std::size_t own = *least_level(position);  // no position is longer than the first
    std::size_t best = groups_.size();
    double least = kInfinity;
    // The first sequence of a micro-batch is always accepted, whatever its work.
    if (degree(levels_[own]) <= free_ &&
        (groups_.empty() || work(position, levels_[own]) < most_work_)) {
      least = work(position, levels_[own]);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const double with = work_[g] + work(position, groups_[g].level);
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
      const std::size_t own = *least_level(position);
      free_ -= degree(levels_[own]);
      groups_.push_back(empty_group(table_, levels_[own]));
      work_.push_back(0);
      own_.push_back(own);
    }
    add_sequence(table_, groups_[chosen->group], position);
    work_[chosen->group] = chosen->work;
    return true;
  }

  const ScatterTable& table_;
  std::vector<int> levels_;  // of power-of-two degrees, ascending
  double most_work_ = 0;     // limit on the work of a group
  // Entry i: i if position i waits, else a later position; the last entry is the end.
  std::vector<int> waiting_;
  std::vector<GroupDraft> groups_;  // of the current micro-batch
  std::vector<double> work_;
  std::vector<std::size_t> own_;  // index of the group's level into levels_
  int free_ = 0;
};

}  // namespace

std::optional<StepDraft> megatron_dynamic(const ScatterTable& table) {
  return PackingScheduler(table).run();
}

}  // namespace stowage
