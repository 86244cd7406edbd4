#include "instances/assign/verify/counterexample_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "instances/assign/plan_builder.h"
#include "instances/assign/verify/verify.h"
#include "instances/budget.h"

namespace stowage {
namespace {

// Returns a plan of the strategy in which every replica has `rows_each` rows of one sequence. The
// narrowest replica has the shortest sequences, and the widest replica all the rest. Returns
// nullopt if there are too few sequences.
std::optional<AssignPlan> one_sequence_a_row(const AssignInstance& instance, std::size_t strategy,
                                             std::size_t rows_each) {
  std::vector<ReplicaChoice> choices;
  const std::vector<int>& replicas = instance.strategies[strategy].replicas;
  for (std::size_t g = 0; g < replicas.size(); ++g) {
    choices.insert(choices.end(), static_cast<std::size_t>(replicas[g]),
                   {.scheme = static_cast<int>(g), .rows = {}});
  }
  if (rows_each * choices.size() > instance.lengths.size()) return std::nullopt;
  std::ranges::stable_sort(choices, {}, [&](const ReplicaChoice& choice) {
    return longest_sequence(instance, instance.schemes[static_cast<std::size_t>(choice.scheme)]);
  });
  std::vector<std::int64_t> ids(instance.lengths.size());
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  std::ranges::stable_sort(
      ids, {}, [&](std::int64_t id) { return instance.lengths[static_cast<std::size_t>(id)]; });
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const bool own = k < rows_each * choices.size();
    choices[own ? k / rows_each : choices.size() - 1].rows.push_back({ids[k]});
  }
  // The order of rows decides nothing here, so the search of orders gets no time.
  const Budget none({.node_limit = 0});
  return compose_assign(instance, static_cast<int>(strategy), std::move(choices), none);
}

}  // namespace

bool has_counterexample_plan(const AssignInstance& instance) {
  const auto multiple = static_cast<std::size_t>(instance.constraints.rows_multiple_of);
  for (const std::size_t strategy : usable_strategies(instance)) {
    for (const std::size_t rows_each : {std::size_t{0}, multiple}) {
      const auto plan = one_sequence_a_row(instance, strategy, rows_each);
      if (plan && verify(instance, *plan).empty()) return true;
    }
  }
  return false;
}

}  // namespace stowage
