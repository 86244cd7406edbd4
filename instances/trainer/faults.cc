// Finds the faults of a trainer step. It relies on nothing: a step may come from any bytes whose
// sizes agree.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/json/text.h"
#include "instances/numeric/numbers.h"
#include "instances/trainer/step.h"

namespace stowage {
namespace {

class Faults {
 public:
  explicit Faults(const TrainerStep& step)
      : step_(step),
        counted_(std::ranges::any_of(
            step.batches, [](const TrainerBatch& batch) { return !batch.loss_tokens.empty(); })),
        recomputes_(std::ranges::any_of(
            step.batches, [](const TrainerBatch& batch) { return !batch.recomputation.empty(); })) {
  }

  std::vector<InputError> find() && {
    if (step_.problem != "scatter" && step_.problem != "assign") {
      add("/problem", "must be \"scatter\" or \"assign\"");
    }
    check_utf8(step_.name, "/name", errors_);
    check_utf8(step_.instance_hash, "/instance_hash", errors_);
    if (step_.ranks < 1 || step_.ranks > kMaxDevices) add_range("/ranks", 1, kMaxDevices);
    if (step_.micro_batches < 0) add_range("/micro_batches", 0, kMaxTrainerSlots);
    if (std::int64_t{step_.ranks} * step_.micro_batches > kMaxTrainerSlots) {
      errors_.add(code::kTrainerTooLarge, "/micro_batches",
                  "must be at most " + std::to_string(kMaxTrainerSlots / step_.ranks) +
                      " with so many ranks, is " + std::to_string(step_.micro_batches));
    }
    if (!errors_.empty()) return std::move(errors_).take();
    int last = -1;
    for (index_ = 0; index_ < step_.batches.size(); ++index_) {
      const TrainerBatch& batch = step_.batches[index_];
      check_ranks(batch);
      check_row(batch);
      check_recomputation(batch);
      check_offload(batch);
      last = std::max(last, batch.micro_batch);
    }
    if (errors_.empty() && last + 1 != step_.micro_batches) {
      add("/micro_batches", "must be one more than the last batch's, " + std::to_string(last + 1) +
                                ", is " + std::to_string(step_.micro_batches));
    }
    if (errors_.empty()) check_overlap();
    if (errors_.empty()) check_coverage();
    if (errors_.empty()) return {};
    return std::move(errors_).take();
  }

 private:
  static std::string pointer_of(std::size_t index, const char* key) {
    return "/batches/" + std::to_string(index) + key;
  }

  void add(std::string pointer, std::string message) {
    errors_.add(code::kTrainerEntry, std::move(pointer), std::move(message));
  }
  void add(const char* key, const char* message, std::int64_t have) {
    add(pointer_of(index_, key), std::string(message) + ", is " + std::to_string(have));
  }
  void add_range(std::string pointer, std::int64_t least, std::int64_t most) {
    add(std::move(pointer),
        "must lie between " + std::to_string(least) + " and " + std::to_string(most));
  }

  void check_ranks(const TrainerBatch& batch) {
    if (batch.micro_batch < 0 || batch.micro_batch >= step_.micro_batches) {
      return add("/micro_batch", "must be one of the step's", batch.micro_batch);
    }
    if (index_ > 0) {
      const TrainerBatch& before = step_.batches[index_ - 1];
      if (std::pair(before.micro_batch, before.group) >= std::pair(batch.micro_batch, batch.group))
        return add("/group", "must follow the batch before it, by micro-batch and group",
                   batch.group);
    }
    if (batch.group < 0 || batch.group >= step_.ranks) {
      return add("/group", "must be below the number of ranks", batch.group);
    }
    if (batch.degree < 1 || batch.degree > step_.ranks) {
      return add("/degree", "must be one to the number of ranks", batch.degree);
    }
    if (batch.stages < 1 || batch.stages > kMaxStages) {
      return add("/stages", "must be 1 to 1024", batch.stages);
    }
    if (batch.first_rank < 0 ||
        std::int64_t{batch.first_rank} + std::int64_t{batch.degree} * batch.stages > step_.ranks) {
      add("/first_rank", "must be, with all ranks of the batch, a rank of the step",
          batch.first_rank);
    }
  }

  void check_row(const TrainerBatch& batch) {
    const std::size_t count = batch.sequences.size();
    if (count == 0) return add(pointer_of(index_, "/sequences"), "must not be empty");
    if (!check_sums(batch.cu_seqlens, "/cu_seqlens", count)) return;
    if (!check_sums(batch.cu_seqlens_padded, "/cu_seqlens_padded", count)) return;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t length = batch.cu_seqlens[i + 1] - batch.cu_seqlens[i];
      const std::int32_t room = batch.cu_seqlens_padded[i + 1] - batch.cu_seqlens_padded[i];
      if (length > room) return add("/cu_seqlens_padded", "must have room for each length", room);
    }
    check_targets(batch);
  }

  void check_targets(const TrainerBatch& batch) {
    const std::vector<std::int32_t>& targets = batch.loss_tokens;
    if (targets.empty() && !counted_) return;
    if (targets.size() != batch.sequences.size()) {
      return add("/loss_tokens", "must have an entry per sequence, in all batches or in none",
                 static_cast<std::int64_t>(targets.size()));
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] >= 0 && targets[i] <= batch.cu_seqlens[i + 1] - batch.cu_seqlens[i]) continue;
      return add("/loss_tokens", "must be from 0 to the length of the sequence", targets[i]);
    }
  }

  void check_recomputation(const TrainerBatch& batch) {
    check_utf8(batch.recomputation, pointer_of(index_, "/recomputation"), errors_);
    if (recomputes_ && batch.recomputation.empty()) {
      return add(pointer_of(index_, "/recomputation"), "must be given, in all batches or in none");
    }
    if (index_ == 0) return;
    const TrainerBatch& before = step_.batches[index_ - 1];
    if (before.micro_batch == batch.micro_batch && before.recomputation != batch.recomputation) {
      add(pointer_of(index_, "/recomputation"), "must be that of the whole micro-batch, " +
                                                    in_quotes(before.recomputation) + ", is " +
                                                    in_quotes(batch.recomputation));
    }
  }

  void check_offload(const TrainerBatch& batch) {
    // A negative zero would come back from JSON as another number.
    if (batch.offload >= 0 && batch.offload <= 1 && !std::signbit(batch.offload)) return;
    add(pointer_of(index_, "/offload"), "must be from 0 to 1, is " + shortest(batch.offload));
  }

  // Checks prefix sums. Lengths are at least 1, so the sums grow with every entry.
  bool check_sums(const std::vector<std::int32_t>& sums, const char* key, std::size_t count) {
    if (sums.size() != count + 1) {
      add(key, "must have one entry more than sequences", static_cast<std::int64_t>(sums.size()));
      return false;
    }
    const bool grows = std::ranges::adjacent_find(sums, std::ranges::greater_equal()) == sums.end();
    if (sums.front() == 0 && grows) return true;
    add(pointer_of(index_, key), "must start with 0 and grow with every entry");
    return false;
  }

  // Checks that no two batches of one micro-batch share a rank.
  void check_overlap() {
    std::vector<int> taken(static_cast<std::size_t>(step_.ranks), -1);  // index of the micro-batch
    for (index_ = 0; index_ < step_.batches.size(); ++index_) {
      const TrainerBatch& batch = step_.batches[index_];
      for (int rank = batch.first_rank; rank < batch.first_rank + batch.ranks(); ++rank) {
        int& by = taken[static_cast<std::size_t>(rank)];
        if (by == batch.micro_batch) {
          return add("/first_rank", "must not share a rank with another batch of the micro-batch",
                     rank);
        }
        by = batch.micro_batch;
      }
    }
  }

  // Checks that the ids of all batches are 0 to their number - 1, each once.
  void check_coverage() {
    std::size_t count = 0;
    for (const TrainerBatch& batch : step_.batches) count += batch.sequences.size();
    std::vector<bool> seen(count, false);
    for (index_ = 0; index_ < step_.batches.size(); ++index_) {
      for (const std::int32_t id : step_.batches[index_].sequences) {
        const bool known = id >= 0 && static_cast<std::size_t>(id) < count;
        if (!known || seen[static_cast<std::size_t>(id)]) {
          add("/sequences", known ? "must hold each id once" : "must be ids below their number",
              id);
        } else {
          seen[static_cast<std::size_t>(id)] = true;
        }
      }
    }
  }

  const TrainerStep& step_;
  const bool counted_;     // whether a batch has targets
  const bool recomputes_;  // whether a batch states a recomputation choice
  std::size_t index_ = 0;  // of the batch that is checked
  ErrorList errors_;
};

}  // namespace

std::vector<InputError> trainer_faults(const TrainerStep& step) { return Faults(step).find(); }

}  // namespace stowage
