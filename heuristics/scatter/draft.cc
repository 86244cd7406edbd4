#include "heuristics/scatter/draft.h"

#include <algorithm>
#include <utility>

namespace stowage {

GroupDraft empty_group(const ScatterTable& table, int level) {
  const Ms overhead = table.levels()[static_cast<std::size_t>(level)].overhead;
  return {.level = level, .time = overhead, .load = {overhead, overhead}};
}

GroupDraft group_of(const ScatterTable& table, int level, std::vector<int> positions) {
  GroupDraft group = empty_group(table, level);
  for (const int position : positions) {
    group.held += table.held(level, position);
    group.load += table.load(position, level);
  }
  group.time = group.load.time();
  group.positions = std::move(positions);
  return group;
}

void add_sequence(const ScatterTable& table, GroupDraft& group, int position) {
  group.positions.push_back(position);
  group.held += table.held(group.level, position);
  group.load += table.load(position, group.level);
  group.time = group.load.time();
}

void remove_sequence(const ScatterTable& table, GroupDraft& group, std::size_t index) {
  const int position = group.positions[index];
  group.held -= table.held(group.level, position);
  group.load -= table.load(position, group.level);
  group.time = group.load.time();
  group.positions[index] = group.positions.back();
  group.positions.pop_back();
}

bool has_room(const ScatterTable& table, const GroupDraft& group) {
  const Level& level = table.levels()[static_cast<std::size_t>(group.level)];
  const auto count = std::ssize(group.positions);
  return level.room_to_grow(group.held, count) >= 0 && count <= level.sequences &&
         std::ranges::all_of(group.positions,
                             [&](int position) { return table.holds(group.level, position); });
}

Ms slowest(const MicroBatchDraft& batch) {
  Ms makespan = 0;
  for (const GroupDraft& group : batch.groups) {
    if (!group.positions.empty()) makespan = std::max(makespan, group.time);
  }
  return makespan;
}

void choose_exchanges(const ScatterTable& table, StepDraft& step) {
  const std::vector<Level>& levels = table.levels();
  const auto same = std::ranges::adjacent_find(levels, {}, &Level::degree);
  if (same == levels.end()) return;
  for (MicroBatchDraft& batch : step) {
    for (GroupDraft& group : batch.groups) {
      const int degree = levels[static_cast<std::size_t>(group.level)].degree;
      for (std::size_t level = 0; level < levels.size(); ++level) {
        if (levels[level].degree != degree) continue;
        GroupDraft other = group_of(table, static_cast<int>(level), group.positions);
        if (other.time < group.time && has_room(table, other)) group = std::move(other);
      }
    }
    batch.makespan = slowest(batch);
  }
}

Ms total(const StepDraft& step) {
  Ms sum = 0;
  for (const MicroBatchDraft& batch : step) sum += batch.makespan;
  return sum;
}

Ms longest(const StepDraft& step) {
  Ms longest = 0;
  for (const MicroBatchDraft& batch : step) longest = std::max(longest, batch.makespan);
  return longest;
}

std::vector<int> positions_of(const MicroBatchDraft& batch) {
  std::vector<int> positions;
  for (const GroupDraft& group : batch.groups) {
    positions.insert(positions.end(), group.positions.begin(), group.positions.end());
  }
  std::sort(positions.begin(), positions.end());
  return positions;
}

ScatterPlan to_plan(const ScatterInstance& instance, const ScatterTable& table,
                    const StepDraft& step) {
  std::vector<MicroBatchChoice> choices;
  choices.reserve(step.size());
  for (const MicroBatchDraft& batch : step) {
    MicroBatchChoice choice;
    choice.reserve(batch.groups.size());
    for (const GroupDraft& group : batch.groups) {
      const Level& level = table.levels()[static_cast<std::size_t>(group.level)];
      choice.push_back({.degree = level.degree, .exchange = level.exchange});
      choice.back().sequences.reserve(group.positions.size());
      for (const int position : group.positions) {
        choice.back().sequences.push_back(table.id(position));
      }
    }
    choices.push_back(std::move(choice));
  }
  return compose_plan(instance, std::move(choices));
}

StepDraft to_draft(const ScatterTable& table, const ScatterPlan& plan) {
  std::vector<int> position_of(static_cast<std::size_t>(table.size()));
  for (int position = 0; position < table.size(); ++position) {
    position_of[static_cast<std::size_t>(table.id(position))] = position;
  }
  StepDraft step;
  for (const ScatterMicroBatch& micro_batch : plan.micro_batches) {
    MicroBatchDraft batch;
    for (const ScatterGroup& group : micro_batch.groups) {
      std::vector<int> positions;
      for (const std::int64_t id : group.sequences) {
        positions.push_back(position_of[static_cast<std::size_t>(id)]);
      }
      batch.groups.push_back(group_of(table, table.level_of(group.form()), std::move(positions)));
      // Where the form was left out, another of its degree has room.
      GroupDraft& made = batch.groups.back();
      for (std::size_t level = 0; level < table.levels().size() && !has_room(table, made);
           ++level) {
        if (table.levels()[level].degree != group.degree) continue;
        made = group_of(table, static_cast<int>(level), std::move(made.positions));
      }
    }
    batch.makespan = slowest(batch);
    step.push_back(std::move(batch));
  }
  return step;
}

}  // namespace stowage
