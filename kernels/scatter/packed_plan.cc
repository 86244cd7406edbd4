#include "kernels/scatter/packed_plan.h"

#include <cstddef>
#include <string>
#include <vector>

#include "instances/pipeline/schedule.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/cost/mixed.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {

namespace {

// Returns the batch without the padding that depends on its form: the executor packs sequences of
// the lengths that all groups share. A plan that states other lengths still does.
void take_padding_away(const ScatterInstance& instance, GroupForm form,
                       kernels::PackedBatch& batch) {
  const auto known = static_cast<std::int64_t>(instance.lengths.size());
  if (batch.cu_seqlens.size() != batch.sequences.size() + 1) return;
  Tokens shared = 0;  // of the sequences so far
  Tokens own = 0;
  for (std::size_t i = 0; i < batch.sequences.size(); ++i) {
    const std::int64_t id = batch.sequences[i];
    if (id < 0 || id >= known) return;
    const Tokens length = instance.lengths[static_cast<std::size_t>(id)];
    shared += padded_length(instance, length);
    own += padded_length(instance, length, form);
    if (i + 1 == batch.sequences.size()) own = round_up(own, row_multiple(instance, form));
    batch.cu_seqlens[i + 1] -= own - shared;
  }
  batch.tokens -= own - shared;
}

// Returns the offload of a group, nothing if it has none or if the cost model does not cover it.
std::optional<kernels::PlannedOffload> offload_of(const ScatterInstance& instance, GroupForm form,
                                                  const ScatterGroup& group) {
  if (!instance.model.offload || !(group.offload > 0 && group.offload <= 1)) return std::nullopt;
  const auto known = [&](std::int64_t id) { return id >= 0 && id < std::ssize(instance.lengths); };
  if (!std::ranges::all_of(group.sequences, known)) return std::nullopt;
  const Ms work = row_without_copies_ms(instance, group.sequences, form);
  if (!(work > 0)) return std::nullopt;
  const ActivationOffload& link = *instance.model.offload;
  const Mib mib =
      group.offload * offload_mib(instance, form) * static_cast<double>(group.tokens) / form.degree;
  return kernels::PlannedOffload{.share = group.offload,
                                 .out_parts = mib / link.out_mib_per_ms / work,
                                 .in_parts = mib / link.in_mib_per_ms / work,
                                 .stall_ms = offload_stall_ms(link, work, mib)};
}

}  // namespace

kernels::PackedPlan packed_plan(const ScatterInstance& instance, const ScatterPlan& plan) {
  kernels::PackedPlan packed{.part_word = "micro-batch",
                             .batch_word = "group",
                             .lengths = instance.lengths,
                             .pad_multiple = common_multiple(instance),
                             .pipeline_stages = instance.pipeline_stages,
                             .window = instance.cost.window.tokens,
                             .window_share = instance.cost.window.share};
  if (instance.pipeline_stages > 1) {
    packed.notes.push_back("one of " + std::to_string(instance.pipeline_stages) +
                           " stages is executed; the others are taken to last as long");
    packed.simulated_ms = simulate_1f1b(makespans_of(plan), instance.pipeline_stages);
  }
  int next = 0;  // part
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    const auto lists = groups_at_once(instance, batch.groups);
    if (lists.size() > 1 && packed.notes.empty()) {
      packed.notes.emplace_back(
          "a mixed micro-batch is executed as two: the shared row, then the own rows; no exchange "
          "is hidden, here and in the predicted time");
    }
    for (const std::vector<std::size_t>& together : lists) {
      for (std::size_t k = 0; k < together.size(); ++k) {
        const ScatterGroup& group = batch.groups[together[k]];
        packed.batches.push_back({.part = next,
                                  .index = static_cast<int>(k),
                                  .degree = group.degree,
                                  .predicted_ms = group.time_ms,
                                  .tokens = group.tokens,
                                  .sequences = group.sequences,
                                  .cu_seqlens = group.cu_seqlens});
        const auto form = form_of(instance, batch, group);
        if (form) packed.batches.back().offload = offload_of(instance, *form, group);
        if (instance.padding && form) take_padding_away(instance, *form, packed.batches.back());
      }
      ++next;
    }
  }
  return packed;
}

}  // namespace stowage
