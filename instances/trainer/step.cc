#include "instances/trainer/step.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "instances/json/document.h"
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

// The rows of a verified plan as batches: what the two families share.
class Composer {
 public:
  explicit Composer(const std::vector<Tokens>& lengths) : lengths_(lengths) {}

  void add(TrainerBatch batch, const std::vector<std::int64_t>& sequences,
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
    }
    slots_ += batch.ranks();
    step_.micro_batches = std::max(step_.micro_batches, batch.micro_batch + 1);
    step_.batches.push_back(std::move(batch));
  }

  template <class Instance>
  Result<TrainerStep> finish(const Instance& instance, std::string problem, int ranks) && {
    step_.problem = std::move(problem);
    step_.name = instance.name;
    step_.instance_hash = instance_hash(instance);
    step_.ranks = ranks;
    const std::int64_t slots = std::int64_t{step_.ranks} * step_.micro_batches;
    if (std::max(slots, slots_) > kMaxTrainerSlots) {
      errors_.push_back(too_large("", " ranks times micro-batches", kMaxTrainerSlots, slots));
    }
    if (!errors_.empty()) return std::move(errors_);
    std::ranges::sort(step_.batches, {}, [](const TrainerBatch& batch) {
      return std::pair(batch.micro_batch, batch.group);
    });
    return std::move(step_);
  }

 private:
  const std::vector<Tokens>& lengths_;
  TrainerStep step_;
  std::int64_t slots_ = 0;
  std::vector<InputError> errors_;
};

const Scheme& scheme_of(const AssignInstance& instance, const AssignReplica& replica) {
  return *std::ranges::find(instance.schemes, replica.scheme, &Scheme::name);
}

// The first rank of every replica: those of the largest tp first, otherwise in the plan's order.
std::vector<int> first_ranks(const AssignInstance& instance, const AssignPlan& plan) {
  std::vector<std::size_t> order(plan.replicas.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t replica) {
    return scheme_of(instance, plan.replicas[replica]).tp;
  });
  std::vector<int> first(plan.replicas.size());
  int next = 0;
  for (const std::size_t replica : order) {
    const Scheme& scheme = scheme_of(instance, plan.replicas[replica]);
    first[replica] = next;
    next += scheme.tp * scheme.pp;
  }
  return first;
}

}  // namespace

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

std::int64_t TrainerStep::loss_denominator() const {
  std::int64_t tokens = 0;
  for (const TrainerBatch& batch : batches) tokens += batch.loss_denominator();
  return tokens;
}

Result<TrainerStep> trainer_step(const ScatterInstance& instance, const ScatterPlan& plan) {
  Composer composer(instance.lengths);
  for (std::size_t m = 0; m < plan.micro_batches.size(); ++m) {
    const std::vector<ScatterGroup>& groups = plan.micro_batches[m].groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      composer.add({.micro_batch = static_cast<int>(m),
                    .group = static_cast<int>(g),
                    .first_rank = groups[g].first_rank,
                    .degree = groups[g].degree},
                   groups[g].sequences, groups[g].cu_seqlens);
    }
  }
  return std::move(composer).finish(instance, "scatter", instance.cluster.devices);
}

Result<TrainerStep> trainer_step(const AssignInstance& instance, const AssignPlan& plan) {
  if (instance.constraints.chunks) {
    return InputError{code::kChunkConstraint, "/constraints/chunks",
                      "must be absent for a trainer file, whose rows are whole sequences"};
  }
  Composer composer(instance.lengths);
  const std::vector<int> first = first_ranks(instance, plan);
  for (std::size_t r = 0; r < plan.replicas.size(); ++r) {
    const Scheme& scheme = scheme_of(instance, plan.replicas[r]);
    const std::vector<AssignRow>& rows = plan.replicas[r].rows;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      composer.add({.micro_batch = static_cast<int>(j),
                    .group = static_cast<int>(r),
                    .first_rank = first[r],
                    .degree = scheme.tp,
                    .stages = scheme.pp},
                   rows[j].sequences, rows[j].cu_seqlens);
    }
  }
  return std::move(composer).finish(instance, "assign", instance.devices);
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
