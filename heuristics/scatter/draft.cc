#include "heuristics/scatter/draft.h"

#include <algorithm>
#include <utility>

namespace stowage {

GroupDraft empty_group(const ScatterTable& table, int level) {
  return {.level = level, .time = table.levels()[static_cast<std::size_t>(level)].overhead};
}

GroupDraft group_of(const ScatterTable& table, int level, std::vector<int> positions) {
  GroupDraft group = empty_group(table, level);
  for (const int position : positions) {
    group.tokens += table.length(position);
    group.time += table.cost(position, level);
  }
  group.positions = std::move(positions);
  return group;
}

void add_sequence(const ScatterTable& table, GroupDraft& group, int position) {
  group.positions.push_back(position);
  group.tokens += table.length(position);
  group.time += table.cost(position, group.level);
}

void remove_sequence(const ScatterTable& table, GroupDraft& group, std::size_t index) {
  const int position = group.positions[index];
  group.tokens -= table.length(position);
  group.time -= table.cost(position, group.level);
  group.positions[index] = group.positions.back();
  group.positions.pop_back();
}

Ms slowest(const MicroBatchDraft& batch) {
  Ms makespan = 0;
  for (const GroupDraft& group : batch.groups) {
    if (!group.positions.empty()) makespan = std::max(makespan, group.time);
  }
  return makespan;
}

Ms total(const StepDraft& step) {
  Ms sum = 0;
  for (const MicroBatchDraft& batch : step) sum += batch.makespan;
  return sum;
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
      choice.push_back({.degree = table.levels()[static_cast<std::size_t>(group.level)].degree});
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
      const auto level = std::ranges::find(table.levels(), group.degree, &Level::degree);
      batch.groups.push_back(empty_group(table, static_cast<int>(level - table.levels().begin())));
      for (const std::int64_t id : group.sequences) {
        add_sequence(table, batch.groups.back(), position_of[static_cast<std::size_t>(id)]);
      }
    }
    batch.makespan = slowest(batch);
    step.push_back(std::move(batch));
  }
  return step;
}

}  // namespace stowage
