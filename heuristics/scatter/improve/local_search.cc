#include "heuristics/scatter/improve/local_search.h"

#include <algorithm>
#include <iterator>

namespace stowage {
namespace {

constexpr std::size_t kNoGroup = static_cast<std::size_t>(-1);

// A change: sequence `out` of the slowest group goes to group `to`, and sequence `back` of `to` (or
// kNoGroup) comes back.
struct Step {
  Ms slower = 0;  // time of the slower of the two groups afterwards
  std::size_t out = kNoGroup;
  std::size_t to = kNoGroup;
  std::size_t back = kNoGroup;
};

class Polisher {
 public:
  Polisher(const ScatterTable& table, WorkingMicroBatch& batch) : table_(table), batch_(batch) {}

  bool improve() {
    const auto slowest = std::ranges::max_element(batch_.groups, {}, [](const WorkingGroup& group) {
      return group.positions.empty() ? 0 : group.time;
    });
    if (slowest == batch_.groups.end()) return false;
    WorkingGroup& from = *slowest;
    // A change must gain more than rounding errors, or equal groups would swap forever.
    best_ = {.slower = from.time * (1 - 1e-12)};
    int seen = -1;
    for (std::size_t out = 0; out < from.positions.size(); ++out) {
      // A sequence of equal length was just tried.
      if (table_.kind(from.positions[out]) == seen) continue;
      seen = table_.kind(from.positions[out]);
      for (std::size_t to = 0; to < batch_.groups.size(); ++to) {
        if (&batch_.groups[to] != &from) try_steps(from, out, to);
      }
    }
    if (best_.out == kNoGroup) return false;
    apply(from);
    return true;
  }

 private:
  void try_steps(const WorkingGroup& from, std::size_t out, std::size_t to) {
    const WorkingGroup& target = batch_.groups[to];
    const int leaving = from.positions[out];
    const Load without = from.load - table_.load(leaving, from.config);
    const Load with = target.load + table_.load(leaving, target.config);
    const Tokens target_room = room_to_grow(target);
    const Tokens from_room = room_to_grow(from);
    const GroupConfig& own = table_.configs()[static_cast<std::size_t>(from.config)];
    const GroupConfig& other = table_.configs()[static_cast<std::size_t>(target.config)];
    const Tokens length = table_.length(leaving);
    if (!table_.holds(target.config, leaving)) return;
    const bool stays =
        table_.equal_sequences() || (table_.no_idle_ranks() && from.positions.size() == 1);
    if (!stays && has_room(table_, target, leaving))
      consider({std::max(time(from, without), time(target, with)), out, to, kNoGroup});
    int seen = -1;
    for (std::size_t back = 0; back < target.positions.size(); ++back) {
      const int coming = target.positions[back];
      const int kind = table_.kind(coming);
      if (kind == seen) continue;  // a sequence of equal length was just tried
      seen = kind;
      // Swapping for a sequence that is not shorter does not speed up the slowest group, except
      // with measured times, which may fall with length.
      if (kind <= table_.kind(leaving) && !table_.measured()) continue;
      const Tokens returned = table_.length(coming);
      if (other.padded(length) - other.padded(returned) > target_room) continue;
      if (own.padded(returned) - own.padded(length) > from_room) continue;
      if (!table_.holds(from.config, coming)) continue;
      const Ms left = time(from, without + table_.load(coming, from.config));
      if (!(left < best_.slower)) continue;
      consider(
          {std::max(left, time(target, with - table_.load(coming, target.config))), out, to, back});
    }
  }

  // Returns the time of the group in ms with the given load.
  Ms time(const WorkingGroup& group, const Load& load) const {
    return table_.time(group.config, load);
  }

  Tokens room_to_grow(const WorkingGroup& group) const {
    const GroupConfig& config = table_.configs()[static_cast<std::size_t>(group.config)];
    return config.room_to_grow(group.held, std::ssize(group.positions));
  }

  void consider(const Step& step) {
    if (step.slower < best_.slower) best_ = step;
  }

  void apply(WorkingGroup& from) {
    WorkingGroup& to = batch_.groups[best_.to];
    const int leaving = from.positions[best_.out];
    remove_sequence(table_, from, best_.out);
    if (best_.back != kNoGroup) {
      const int coming = to.positions[best_.back];
      remove_sequence(table_, to, best_.back);
      add_sequence(table_, from, coming);
    }
    add_sequence(table_, to, leaving);
  }

  const ScatterTable& table_;
  WorkingMicroBatch& batch_;
  Step best_;
};

}  // namespace

void polish(const ScatterTable& table, WorkingMicroBatch& batch, int rounds) {
  Polisher polisher(table, batch);
  while (rounds-- > 0 && polisher.improve()) {
  }
  batch.makespan = slowest(batch);
}

}  // namespace stowage
