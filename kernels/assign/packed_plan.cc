#include "kernels/assign/packed_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "instances/assign/plan_builder.h"

namespace stowage {
namespace {

// Returns the factor of a row's mean loss. A trainer multiplies the row's mean loss by
// row.loss_tokens / plan.loss_tokens, while the step's mean weights it by the row's share of all
// target tokens. The factor is exactly 1 where both weights agree.
double loss_scale(const AssignInstance& instance, double all, const AssignPlan& plan,
                  const std::vector<std::int64_t>& sequences, Tokens loss_tokens) {
  double own = 0;
  for (const std::int64_t id : sequences) {
    if (id < 0 || id >= static_cast<std::int64_t>(instance.lengths.size())) return 1;
    own += static_cast<double>(targets_of(instance, id));
  }
  const auto stated = static_cast<double>(loss_tokens);
  const auto stated_all = static_cast<double>(plan.loss_tokens);
  if (!(own > 0) || (stated == own && stated_all == all)) return 1;
  return stated / own * (all / stated_all);
}

// Returns the number of rows from `first` on that are consecutive parts of one sequence; 1 if row
// `first` is not a part of a cut sequence.
std::size_t parts_from(const std::vector<AssignRow>& rows, std::size_t first) {
  std::size_t last = first + 1;
  while (rows[first].part && last < rows.size() && rows[last].part &&
         rows[last].sequences == rows[first].sequences &&
         rows[last].part->begin == rows[last - 1].part->end) {
    ++last;
  }
  return last - first;
}

// Turns the batch of the first row into the batch of `count` rows, which are the parts of one
// sequence.
void join_parts(const AssignRow* rows, std::size_t count, kernels::PackedBatch& batch) {
  batch.first_token = rows[0].part->begin;
  Ms longest = rows[0].time_ms;
  batch.cuts.push_back(rows[0].part->end);
  for (std::size_t k = 1; k < count; ++k) {
    batch.predicted_ms += rows[k].time_ms;
    batch.tokens += rows[k].tokens;
    batch.cuts.push_back(rows[k].part->end);
    longest = std::max(longest, rows[k].time_ms);
    if (batch.cu_seqlens.size() == 2 && rows[k].cu_seqlens.size() == 2) {
      batch.cu_seqlens[1] += rows[k].cu_seqlens[1] - rows[k].cu_seqlens[0];
    }
  }
  if (batch.predicted_ms > 0) batch.longest_share = longest / batch.predicted_ms;
}

}  // namespace

kernels::PackedPlan packed_plan(const AssignInstance& instance, const AssignPlan& plan) {
  kernels::PackedPlan packed{.part_word = "replica",
                             .batch_word = "row",
                             .lengths = instance.lengths,
                             .pad_multiple = instance.pad_multiple};
  double all = 0;
  for (std::size_t id = 0; id < instance.lengths.size(); ++id) {
    all += static_cast<double>(targets_of(instance, static_cast<std::int64_t>(id)));
  }
  std::int64_t cut = 0;  // sequences
  Ms simulated = 0;
  for (std::size_t r = 0; r < plan.replicas.size(); ++r) {
    const AssignReplica& replica = plan.replicas[r];
    const auto scheme =
        std::find_if(instance.schemes.begin(), instance.schemes.end(),
                     [&](const Scheme& each) { return each.name == replica.scheme; });
    const bool known = scheme != instance.schemes.end();
    packed.stages.push_back(known ? scheme->pp : 1);
    if (known) simulated = std::max(simulated, simulated_ms(instance, *scheme, replica.rows));
    if (packed.stages.back() > 1 && !replica.rows.empty()) {
      packed.notes.push_back("replica " + std::to_string(r) + ": one of " +
                             std::to_string(packed.stages.back()) + " stages was executed");
    }
    for (std::size_t j = 0; j < replica.rows.size();) {
      const AssignRow& row = replica.rows[j];
      const std::size_t count = parts_from(replica.rows, j);
      Tokens loss_tokens = 0;
      for (std::size_t k = j; k < j + count; ++k) loss_tokens += replica.rows[k].loss_tokens;
      packed.batches.push_back(
          {.part = static_cast<int>(r),
           .index = static_cast<int>(j),
           .degree = known ? scheme->tp : 0,
           .predicted_ms = row.time_ms,
           .tokens = row.tokens,
           .loss_scale = loss_scale(instance, all, plan, row.sequences, loss_tokens),
           .sequences = row.sequences,
           .cu_seqlens = row.cu_seqlens});
      if (row.part) {
        ++cut;
        join_parts(&row, count, packed.batches.back());
        if (instance.constraints.chunks) {
          packed.batches.back().retained = instance.constraints.chunks->retained;
        }
      }
      j += count;
    }
  }
  if (std::ranges::any_of(packed.stages, [](int stages) { return stages > 1; })) {
    packed.simulated_ms = simulated;
  }
  if (cut > 0) {
    packed.notes.push_back("the parts of each of " + std::to_string(cut) +
                           " cut sequences were executed as one batch, chunk by chunk");
  }
  return packed;
}

}  // namespace stowage
