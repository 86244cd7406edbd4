// A scatter plan under construction. It names positions and configurations of a ScatterTable
// instead of ids and degrees, and its loads are updated instead of recomputed.
#pragma once

#include <iterator>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

struct WorkingGroup {
  int config = 0;   // index into ScatterTable::configurations()
  Tokens held = 0;  // tokens taken from the configuration's capacity
  Ms time = 0;      // the time of the load, overhead included, also while empty
  std::vector<int> positions;
  Load load;  // overhead included
};

struct WorkingMicroBatch {
  Ms makespan = 0;  // time of the slowest group that holds a sequence
  std::vector<WorkingGroup> groups;
};

using WorkingStep = std::vector<WorkingMicroBatch>;

// A step and its time in ms.
struct TimedWorkingStep {
  WorkingStep step;
  Ms time = kInfinity;
};

// Returns an empty group of `configuration`.
WorkingGroup empty_group(const ScatterTable& table, int config);

// Returns a group of `configuration` that holds the positions.
WorkingGroup group_of(const ScatterTable& table, int config, std::vector<int> positions);

void add_sequence(const ScatterTable& table, WorkingGroup& group, int position);
// Removes the sequence at `index` of group.positions; the last one takes its place.
void remove_sequence(const ScatterTable& table, WorkingGroup& group, std::size_t index);

// Returns true if the group may hold `position` beside its present sequences.
inline bool has_room(const ScatterTable& table, const WorkingGroup& group, int position) {
  const GroupConfig& config = table.configs()[static_cast<std::size_t>(group.config)];
  const auto count = std::ssize(group.positions);
  const Tokens tokens = config.padded(table.length(position));
  return tokens <= config.room(group.held, count) && tokens <= config.longest &&
         count < config.sequences;
}

// Returns true if the sequences of the group keep the limits of its configuration.
bool has_room(const ScatterTable& table, const WorkingGroup& group);

// Returns the time of the group in ms if `position` joined it.
inline Ms time_with(const ScatterTable& table, const WorkingGroup& group, int position) {
  return table.time(group.config, group.load + table.load(position, group.config),
                    group.held + table.held(group.config, position),
                    std::ssize(group.positions) + 1);
}

// Returns true if groups that hold a sequence have different recomputation modes, which no plan
// allows.
bool mixes_modes(const ScatterTable& table, const WorkingMicroBatch& batch);

// Returns true if a degree has several configurations.
bool has_forms(const ScatterTable& table);

// Gives every micro-batch its fastest recomputation mode, every group its fastest exchange, and
// updates the makespans. Changes nothing without has_forms(). A micro-batch of mixed modes stays
// mixed if each mode leaves one of its groups without room.
void choose_forms(const ScatterTable& table, WorkingStep& step);

// Returns the makespan of the groups in ms.
Ms slowest(const WorkingMicroBatch& batch);

// Return the sum of the makespans and the longest makespan, in ms.
Ms total(const WorkingStep& step);
Ms longest(const WorkingStep& step);

// Returns the objective: the time of the step in ms. In a pipeline the longest makespan counts more
// than once.
inline Ms step_ms(const ScatterTable& table, const WorkingStep& step) {
  return table.longest_weight() == 0 ? total(step) : table.step_ms(total(step), longest(step));
}

// Returns all positions of the micro-batch, ascending (longest sequence first).
std::vector<int> positions_of(const WorkingMicroBatch& batch);

ScatterPlan to_plan(const ScatterInstance& instance, const ScatterTable& table,
                    const WorkingStep& step);

// Inverts to_plan(), for start plans. Requires a plan that the verifier accepts.
WorkingStep to_draft(const ScatterInstance& instance, const ScatterTable& table,
                     const ScatterPlan& plan);

}  // namespace stowage
