// A scatter plan under construction. It names positions and levels of a ScatterTable instead of ids
// and degrees, and its loads are updated instead of recomputed.
#pragma once

#include <iterator>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

struct GroupDraft {
  int level = 0;    // index into ScatterTable::levels()
  Tokens held = 0;  // tokens taken from the level's capacity
  Ms time = 0;      // the time of the load, overhead included, also while empty
  std::vector<int> positions;
  Load load;  // overhead included
};

struct MicroBatchDraft {
  Ms makespan = 0;  // time of the slowest group that holds a sequence
  std::vector<GroupDraft> groups;
};

using StepDraft = std::vector<MicroBatchDraft>;

// A step and its time in ms.
struct TimedDraft {
  StepDraft step;
  Ms time = kInfinity;
};

// Returns an empty group of `level`.
GroupDraft empty_group(const ScatterTable& table, int level);

// Returns a group of `level` that holds the positions.
GroupDraft group_of(const ScatterTable& table, int level, std::vector<int> positions);

void add_sequence(const ScatterTable& table, GroupDraft& group, int position);
// Removes the sequence at `index` of group.positions; the last one takes its place.
void remove_sequence(const ScatterTable& table, GroupDraft& group, std::size_t index);

// Returns true if the group may hold `position` beside its present sequences.
inline bool has_room(const ScatterTable& table, const GroupDraft& group, int position) {
  const Level& level = table.levels()[static_cast<std::size_t>(group.level)];
  const auto count = std::ssize(group.positions);
  return table.length(position) <= level.room(group.held, count) &&
         table.length(position) <= level.longest && count < level.sequences;
}

// Returns true if the sequences of the group keep the limits of its level.
bool has_room(const ScatterTable& table, const GroupDraft& group);

// Returns the time of the group in ms if `position` joined it.
inline Ms time_with(const ScatterTable& table, const GroupDraft& group, int position) {
  return table.time(group.level, group.load + table.load(position, group.level));
}

// Returns true if groups that hold a sequence have different recomputation modes, which no plan
// allows.
bool mixes_ways(const ScatterTable& table, const MicroBatchDraft& batch);

// Returns true if a degree has several levels.
bool has_forms(const ScatterTable& table);

// Gives every micro-batch its fastest recomputation mode, every group its fastest exchange, and
// updates the makespans. Changes nothing without has_forms(). A micro-batch of mixed modes stays
// mixed if each mode leaves one of its groups without room.
void choose_forms(const ScatterTable& table, StepDraft& step);

// Returns the makespan of the groups in ms.
Ms slowest(const MicroBatchDraft& batch);

// Return the sum of the makespans and the longest makespan, in ms.
Ms total(const StepDraft& step);
Ms longest(const StepDraft& step);

// Returns the objective: the time of the step in ms. In a pipeline the longest makespan counts more
// than once.
inline Ms step_ms(const ScatterTable& table, const StepDraft& step) {
  return table.again() == 0 ? total(step) : table.step_ms(total(step), longest(step));
}

// Returns all positions of the micro-batch, ascending (longest sequence first).
std::vector<int> positions_of(const MicroBatchDraft& batch);

ScatterPlan to_plan(const ScatterInstance& instance, const ScatterTable& table,
                    const StepDraft& step);

// Inverts to_plan(), for start plans. Requires a plan that the verifier accepts.
StepDraft to_draft(const ScatterInstance& instance, const ScatterTable& table,
                   const ScatterPlan& plan);

}  // namespace stowage
