#include "instances/assign_compose.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "instances/pipeline.h"

namespace stowage {
namespace {

AssignRow compose_row(const AssignInstance& instance, const Scheme& scheme,
                      std::vector<std::int64_t> ids) {
  const auto padded = [&](std::int64_t id) {
    return padded_length(instance, instance.lengths[static_cast<std::size_t>(id)]);
  };
  std::sort(ids.begin(), ids.end(), [&](std::int64_t a, std::int64_t b) {
    return std::pair(-padded(a), a) < std::pair(-padded(b), b);
  });
  AssignRow row{.time_ms = scheme.fixed_ms, .cu_seqlens = {0}};
  for (const std::int64_t id : ids) {
    const auto s = static_cast<double>(padded(id));
    row.tokens += padded(id);
    row.loss_tokens += instance.lengths[static_cast<std::size_t>(id)];
    row.cu_seqlens.push_back(row.tokens);
    row.time_ms += scheme.quadratic_ms * s * s + scheme.linear_ms * s;
  }
  row.sequences = std::move(ids);
  return row;
}

constexpr std::int64_t kOrderings = 300;  // simulations per replica

std::vector<Ms> times_of(const std::vector<AssignRow>& rows) {
  std::vector<Ms> times;
  for (const AssignRow& row : rows) times.push_back(row.time_ms);
  return times;
}

void put_in_order(int stages, std::vector<AssignRow>& rows) {
  std::ranges::stable_sort(rows, std::greater<>{}, &AssignRow::time_ms);
  if (stages == 1) return;
  std::vector<AssignRow> ordered;
  for (const std::size_t row : order_rows(times_of(rows), stages, kOrderings)) {
    ordered.push_back(std::move(rows[row]));
  }
  rows = std::move(ordered);
}

}  // namespace

Ms replica_time_ms(const Scheme& scheme, const std::vector<AssignRow>& rows) {
  Ms sum = 0;
  Ms longest = 0;
  for (const AssignRow& row : rows) {
    sum += row.time_ms;
    longest = std::max(longest, row.time_ms);
  }
  return sum + (scheme.pp - 1) * longest;
}

AssignPlan compose_assign(const AssignInstance& instance, int strategy,
                          std::vector<ReplicaChoice> choices) {
  const Strategy& chosen = instance.strategies[static_cast<std::size_t>(strategy)];
  AssignPlan plan{.name = instance.name, .strategy = chosen.name};
  for (std::size_t g = 0; g < chosen.replicas.size(); ++g) {
    const Scheme& scheme = instance.schemes[g];
    std::vector<AssignReplica> replicas;
    for (ReplicaChoice& choice : choices) {
      if (choice.scheme != static_cast<int>(g)) continue;
      AssignReplica replica{.scheme = scheme.name};
      for (std::vector<std::int64_t>& ids : choice.rows) {
        if (!ids.empty()) replica.rows.push_back(compose_row(instance, scheme, std::move(ids)));
      }
      for (const AssignRow& row : replica.rows) plan.loss_tokens += row.loss_tokens;
      put_in_order(scheme.pp, replica.rows);
      replica.time_ms = replica_time_ms(scheme, replica.rows);
      replicas.push_back(std::move(replica));
    }
    replicas.resize(static_cast<std::size_t>(chosen.replicas[g]), {.scheme = scheme.name});
    std::ranges::stable_sort(replicas, std::greater<>{}, &AssignReplica::time_ms);
    for (AssignReplica& replica : replicas) {
      plan.objective_ms = std::max(plan.objective_ms, replica.time_ms);
      plan.simulated_1f1b_ms =
          std::max(plan.simulated_1f1b_ms, simulate_1f1b(times_of(replica.rows), scheme.pp));
      plan.replicas.push_back(std::move(replica));
    }
  }
  return plan;
}

}  // namespace stowage
