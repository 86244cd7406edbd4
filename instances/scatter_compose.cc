#include "instances/scatter_compose.h"

#include <algorithm>
#include <utility>

#include "instances/cost_model.h"

namespace stowage {
namespace {

ScatterGroup compose_group(const ScatterInstance& instance, GroupChoice choice, int first_rank) {
  const auto padded = [&](std::int64_t id) {
    return padded_length(instance, instance.lengths[static_cast<std::size_t>(id)]);
  };
  const auto longer = [&](std::int64_t a, std::int64_t b) {
    return std::pair(-padded(a), a) < std::pair(-padded(b), b);
  };
  if (!std::is_sorted(choice.sequences.begin(), choice.sequences.end(), longer)) {
    std::sort(choice.sequences.begin(), choice.sequences.end(), longer);
  }
  ScatterGroup group{.degree = choice.degree,
                     .first_rank = first_rank,
                     .time_ms = group_overhead_ms(instance, choice.degree),
                     .cu_seqlens = {0}};
  for (const std::int64_t id : choice.sequences) {
    group.tokens += padded(id);
    group.cu_seqlens.push_back(group.tokens);
    group.time_ms += sequence_ms(instance, padded(id), choice.degree);
  }
  group.sequences = std::move(choice.sequences);
  return group;
}

}  // namespace

ScatterPlan compose_plan(const ScatterInstance& instance, std::vector<MicroBatchChoice> choices) {
  ScatterPlan plan{.name = instance.name};
  for (MicroBatchChoice& choice : choices) {
    std::erase_if(choice, [](const GroupChoice& group) { return group.sequences.empty(); });
    if (choice.empty()) continue;
    std::stable_sort(choice.begin(), choice.end(),
                     [](const auto& a, const auto& b) { return a.degree > b.degree; });
    ScatterMicroBatch batch;
    int rank = 0;
    for (GroupChoice& group : choice) {
      batch.groups.push_back(compose_group(instance, std::move(group), rank));
      rank += batch.groups.back().degree;
      batch.makespan_ms = std::max(batch.makespan_ms, batch.groups.back().time_ms);
    }
    plan.objective_ms += batch.makespan_ms;
    plan.micro_batches.push_back(std::move(batch));
  }
  return plan;
}

}  // namespace stowage
