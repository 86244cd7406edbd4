#include "heuristics/scatter/improve/idle_ranks.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "heuristics/scatter/construct/grouping.h"
#include "heuristics/scatter/improve/local_search.h"
#include "instances/numeric/numbers.h"

namespace stowage {

int idle_ranks(const ScatterTable& table, const WorkingMicroBatch& batch) {
  int idle = table.devices();
  for (const WorkingGroup& group : batch.groups) {
    if (!group.positions.empty()) idle -= table.configs()[at(group.config)].degree;
  }
  return idle;
}

namespace {

constexpr int kPolishRounds = 16;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Gives work to the idle ranks of a micro-batch by a sequence of changes: a group gets more ranks,
// or one of its sequences gets a group of its own. Each time the change with the least makespan is
// chosen, then with the least device-time squared.
class Filler {
 public:
  Filler(const ScatterTable& table, WorkingMicroBatch& batch) : table_(table), batch_(batch) {
    for (const WorkingGroup& group : batch.groups) add_known(group);
  }

  // Returns false if no change is possible before all ranks have work.
  bool run() {
    int idle = idle_ranks(table_, batch_);
    while (idle > 0) {
      find_slowest();
      best_ = {};
      for (std::size_t g = 0; g < batch_.groups.size(); ++g) {
        try_wider(g, idle);
        try_split(g, idle);
      }
      if (best_.group == kNone) return false;
      idle -= apply();
    }
    return idle == 0;
  }

 private:
  struct Change {
    Ms makespan = kInfinity;
    double squares = kInfinity;
    std::size_t group = kNone;
    int config = 0;           // configuration of the widened or new group
    std::size_t out = kNone;  // index of the sequence that leaves, or kNone
  };

  struct Split {            // a sequence moves to a group of its own
    Ms slower = kInfinity;  // time of the slower group
    double squares = kInfinity;
    std::size_t out = kNone;
  };

  int degree(int config) const { return table_.configs()[at(config)].degree; }

  // Returns the times of the group at each configuration, infinite where the configuration cannot
  // hold it.
  std::vector<Ms> times_of(const WorkingGroup& group) const {
    std::vector<Ms> times(table_.configs().size(), kInfinity);
    for (std::size_t l = at(group.config); l < times.size(); ++l) {
      const GroupConfig& config = table_.configs()[l];
      Tokens held = 0;
      bool holds = std::ssize(group.positions) <= config.sequences;
      for (const int position : group.positions) {
        held += table_.held(static_cast<int>(l), position);
        holds = holds && table_.holds(static_cast<int>(l), position);
      }
      if (!holds || config.room_to_grow(held, std::ssize(group.positions)) < 0) continue;
      times[l] = config.overhead;
      for (const int position : group.positions) {
        times[l] += table_.cost(position, static_cast<int>(l));
      }
    }
    return times;
  }

  // Returns for each configuration of the new group the best sequence to move there. Empty if the
  // group has one sequence.
  std::vector<Split> splits_of(const WorkingGroup& group) const {
    std::vector<Split> splits;
    if (group.positions.size() < 2) return splits;
    splits.resize(table_.configs().size());
    const double own = degree(group.config);
    for (int l = 0; l < static_cast<int>(splits.size()); ++l) {
      Split& best = splits[at(l)];
      int seen = -1;
      for (std::size_t out = 0; out < group.positions.size(); ++out) {
        const int position = group.positions[out];
        const int kind = table_.kind(position);
        if (kind == std::exchange(seen, kind) || !table_.holds(l, position)) continue;
        const Ms left = group.time - table_.cost(position, group.config);
        const Ms made = table_.configs()[at(l)].overhead + table_.cost(position, l);
        const Split split{.slower = std::max(left, made),
                          .squares = own * left * left + degree(l) * made * made,
                          .out = out};
        if (std::tie(split.slower, split.squares) < std::tie(best.slower, best.squares)) {
          best = split;
        }
      }
    }
    return splits;
  }

  void add_known(const WorkingGroup& group) {
    times_.push_back(times_of(group));
    splits_.push_back(splits_of(group));
  }

  void find_slowest() {
    slowest_ = second_ = 0;
    slow_ = kNone;
    for (std::size_t g = 0; g < batch_.groups.size(); ++g) {
      const Ms time = batch_.groups[g].time;
      if (time > slowest_) {
        second_ = std::exchange(slowest_, time);
        slow_ = g;
      } else {
        second_ = std::max(second_, time);
      }
    }
  }
  Ms others(std::size_t g) const { return g == slow_ ? second_ : slowest_; }

  void consider(Change change) {
    if (std::tie(change.makespan, change.squares) < std::tie(best_.makespan, best_.squares)) {
      best_ = change;
    }
  }

  void try_wider(std::size_t g, int idle) {
    const WorkingGroup& group = batch_.groups[g];
    const double before = degree(group.config) * group.time * group.time;
    for (int l = group.config + 1; l < static_cast<int>(table_.configs().size()); ++l) {
      if (degree(l) - degree(group.config) > idle) break;
      if (table_.mode(l) != table_.mode(group.config)) continue;
      const Ms time = times_[g][at(l)];
      consider({.makespan = std::max(others(g), time),
                .squares = degree(l) * time * time - before,
                .group = g,
                .config = l});
    }
  }

  void try_split(std::size_t g, int idle) {
    const WorkingGroup& group = batch_.groups[g];
    const double before = degree(group.config) * group.time * group.time;
    for (std::size_t l = 0; l < splits_[g].size(); ++l) {
      const Split& split = splits_[g][l];
      if (degree(static_cast<int>(l)) > idle) break;
      if (split.out == kNone || table_.mode(static_cast<int>(l)) != table_.mode(group.config))
        continue;
      consider({.makespan = std::max(others(g), split.slower),
                .squares = split.squares - before,
                .group = g,
                .config = static_cast<int>(l),
                .out = split.out});
    }
  }

  // Applies the best change and returns the number of ranks that got work.
  int apply() {
    WorkingGroup& group = batch_.groups[best_.group];
    if (best_.out == kNone) {
      const int more = degree(best_.config) - degree(group.config);
      group = group_of(table_, best_.config, std::move(group.positions));
      splits_[best_.group] = splits_of(group);
      return more;
    }
    const int position = group.positions[best_.out];
    group.positions.erase(group.positions.begin() + static_cast<std::ptrdiff_t>(best_.out));
    group = group_of(table_, group.config, std::move(group.positions));
    times_[best_.group] = times_of(group);
    splits_[best_.group] = splits_of(group);
    batch_.groups.push_back(group_of(table_, best_.config, {position}));
    add_known(batch_.groups.back());
    return degree(best_.config);
  }

  const ScatterTable& table_;
  WorkingMicroBatch& batch_;
  std::vector<std::vector<Ms>> times_;      // by group and configuration
  std::vector<std::vector<Split>> splits_;  // likewise
  Ms slowest_ = 0;
  Ms second_ = 0;
  std::size_t slow_ = kNone;
  Change best_;
};

// Moves the shortest sequence of another micro-batch to a new group of the borrower. The lending
// group keeps at least one sequence. Returns false if no sequence fits the idle ranks.
bool borrow(const ScatterTable& table, WorkingStep& step, std::size_t borrower, int idle) {
  std::size_t lender = kNone;
  std::size_t from = 0;
  std::size_t index = 0;
  int shortest = -1;
  for (std::size_t b = 0; b < step.size(); ++b) {
    if (b == borrower) continue;
    for (std::size_t g = 0; g < step[b].groups.size(); ++g) {
      const std::vector<int>& positions = step[b].groups[g].positions;
      if (positions.size() < 2) continue;
      const auto last = std::ranges::max_element(positions);
      if (*last <= shortest) continue;
      shortest = *last;
      lender = b;
      from = g;
      index = static_cast<std::size_t>(last - positions.begin());
    }
  }
  if (lender == kNone) return false;
  for (int config = 0; config < static_cast<int>(table.configs().size()); ++config) {
    if (table.configs()[at(config)].degree > idle || !table.holds(config, shortest)) continue;
    if (table.mode(config) != table.mode(step[borrower].groups.front().config)) continue;
    remove_sequence(table, step[lender].groups[from], index);
    step[lender].makespan = slowest(step[lender]);
    step[borrower].groups.push_back(group_of(table, config, {shortest}));
    return true;
  }
  return false;
}

}  // namespace

bool fill_idle_ranks(const ScatterTable& table, WorkingStep& step, std::size_t index) {
  if (idle_ranks(table, step[index]) == 0) return true;
  if (table.equal_sequences()) {
    std::optional<WorkingMicroBatch> made =
        group_micro_batch(table, positions_of(step[index]), kQuickGrouping);
    if (!made || idle_ranks(table, *made) > 0) return false;
    step[index] = *std::move(made);
    return true;
  }
  while (true) {
    WorkingMicroBatch filled = step[index];
    if (Filler(table, filled).run()) {
      polish(table, filled, kPolishRounds);
      step[index] = std::move(filled);
      return true;
    }
    const int idle = idle_ranks(table, step[index]);
    if (!borrow(table, step, index, idle)) return false;
  }
}

}  // namespace stowage
