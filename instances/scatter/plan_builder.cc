#include "instances/scatter/plan_builder.h"

#include <algorithm>
#include <utility>

#include "instances/pipeline/schedule.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/cost/mixed.h"
#include "instances/scatter/table/device_pools.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

struct Padded {
  Tokens length = 0;
  std::int64_t id = 0;
};

// Makes the group. `padded` is a buffer that is allocated once for a million groups.
ScatterGroup compose_group(const ScatterInstance& instance, GroupChoice choice, int first_rank,
                           std::vector<Padded>& padded) {
  padded.clear();
  const GroupForm form = choice.form();
  const Tokens multiple = sequence_multiple(instance, form);
  for (const std::int64_t id : choice.sequences) {
    padded.push_back({round_up(instance.lengths[static_cast<std::size_t>(id)], multiple), id});
  }
  const auto longer = [](const Padded& a, const Padded& b) {
    return a.length != b.length ? a.length > b.length : a.id < b.id;
  };
  if (!std::ranges::is_sorted(padded, longer)) std::ranges::sort(padded, longer);
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
  load += row_padding_load(instance, group.tokens, form);
  group.tokens = round_up(group.tokens, row_multiple(instance, form));
  group.cu_seqlens.back() = group.tokens;
  group.time_ms = group_ms(instance, form, load);
  group.offload = least_offload(instance, form, group.tokens);
  return group;
}

// Assigns first ranks to groups that come largest first: one after another or, if devices differ,
// the next free ranks of their places. Gives -1 if a place has no room left. A row that all devices
// share leaves its ranks to the rows of single devices.
class Ranks {
 public:
  explicit Ranks(const ScatterInstance& instance)
      : instance_(instance), cluster_(instance.cluster) {}

  // Starts a micro-batch. Groups that reach across kinds come first.
  void start(const MicroBatchChoice& choice) {
    next_ = 0;
    if (cluster_.kinds.empty()) return;
    taken_.assign(static_cast<std::size_t>(cluster_.devices), false);
    free_from_.clear();
    for (int kind = 0; kind < std::ssize(cluster_.kinds); ++kind) {
      free_from_.push_back(first_rank_of_kind(cluster_, kind));
    }
    for (const GroupChoice& group : choice) {
      if (!is_across(group.place)) continue;
      const auto place = group_place(cluster_, group.degree, group.place);
      if (place && is_free(place->first_rank, group.degree)) take(place->first_rank, group.degree);
    }
  }

  int next(const GroupChoice& group) {
    if (is_shared_row(instance_, group.degree)) return 0;
    if (cluster_.kinds.empty()) {
      next_ += group.degree;
      return next_ - group.degree;
    }
    const auto place = group_place(cluster_, group.degree, group.place);
    if (!place) return -1;
    if (is_across(group.place)) return place->first_rank;
    const int end = first_rank_of_kind(cluster_, group.place + 1);
    int& from = free_from_[static_cast<std::size_t>(group.place)];
    while (from < end && taken_[static_cast<std::size_t>(from)]) ++from;
    const int begin = from - (from - place->first_rank) % group.degree;
    for (int first = begin; first + group.degree <= end; first += group.degree) {
      if (!is_free(first, group.degree)) continue;
      take(first, group.degree);
      return first;
    }
    return -1;
  }

 private:
  bool is_across(int place) const { return place >= static_cast<int>(cluster_.kinds.size()); }
  bool is_free(int first, int degree) const {
    const auto begin = taken_.begin() + first;
    return std::find(begin, begin + degree, true) == begin + degree;
  }
  void take(int first, int degree) { std::fill_n(taken_.begin() + first, degree, true); }

  const ScatterInstance& instance_;
  const Cluster& cluster_;
  int next_ = 0;
  std::vector<bool> taken_;
  std::vector<int> free_from_;  // by kind: the ranks before are taken
};

}  // namespace

ScatterPlan compose_plan(const ScatterInstance& instance, std::vector<MicroBatchChoice> choices) {
  ScatterPlan plan{.name = instance.name};
  plan.micro_batches.reserve(choices.size());
  std::vector<Padded> padded;
  Ranks ranks(instance);
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
    ranks.start(choice);
    for (GroupChoice& group : choice) {
      const int rank = ranks.next(group);
      batch.groups.push_back(compose_group(instance, std::move(group), rank, padded));
    }
    batch.makespan_ms = makespan_ms(instance, batch.groups);
    sum += batch.makespan_ms;
    longest = std::max(longest, batch.makespan_ms);
    plan.micro_batches.push_back(std::move(batch));
  }
  plan.objective_ms = step_ms(instance, sum, longest);
  if (instance.pipeline_stages > 1) {
    plan.simulated_1f1b_ms = simulate_1f1b(makespans_of(plan), instance.pipeline_stages);
  }
  return plan;
}

std::vector<Ms> makespans_of(const ScatterPlan& plan) {
  std::vector<Ms> makespans;
  makespans.reserve(plan.micro_batches.size());
  for (const ScatterMicroBatch& batch : plan.micro_batches) makespans.push_back(batch.makespan_ms);
  return makespans;
}

ScatterPlan in_pipeline_order(const ScatterInstance& instance, ScatterPlan plan) {
  if (instance.pipeline_stages == 1) return plan;
  const RowOrder order = order_rows(makespans_of(plan), instance.pipeline_stages);
  std::vector<ScatterMicroBatch> ordered;
  ordered.reserve(order.rows.size());
  for (const std::size_t row : order.rows) ordered.push_back(std::move(plan.micro_batches[row]));
  plan.micro_batches = std::move(ordered);
  plan.simulated_1f1b_ms = order.end;
  return plan;
}

}  // namespace stowage
