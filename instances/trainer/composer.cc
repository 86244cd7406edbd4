#include "instances/trainer/composer.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "instances/json/errors.h"

namespace stowage {
namespace {

constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

InputError too_large(std::string pointer, const std::string& what, std::int64_t most,
                     std::int64_t have) {
  return {code::kTrainerTooLarge, std::move(pointer),
          "must have at most " + std::to_string(most) + what + " for a trainer file, is " +
              std::to_string(have)};
}

}  // namespace

void TrainerComposer::add(TrainerBatch batch, const std::vector<std::int64_t>& sequences,
                          const std::vector<std::int64_t>& cu_padded) {
  if (cu_padded.back() > kMaxInt32) {
    errors_.push_back(too_large("sequence " + std::to_string(sequences.front()),
                                " tokens in its row", kMaxInt32, cu_padded.back()));
    return;
  }
  batch.sequences.assign(sequences.begin(), sequences.end());
  batch.cu_seqlens_padded.assign(cu_padded.begin(), cu_padded.end());
  batch.cu_seqlens = {0};
  for (const std::int64_t id : sequences) {
    const Tokens length = lengths_[static_cast<std::size_t>(id)];
    batch.cu_seqlens.push_back(batch.cu_seqlens.back() + static_cast<std::int32_t>(length));
    if (loss_tokens_.empty()) continue;
    batch.loss_tokens.push_back(
        static_cast<std::int32_t>(loss_tokens_[static_cast<std::size_t>(id)]));
  }
  slots_ += batch.ranks();
  micro_batches_ = std::max(micro_batches_, batch.micro_batch + 1);
  batches_.push_back(std::move(batch));
}

Result<TrainerStep> TrainerComposer::finish(TrainerStep head) && {
  const std::int64_t slots = std::int64_t{head.ranks} * micro_batches_;
  if (std::max(slots, slots_) > kMaxTrainerSlots) {
    errors_.push_back(too_large("", " ranks times micro-batches", kMaxTrainerSlots, slots));
  }
  if (!errors_.empty()) return std::move(errors_);
  std::ranges::sort(batches_, {}, [](const TrainerBatch& batch) {
    return std::pair(batch.micro_batch, batch.group);
  });
  head.micro_batches = micro_batches_;
  head.batches = std::move(batches_);
  return head;
}

}  // namespace stowage
