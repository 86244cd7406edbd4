#include "heuristics/scatter_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace stowage {
namespace {

// The groups of one level in the order of their opening, with what each has left of time and
// memory, in a segment tree that finds the first with enough of both.
class OpenGroups {
 public:
  int first(Ms time, Tokens tokens) const { return count_ == 0 ? -1 : first(1, time, tokens); }

  // `name` is the caller's for the new group.
  int open(Ms time, Tokens tokens, int name) {
    if (count_ == leaves_) grow();
    set(count_, time, tokens);
    names_.push_back(name);
    return count_++;
  }
  int name(int slot) const { return names_[static_cast<std::size_t>(slot)]; }

  struct Room {
    Ms time = -1;
    Tokens tokens = -1;
  };
  const Room& room(int slot) const { return rooms_[static_cast<std::size_t>(leaves_ + slot)]; }

  void take(int slot, Ms time, Tokens tokens) {
    set(slot, room(slot).time - time, room(slot).tokens - tokens);
  }

  void clear() {
    std::ranges::fill(rooms_, Room{});
    names_.clear();
    count_ = 0;
  }

 private:
  // In the subtree of `node`; its most of time and of tokens may belong to different groups.
  int first(int node, Ms time, Tokens tokens) const {
    const Room& room = rooms_[static_cast<std::size_t>(node)];
    if (room.time < time || room.tokens < tokens) return -1;
    if (node >= leaves_) return node - leaves_;
    const int left = first(2 * node, time, tokens);
    return left >= 0 ? left : first(2 * node + 1, time, tokens);
  }

  void set(int slot, Ms time, Tokens tokens) {
    auto node = static_cast<std::size_t>(leaves_ + slot);
    rooms_[node] = {time, tokens};
    while (node /= 2) {
      const Room& left = rooms_[2 * node];
      const Room& right = rooms_[2 * node + 1];
      rooms_[node] = {std::max(left.time, right.time), std::max(left.tokens, right.tokens)};
    }
  }

  void grow() {
    const std::vector<Room> old(rooms_.end() - leaves_, rooms_.end());
    leaves_ = std::max(4, 2 * leaves_);
    rooms_.assign(static_cast<std::size_t>(2 * leaves_), {});
    for (int slot = 0; slot < count_; ++slot) {
      const Room& room = old[static_cast<std::size_t>(slot)];
      set(slot, room.time, room.tokens);
    }
  }

  int leaves_ = 0;
  int count_ = 0;
  std::vector<Room> rooms_;
  std::vector<int> names_;
};

// Packs the same sequences for one target after another. Sequences of one length come together:
// the group that takes the first of them takes as many as it has room for.
class Fitter {
 public:
  Fitter(const ScatterTable& table, std::span<const int> positions)
      : table_(table), positions_(positions), open_(table.levels().size()) {
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const int kind = table.kind(positions[i]);
      if (runs_.empty() || runs_.back().kind != kind) add_run(kind, i);
      ++runs_.back().count;
    }
  }

  // Whether everything fits.
  bool fit(Ms target) {
    const Ms most = target * (1 - 1e-12);  // sums of what is left must not round above the target
    for (OpenGroups& groups : open_) groups.clear();
    made_.clear();
    parts_.clear();
    devices_left_ = table_.devices();
    for (const Run& run : runs_) {
      std::size_t next = run.first;
      const std::size_t end = run.first + run.count;
      for (std::size_t l = run.levels; l < run.levels_end && next < end; ++l) {
        next = fill(run, levels_[l], target, most, next);
      }
      if (next < end) return false;
    }
    return true;
  }

  // What the last fit() made, if it was true.
  MicroBatchDraft draft() const {
    MicroBatchDraft batch;
    for (const int level : made_) batch.groups.push_back(empty_group(table_, level));
    for (const Part& part : parts_) {
      GroupDraft& group = batch.groups[static_cast<std::size_t>(part.group)];
      for (std::size_t i = part.first; i < part.last; ++i) {
        add_sequence(table_, group, positions_[i]);
      }
    }
    batch.makespan = slowest(batch);
    return batch;
  }

 private:
  struct Run {
    int kind = 0;
    std::size_t first = 0;  // index into positions_
    std::size_t count = 0;
    std::size_t levels = 0;  // [levels, levels_end) of levels_ can hold it, least area first
    std::size_t levels_end = 0;
  };
  struct Part {  // positions_[first, last) in a group
    int group = 0;
    std::size_t first = 0;
    std::size_t last = 0;
  };

  void add_run(int kind, std::size_t first) {
    Run run{.kind = kind, .first = first, .levels = levels_.size()};
    for (int level = 0; level < static_cast<int>(table_.levels().size()); ++level) {
      if (length(kind) <= table_.levels()[static_cast<std::size_t>(level)].capacity) {
        levels_.push_back(level);
      }
    }
    std::stable_sort(levels_.begin() + static_cast<std::ptrdiff_t>(run.levels), levels_.end(),
                     [&](int a, int b) { return area(kind, a) < area(kind, b); });
    run.levels_end = levels_.size();
    runs_.push_back(run);
  }

  Tokens length(int kind) const { return table_.kinds()[static_cast<std::size_t>(kind)].length; }
  double area(int kind, int level) const {
    return table_.levels()[static_cast<std::size_t>(level)].degree * table_.kind_cost(kind, level);
  }

  // Puts sequences of the run from index `next` on into groups of the level. Returns the index of
  // the first that found no room.
  std::size_t fill(const Run& run, int level, Ms target, Ms most, std::size_t next) {
    const Level& group = table_.levels()[static_cast<std::size_t>(level)];
    const Ms time = table_.kind_cost(run.kind, level);
    if (group.overhead + time > target) return next;
    const Tokens tokens = length(run.kind);
    OpenGroups& open = open_[static_cast<std::size_t>(level)];
    while (next < run.first + run.count) {
      int slot = open.first(time, tokens);
      if (slot < 0) {
        if (group.degree > devices_left_) return next;
        devices_left_ -= group.degree;
        slot = open.open(most - group.overhead, group.capacity, static_cast<int>(made_.size()));
        made_.push_back(level);
        // Just below a target that one sequence fills, rounding leaves no room even here.
        if (open.room(slot).time < time) return next;
      }
      const OpenGroups::Room& room = open.room(slot);
      std::size_t copies = run.first + run.count - next;
      if (copies > 1) {
        copies = std::min(copies, static_cast<std::size_t>(std::max<Tokens>(
                                      1, tokens > 0 ? room.tokens / tokens : room.tokens)));
        if (static_cast<double>(copies) * time > room.time) {
          copies = std::max<std::size_t>(1, static_cast<std::size_t>(room.time / time));
        }
      }
      parts_.push_back({open.name(slot), next, next + copies});
      open.take(slot, static_cast<double>(copies) * time, static_cast<Tokens>(copies) * tokens);
      next += copies;
    }
    return next;
  }

  const ScatterTable& table_;
  std::span<const int> positions_;
  std::vector<Run> runs_;
  std::vector<int> levels_;
  std::vector<OpenGroups> open_;
  std::vector<int> made_;  // levels of the groups
  std::vector<Part> parts_;
  int devices_left_ = 0;
};

}  // namespace

std::optional<MicroBatchDraft> multifit(const ScatterTable& table, std::span<const int> positions,
                                        Ms lower, Ms upper, int rounds) {
  Fitter fitter(table, positions);
  // Find a target that works by doubling the distance to the lower bound, then bisect.
  std::optional<MicroBatchDraft> best;
  for (int halvings = 12; !best && halvings >= 0; --halvings) {
    if (fitter.fit(lower + std::ldexp(upper - lower, -halvings))) best = fitter.draft();
  }
  for (int round = 0; best && round < rounds && best->makespan > lower; ++round) {
    const Ms target = (lower + best->makespan) / 2;
    if (fitter.fit(target)) {
      best = fitter.draft();
    } else {
      lower = target;
    }
  }
  return best;
}

}  // namespace stowage
