#include "heuristics/scatter/working_plan.h"

#include <algorithm>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

Ms time_of(const ScatterTable& table, const WorkingGroup& group) {
  return table.time(group.config, group.load, group.held, std::ssize(group.positions));
}

}  // namespace

WorkingGroup empty_group(const ScatterTable& table, int config) {
  const Ms overhead = table.configs()[static_cast<std::size_t>(config)].overhead;
  return {.config = config, .time = overhead, .load = table.empty_load(config)};
}

WorkingGroup group_of(const ScatterTable& table, int config, std::vector<int> positions) {
  WorkingGroup group = empty_group(table, config);
  for (const int position : positions) {
    group.held += table.held(config, position);
    group.load += table.load(position, config);
  }
  group.positions = std::move(positions);
  group.time = time_of(table, group);
  return group;
}

void add_sequence(const ScatterTable& table, WorkingGroup& group, int position) {
  group.positions.push_back(position);
  group.held += table.held(group.config, position);
  group.load += table.load(position, group.config);
  group.time = time_of(table, group);
}

void remove_sequence(const ScatterTable& table, WorkingGroup& group, std::size_t index) {
  const int position = group.positions[index];
  group.held -= table.held(group.config, position);
  group.load -= table.load(position, group.config);
  group.positions[index] = group.positions.back();
  group.positions.pop_back();
  group.time = time_of(table, group);
}

bool has_room(const ScatterTable& table, const WorkingGroup& group) {
  const GroupConfig& config = table.configs()[static_cast<std::size_t>(group.config)];
  const auto count = std::ssize(group.positions);
  return config.room_to_grow(group.held, count) >= 0 && count <= config.sequences &&
         std::ranges::all_of(group.positions,
                             [&](int position) { return table.holds(group.config, position); });
}

Ms slowest(const WorkingMicroBatch& batch) {
  Ms makespan = 0;
  for (const WorkingGroup& group : batch.groups) {
    if (!group.positions.empty()) makespan = std::max(makespan, group.time);
  }
  return makespan;
}

bool mixes_modes(const ScatterTable& table, const WorkingMicroBatch& batch) {
  if (table.recomputations() == 1) return false;
  int mode = -1;
  for (const WorkingGroup& group : batch.groups) {
    if (group.positions.empty()) continue;
    const int own = table.mode(group.config);
    if (mode >= 0 && own != mode) return true;
    mode = own;
  }
  return false;
}

namespace {

// Returns the group with its fastest configuration of the same degree in recomputation mode `way`,
// or unchanged if none has room.
WorkingGroup fastest_form(const ScatterTable& table, const WorkingGroup& group, int mode) {
  const std::vector<GroupConfig>& configs = table.configs();
  const int degree = configs[static_cast<std::size_t>(group.config)].degree;
  const int place = configs[static_cast<std::size_t>(group.config)].place;
  WorkingGroup best = group;
  for (int config = 0; config < static_cast<int>(configs.size()); ++config) {
    const GroupConfig& own = configs[static_cast<std::size_t>(config)];
    if (own.degree != degree || own.place != place || table.mode(config) != mode) continue;
    WorkingGroup other = group_of(table, config, group.positions);
    const bool first = table.mode(best.config) != mode;
    if ((first || other.time < best.time) && has_room(table, other)) best = std::move(other);
  }
  return best;
}

}  // namespace

bool has_forms(const ScatterTable& table) {
  return std::ranges::adjacent_find(table.configs(), {}, &GroupConfig::degree) !=
         table.configs().end();
}

void choose_forms(const ScatterTable& table, WorkingStep& step) {
  if (!has_forms(table)) return;
  for (WorkingMicroBatch& batch : step) {
    WorkingMicroBatch best;
    best.makespan = kInfinity;
    for (int mode = 0; mode < table.recomputations(); ++mode) {
      WorkingMicroBatch other;
      bool possible = true;
      for (const WorkingGroup& group : batch.groups) {
        other.groups.push_back(fastest_form(table, group, mode));
        possible = possible && table.mode(other.groups.back().config) == mode;
      }
      other.makespan = slowest(other);
      if (possible && other.makespan < best.makespan) best = std::move(other);
    }
    if (best.makespan < kInfinity) batch = std::move(best);
    batch.makespan = slowest(batch);
  }
}

Ms total(const WorkingStep& step) {
  Ms sum = 0;
  for (const WorkingMicroBatch& batch : step) sum += batch.makespan;
  return sum;
}

Ms longest(const WorkingStep& step) {
  Ms longest = 0;
  for (const WorkingMicroBatch& batch : step) longest = std::max(longest, batch.makespan);
  return longest;
}

std::vector<int> positions_of(const WorkingMicroBatch& batch) {
  std::vector<int> positions;
  for (const WorkingGroup& group : batch.groups) {
    positions.insert(positions.end(), group.positions.begin(), group.positions.end());
  }
  std::sort(positions.begin(), positions.end());
  return positions;
}

ScatterPlan to_plan(const ScatterInstance& instance, const ScatterTable& table,
                    const WorkingStep& step) {
  std::vector<MicroBatchChoice> choices;
  choices.reserve(step.size());
  for (const WorkingMicroBatch& batch : step) {
    MicroBatchChoice choice;
    choice.reserve(batch.groups.size());
    for (const WorkingGroup& group : batch.groups) {
      const GroupConfig& config = table.configs()[static_cast<std::size_t>(group.config)];
      choice.push_back({.degree = config.degree,
                        .exchange = config.exchange,
                        .recomputation = config.recomputation,
                        .place = config.place});
      choice.back().sequences.reserve(group.positions.size());
      for (const int position : group.positions) {
        choice.back().sequences.push_back(table.id(position));
      }
    }
    choices.push_back(std::move(choice));
  }
  return compose_plan(instance, std::move(choices));
}

WorkingStep to_draft(const ScatterInstance& instance, const ScatterTable& table,
                     const ScatterPlan& plan) {
  std::vector<int> position_of(static_cast<std::size_t>(table.size()));
  for (int position = 0; position < table.size(); ++position) {
    position_of[static_cast<std::size_t>(table.id(position))] = position;
  }
  WorkingStep step;
  for (const ScatterMicroBatch& micro_batch : plan.micro_batches) {
    WorkingMicroBatch batch;
    for (const ScatterGroup& group : micro_batch.groups) {
      std::vector<int> positions;
      for (const std::int64_t id : group.sequences) {
        positions.push_back(position_of[static_cast<std::size_t>(id)]);
      }
      const int config = table.config_of(*form_of(instance, micro_batch, group));
      batch.groups.push_back(group_of(table, config, std::move(positions)));
      // If the table left out the form, another configuration of the degree has room.
      WorkingGroup& made = batch.groups.back();
      for (int next = 0; next < static_cast<int>(table.configs().size()) && !has_room(table, made);
           ++next) {
        const GroupConfig& other = table.configs()[static_cast<std::size_t>(next)];
        if (other.degree != group.degree ||
            other.place != table.configs()[static_cast<std::size_t>(config)].place) {
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
  const auto mixed = [&](const WorkingMicroBatch& batch) { return mixes_modes(table, batch); };
  if (std::ranges::any_of(step, mixed)) choose_forms(table, step);
  return step;
}

}  // namespace stowage
