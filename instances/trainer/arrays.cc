#include "instances/trainer/step.h"

namespace stowage {
namespace {

void append(const std::vector<std::int32_t>& list, TrainerLists& lists) {
  lists.values.insert(lists.values.end(), list.begin(), list.end());
  lists.offsets.push_back(std::ssize(lists.values));
}

// Returns the lengths behind prefix sums: the targets of a row whose tokens are all targets.
std::vector<std::int32_t> lengths_of(const std::vector<std::int32_t>& sums) {
  std::vector<std::int32_t> lengths;
  lengths.reserve(sums.size());
  for (std::size_t i = 1; i < sums.size(); ++i) lengths.push_back(sums[i] - sums[i - 1]);
  return lengths;
}

}  // namespace

TrainerArrays trainer_arrays(const TrainerStep& step) {
  TrainerArrays all;
  for (const TrainerBatch& batch : step.batches) {
    all.micro_batch.push_back(batch.micro_batch);
    all.group.push_back(batch.group);
    all.first_rank.push_back(batch.first_rank);
    all.degree.push_back(batch.degree);
    all.stages.push_back(batch.stages);
    all.max_seqlen.push_back(batch.max_seqlen());
    all.tokens.push_back(batch.cu_seqlens_padded.empty() ? 0 : batch.cu_seqlens_padded.back());
    all.loss_denominators.push_back(batch.loss_denominator());
    append(batch.sequences, all.sequences);
    append(batch.loss_tokens.empty() ? lengths_of(batch.cu_seqlens) : batch.loss_tokens,
           all.loss_tokens);
    append(batch.cu_seqlens, all.cu_seqlens);
    append(batch.cu_seqlens_padded, all.cu_seqlens_padded);
    all.offload.push_back(batch.offload);
  }
  all.schedule = trainer_schedule(step);
  return all;
}

}  // namespace stowage
