#include "heuristics/scatter/working_plan.h"

#include <algorithm>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {

GroupDraft empty_group(const ScatterTable& table, int level) {
  const Ms overhead = table.levels()[static_cast<std::size_t>(level)].overhead;
  return {.level = level, .time = overhead, .load = table.empty_load(level)};
}

GroupDraft group_of(const ScatterTable& table, int level, std::vector<int> positions) {
  GroupDraft group = empty_group(table, level);
  for (const int position : positions) {
    group.held += table.held(level, position);
    group.load += table.load(position, level);
  }
  group.time = table.time(group.level, group.load);
  group.positions = std::move(positions);
  return group;
}

void add_sequence(const ScatterTable& table, GroupDraft& group, int position) {
  group.positions.push_back(position);
  group.held += table.held(group.level, position);
  group.load += table.load(position, group.level);
  group.time = table.time(group.level, group.load);
}

void remove_sequence(const ScatterTable& table, GroupDraft& group, std::size_t index) {
  const int position = group.positions[index];
  group.held -= table.held(group.level, position);
  group.load -= table.load(position, group.level);
  group.time = table.time(group.level, group.load);
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

bool mixes_ways(const ScatterTable& table, const MicroBatchDraft& batch) {
  if (table.recomputations() == 1) return false;
  int way = -1;
  for (const GroupDraft& group : batch.groups) {
    if (group.positions.empty()) continue;
    const int own = table.way(group.level);
    if (way >= 0 && own != way) return true;
    way = own;
  }
  return false;
}

namespace {

// Returns the group with its fastest level of the same degree in recomputation mode `way`, or
// unchanged if none has room.
GroupDraft fastest_form(const ScatterTable& table, const GroupDraft& group, int way) {
  const std::vector<Level>& levels = table.levels();
  const int degree = levels[static_cast<std::size_t>(group.level)].degree;
  const int place = levels[static_cast<std::size_t>(group.level)].place;
  GroupDraft best = group;
  for (int level = 0; level < static_cast<int>(levels.size()); ++level) {
    const Level& own = levels[static_cast<std::size_t>(level)];
    if (own.degree != degree || own.place != place || table.way(level) != way) continue;
    GroupDraft other = group_of(table, level, group.positions);
    const bool first = table.way(best.level) != way;
    if ((first || other.time < best.time) && has_room(table, other)) best = std::move(other);
  }
  return best;
}

}  // namespace

bool has_forms(const ScatterTable& table) {
  return std::ranges::adjacent_find(table.levels(), {}, &Level::degree) != table.levels().end();
}

void choose_forms(const ScatterTable& table, StepDraft& step) {
  if (!has_forms(table)) return;
  for (MicroBatchDraft& batch : step) {
    MicroBatchDraft best;
    best.makespan = kInfinity;
    for (int way = 0; way < table.recomputations(); ++way) {
      MicroBatchDraft other;
      bool possible = true;
      for (const GroupDraft& group : batch.groups) {
        other.groups.push_back(fastest_form(table, group, way));
        possible = possible && table.way(other.groups.back().level) == way;
      }
      other.makespan = slowest(other);
      if (possible && other.makespan < best.makespan) best = std::move(other);
    }
    if (best.makespan < kInfinity) batch = std::move(best);
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
      choice.push_back({.degree = level.degree,
                        .exchange = level.exchange,
                        .recomputation = level.recomputation,
                        .place = level.place});
      choice.back().sequences.reserve(group.positions.size());
      for (const int position : group.positions) {
        choice.back().sequences.push_back(table.id(position));
      }
    }
    choices.push_back(std::move(choice));
  }
  return compose_plan(instance, std::move(choices));
}

StepDraft to_draft(const ScatterInstance& instance, const ScatterTable& table,
                   const ScatterPlan& plan) {
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
      const int level = table.level_of(*form_of(instance, micro_batch, group));
      batch.groups.push_back(group_of(table, level, std::move(positions)));
      // If the table left out the form, another level of the degree has room.
      GroupDraft& made = batch.groups.back();
      for (int next = 0; next < static_cast<int>(table.levels().size()) && !has_room(table, made);
           ++next) {
        const Level& other = table.levels()[static_cast<std::size_t>(next)];
        if (other.degree != group.degree ||
            other.place != table.levels()[static_cast<std::size_t>(level)].place) {
          continue;
        }
        made = group_of(table, next, std::move(made.positions));
      }
    }
    batch.makespan = slowest(batch);
    step.push_back(std::move(batch));
  }
  // If the table left out a recomputation mode, the groups of a micro-batch may have different
  // modes.
  const auto mixed = [&](const MicroBatchDraft& batch) { return mixes_ways(table, batch); };
  if (std::ranges::any_of(step, mixed)) choose_forms(table, step);
  return step;
}

}  // namespace stowage
