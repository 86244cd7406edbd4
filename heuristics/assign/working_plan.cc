#include "heuristics/assign/working_plan.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "instances/assign/plan_builder.h"

namespace stowage {

Ms objective(const AssignWorkingPlan& draft) {
  Ms slowest = 0;
  for (const WorkingReplica& replica : draft.replicas) slowest = std::max(slowest, replica.time);
  return slowest;
}

Ms time_of(const AssignTable& table, int scheme, const std::vector<WorkingRow>& rows) {
  const Scheme& s = table.schemes()[static_cast<std::size_t>(scheme)];
  Ms sum = 0;
  Ms longest = 0;
  for (const WorkingRow& row : rows) {
    sum += row.work + s.fixed_ms;
    longest = std::max(longest, row.work + s.fixed_ms);
  }
  return sum + (s.pp - 1) * longest;
}

void append(const AssignTable& table, int scheme, int position, WorkingRow& row) {
  row.positions.push_back(position);
  row.tokens += table.length(position);
  row.work += table.work(position, scheme);
}

std::vector<int> positions_of(const WorkingReplica& replica) {
  std::vector<int> positions;
  for (const WorkingRow& row : replica.rows) {
    positions.insert(positions.end(), row.positions.begin(), row.positions.end());
  }
  std::ranges::sort(positions);
  return positions;
}

AssignPlan to_plan(const AssignInstance& instance, const AssignTable& table,
                   const AssignWorkingPlan& draft, const Budget& budget) {
  std::vector<ReplicaChoice> choices;
  choices.reserve(draft.replicas.size());
  for (const WorkingReplica& replica : draft.replicas) {
    choices.push_back({.scheme = replica.scheme});
    for (const WorkingRow& row : replica.rows) {
      choices.back().rows.emplace_back();
      for (const int position : row.positions) {
        choices.back().rows.back().push_back(table.id(position));
      }
    }
  }
  return compose_assign(instance, draft.strategy, std::move(choices), budget);
}

AssignWorkingPlan to_draft(const AssignInstance& instance, const AssignTable& table,
                           const AssignPlan& plan) {
  std::vector<int> position_of(static_cast<std::size_t>(table.size()));
  for (int position = 0; position < table.size(); ++position) {
    position_of[static_cast<std::size_t>(table.id(position))] = position;
  }
  AssignWorkingPlan draft;
  const auto strategy = std::ranges::find(instance.strategies, plan.strategy, &Strategy::name);
  draft.strategy = static_cast<int>(strategy - instance.strategies.begin());
  std::map<std::string_view, int> schemes;
  for (const Scheme& scheme : instance.schemes) {
    schemes.emplace(scheme.name, static_cast<int>(schemes.size()));
  }
  for (const AssignReplica& replica : plan.replicas) {
    draft.replicas.push_back({.scheme = schemes.at(replica.scheme)});
    WorkingReplica& made = draft.replicas.back();
    for (const AssignRow& row : replica.rows) {
      made.rows.emplace_back();
      for (const std::int64_t id : row.sequences) {
        append(table, made.scheme, position_of[static_cast<std::size_t>(id)], made.rows.back());
      }
    }
    made.time = time_of(table, made.scheme, made.rows);
  }
  std::ranges::stable_sort(draft.replicas, {}, &WorkingReplica::scheme);
  return draft;
}

}  // namespace stowage
