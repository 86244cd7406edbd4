#include "instances/scatter/compose.h"

#include <algorithm>
#include <utility>

#include "instances/scatter/cost_model.h"

namespace stowage {
namespace {

struct Padded {
  Tokens length = 0;
  std::int64_t id = 0;
};

// `padded` is room to work in, taken once for a million groups.
ScatterGroup compose_group(const ScatterInstance& instance, GroupChoice choice, int first_rank,
                           std::vector<Padded>& padded) {
  padded.clear();
  for (const std::int64_t id : choice.sequences) {
    padded.push_back({padded_length(instance, instance.lengths[static_cast<std::size_t>(id)]), id});
  }
  const auto longer = [](const Padded& a, const Padded& b) {
    return a.length != b.length ? a.length > b.length : a.id < b.id;
  };
  if (!std::ranges::is_sorted(padded, longer)) std::ranges::sort(padded, longer);
  const GroupForm form = choice.form();
  ScatterGroup group{.degree = choice.degree,
                     .first_rank = first_rank,
                     .sequences = std::move(choice.sequences),
                     .exchange = choice.exchange};
  Load load = empty_load(instance, form);
  group.cu_seqlens.reserve(padded.size() + 1);
  group.cu_seqlens.push_back(0);
  Load sequence;
  for (std::size_t i = 0; i < padded.size(); ++i) {
    const Tokens length = padded[i].length;
    if (i == 0 || length != padded[i - 1].length) {
      sequence = sequence_load(instance, length, form);
    }
    group.sequences[i] = padded[i].id;
    group.tokens += length;
    group.cu_seqlens.push_back(group.tokens);
    load += sequence;
  }
  group.time_ms = group_ms(instance, form, load);
  return group;
}

}  // namespace

ScatterPlan compose_plan(const ScatterInstance& instance, std::vector<MicroBatchChoice> choices) {
  ScatterPlan plan{.name = instance.name};
  plan.micro_batches.reserve(choices.size());
  std::vector<Padded> padded;
  Ms sum = 0;
  Ms longest = 0;
  for (MicroBatchChoice& choice : choices) {
    std::erase_if(choice, [](const GroupChoice& group) { return group.sequences.empty(); });
    if (choice.empty()) continue;
    std::stable_sort(choice.begin(), choice.end(),
                     [](const auto& a, const auto& b) { return a.degree > b.degree; });
    ScatterMicroBatch batch;
    batch.recomputation = recomputation_name(instance, choice.front().recomputation);
    batch.groups.reserve(choice.size());
    int rank = 0;
    for (GroupChoice& group : choice) {
      batch.groups.push_back(compose_group(instance, std::move(group), rank, padded));
      rank += batch.groups.back().degree;
      batch.makespan_ms = std::max(batch.makespan_ms, batch.groups.back().time_ms);
    }
    sum += batch.makespan_ms;
    longest = std::max(longest, batch.makespan_ms);
    plan.micro_batches.push_back(std::move(batch));
  }
  plan.objective_ms = step_ms(instance, sum, longest);
  return plan;
}

}  // namespace stowage
