#include "instances/trainer/step.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace stowage {
std::int32_t TrainerBatch::max_seqlen() const {
  std::int64_t longest = 0;  // 64 bits, since the differences of wrong sums may exceed 32 bits
  for (std::size_t i = 1; i < cu_seqlens_padded.size(); ++i) {
    longest = std::max(longest, std::int64_t{cu_seqlens_padded[i]} - cu_seqlens_padded[i - 1]);
  }
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(longest, std::numeric_limits<std::int32_t>::max()));
}

std::vector<std::int32_t> TrainerBatch::position_resets() const {
  if (cu_seqlens_padded.empty()) return {};
  return {cu_seqlens_padded.begin(), cu_seqlens_padded.end() - 1};
}

std::int64_t TrainerBatch::loss_denominator() const {
  if (loss_tokens.empty()) return cu_seqlens.empty() ? 0 : cu_seqlens.back();
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
  if (std::ranges::any_of(batches, [](const TrainerBatch& batch) { return batch.offload > 0; })) {
    return 4;
  }
  if (recomputes) return 3;
  return counted ? 2 : 1;
}

std::vector<std::int32_t> trainer_schedule(const TrainerStep& step) {
  // More slots than a file may have: only trainer_faults() meets such steps.
  if (std::int64_t{step.ranks} * step.micro_batches > kMaxTrainerSlots) return {};
  const auto columns = static_cast<std::size_t>(std::max(step.micro_batches, 0));
  std::vector<std::int32_t> schedule(static_cast<std::size_t>(std::max(step.ranks, 0)) * columns,
                                     -1);
  for (std::size_t b = 0; b < step.batches.size(); ++b) {
    const TrainerBatch& batch = step.batches[b];
    if (batch.micro_batch < 0 || batch.micro_batch >= step.micro_batches) continue;
    const std::int64_t end =
        std::int64_t{batch.first_rank} + std::int64_t{batch.degree} * batch.stages;
    for (std::int64_t rank = std::max(batch.first_rank, 0);
         rank < std::min<std::int64_t>(end, step.ranks); ++rank) {
      schedule[static_cast<std::size_t>(rank) * columns +
               static_cast<std::size_t>(batch.micro_batch)] = static_cast<std::int32_t>(b);
    }
  }
  return schedule;
}

}  // namespace stowage
