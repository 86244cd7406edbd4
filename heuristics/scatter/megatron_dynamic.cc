#include "heuristics/scatter/megatron_dynamic.h"

#include <bit>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "heuristics/scatter/doubling.h"
#include "instances/numbers.h"

namespace stowage {
namespace {

constexpr double kSlack = 1.05;  // of the work that the longest sequence makes at the limit

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

  // The index into levels_ of the least degree that holds the sequence.
  std::optional<std::size_t> least_level(int position) const {
    for (std::size_t own = 0; own < levels_.size(); ++own) {
      if (table_.holds(levels_[own], position)) return own;
    }
    return std::nullopt;
  }

  // Places sequences that wait, up to position `last`, the shortest of them.
  MicroBatchDraft micro_batch(int last) {
    groups_.clear();
    work_.clear();
    own_.clear();
    free_ = table_.devices();
    int position = next_waiting(0);
    while (position <= last) {
      if (place(position)) {
        waiting_[at(position)] = position + 1;
        if (!choice(last)) break;  // and so perhaps none of the others
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

  // The first position from `position` on that waits, or the number of sequences.
  int next_waiting(int position) {
    int found = position;
    while (waiting_[at(found)] != found) found = waiting_[at(found)];
    while (waiting_[at(position)] != position) {
      position = std::exchange(waiting_[at(position)], found);
    }
    return found;
  }

  // After a refused position: the first from which one may have a choice again. Among the sequences
  // of one least level each group has room for the shorter one if it has for the longer one, so
  // that half of those that are left can be passed over at once.
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

  // The group whose work is least with the sequence, and that work; the next index stands for a new
  // one. Nothing if there is none.
  struct Choice {
    std::size_t group = 0;
    double work = 0;
  };
  std::optional<Choice> choice(int position) const {
    const std::size_t own = *least_level(position);  // none is longer than the first
    std::size_t best = groups_.size();
    double least = kInfinity;
    // The first sequence is never refused, whatever it works.
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
  std::vector<int> levels_;   // of power-of-two degrees, ascending
  double most_work_ = 0;      // of a group
  std::vector<int> waiting_;  // entry i: i if that position waits, else one after it; and the end
  std::vector<GroupDraft> groups_;  // of the micro-batch being made
  std::vector<double> work_;
  std::vector<std::size_t> own_;  // index of the group's level into levels_
  int free_ = 0;
};

}  // namespace

std::optional<StepDraft> megatron_dynamic(const ScatterTable& table) {
  return PackingScheduler(table).run();
}

}  // namespace stowage
