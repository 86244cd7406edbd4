// A scatter plan while it is being made: positions and levels of a ScatterTable instead of ids and
// degrees, loads kept up to date instead of recomputed.
#pragma once

#include <iterator>
#include <vector>

#include "instances/numbers.h"
#include "instances/scatter/compose.h"
#include "instances/scatter/table.h"

namespace stowage {

struct GroupDraft {
  int level = 0;    // index into ScatterTable::levels()
  Tokens held = 0;  // of the level's capacity
  Ms time = 0;      // overhead included, also while empty: that of the load
  std::vector<int> positions;
  Load load;  // overhead included
};

struct MicroBatchDraft {
  Ms makespan = 0;  // the slowest group that holds a sequence
  std::vector<GroupDraft> groups;
};

using StepDraft = std::vector<MicroBatchDraft>;

// A step and what it takes.
struct TimedDraft {
  StepDraft step;
  Ms time = kInfinity;
};

// An empty group of `level`.
GroupDraft empty_group(const ScatterTable& table, int level);

// A group of `level` that holds the positions.
GroupDraft group_of(const ScatterTable& table, int level, std::vector<int> positions);

void add_sequence(const ScatterTable& table, GroupDraft& group, int position);
// Removes the sequence at `index` of group.positions; the last one takes its place.
void remove_sequence(const ScatterTable& table, GroupDraft& group, std::size_t index);

// Whether the group may hold `position` beside what it has.
inline bool has_room(const ScatterTable& table, const GroupDraft& group, int position) {
  const Level& level = table.levels()[static_cast<std::size_t>(group.level)];
  const auto count = std::ssize(group.positions);
  return table.length(position) <= level.room(group.held, count) &&
         table.length(position) <= level.longest && count < level.sequences;
}

// Whether what the group holds keeps the limits of its level.
bool has_room(const ScatterTable& table, const GroupDraft& group);

// The time of the group if `position` joined it.
inline Ms time_with(const ScatterTable& table, const GroupDraft& group, int position) {
  return table.time(group.level, group.load + table.load(position, group.level));
}

// Whether groups that hold a sequence recompute in different ways, which no plan may say.
bool mixes_ways(const ScatterTable& table, const MicroBatchDraft& batch);

// Whether a degree has several levels to choose from.
bool has_forms(const ScatterTable& table);

// Gives every micro-batch the way to recompute, and every group the exchange, with which it is
// fastest, and the micro-batches their makespans. Changes nothing without has_forms().
// A micro-batch that mixes ways still does if each way leaves one of its groups without room.
void choose_forms(const ScatterTable& table, StepDraft& step);

// The makespan, from the groups.
Ms slowest(const MicroBatchDraft& batch);

// Sum of the makespans, and the longest of them.
Ms total(const StepDraft& step);
Ms longest(const StepDraft& step);

// What the step takes: the objective. In a pipeline the longest makespan counts more than once.
inline Ms step_ms(const ScatterTable& table, const StepDraft& step) {
  return table.again() == 0 ? total(step) : table.step_ms(total(step), longest(step));
}

// All positions of the micro-batch, ascending (longest sequence first).
std::vector<int> positions_of(const MicroBatchDraft& batch);

ScatterPlan to_plan(const ScatterInstance& instance, const ScatterTable& table,
                    const StepDraft& step);

// The inverse, for start plans. Requires a plan that the verifier accepts.
StepDraft to_draft(const ScatterInstance& instance, const ScatterTable& table,
                   const ScatterPlan& plan);

}  // namespace stowage
