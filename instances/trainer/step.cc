#include "instances/trainer/step.h"

#include <algorithm>
#include <numeric>

namespace stowage {
std::int32_t TrainerBatch::max_seqlen() const {
  std::int32_t longest = 0;
  for (std::size_t i = 1; i < cu_seqlens_padded.size(); ++i) {
    longest = std::max(longest, cu_seqlens_padded[i] - cu_seqlens_padded[i - 1]);
  }
  return longest;
}

std::vector<std::int32_t> TrainerBatch::position_resets() const {
  return {cu_seqlens_padded.begin(), cu_seqlens_padded.end() - 1};
}

std::int64_t TrainerBatch::loss_denominator() const {
  if (loss_tokens.empty()) return cu_seqlens.back();
  return std::accumulate(loss_tokens.begin(), loss_tokens.end(), std::int64_t{0});
}

std::int64_t TrainerStep::loss_denominator() const {
  std::int64_t targets = 0;
  for (const TrainerBatch& batch : batches) targets += batch.loss_denominator();
  return targets;
}

int TrainerStep::version() const {
  const bool counted = std::ranges::any_of(
      batches, [](const TrainerBatch& batch) { return !batch.loss_tokens.empty(); });
  const bool recomputes = std::ranges::any_of(
      batches, [](const TrainerBatch& batch) { return !batch.recomputation.empty(); });
  if (recomputes) return 3;
  return counted ? 2 : 1;
}

std::vector<std::int32_t> trainer_schedule(const TrainerStep& step) {
  const auto columns = static_cast<std::size_t>(step.micro_batches);
  std::vector<std::int32_t> schedule(static_cast<std::size_t>(step.ranks) * columns, -1);
  for (std::size_t b = 0; b < step.batches.size(); ++b) {
    const TrainerBatch& batch = step.batches[b];
    for (int rank = batch.first_rank; rank < batch.first_rank + batch.ranks(); ++rank) {
      schedule[static_cast<std::size_t>(rank) * columns +
               static_cast<std::size_t>(batch.micro_batch)] = static_cast<std::int32_t>(b);
    }
  }
  return schedule;
}

}  // namespace stowage
