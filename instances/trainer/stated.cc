#include "instances/trainer/stated.h"

#include <algorithm>
#include <string>
#include <utility>

#include "instances/json/errors.h"

namespace stowage {
namespace {

// Appends an error for the first entry in which `have` differs from `want`.
template <class T>
void compare(const std::vector<T>& want, const std::vector<T>& have, const std::string& what,
             std::vector<InputError>& errors) {
  if (want == have) return;
  if (want.size() != have.size()) {
    errors.push_back({code::kTrainerEntry, what,
                      "must have " + std::to_string(want.size()) + " entries, has " +
                          std::to_string(have.size())});
    return;
  }
  const auto [w, h] = std::ranges::mismatch(want, have);
  errors.push_back(
      {code::kTrainerEntry, what + '/' + std::to_string(w - want.begin()),
       "must be " + std::to_string(*w) + " as the batches say, is " + std::to_string(*h)});
}

}  // namespace

TrainerStated stated_of(const TrainerStep& step) {
  TrainerStated stated{.loss_denominator = step.loss_denominator(),
                       .schedule = trainer_schedule(step)};
  for (const TrainerBatch& batch : step.batches) {
    stated.loss_denominators.push_back(batch.loss_denominator());
    stated.max_seqlens.push_back(batch.max_seqlen());
    const std::vector<std::int32_t> resets = batch.position_resets();
    stated.position_resets.insert(stated.position_resets.end(), resets.begin(), resets.end());
  }
  return stated;
}

std::vector<InputError> contradictions(const TrainerStep& step, const TrainerStated& stated) {
  const TrainerStated derived = stated_of(step);
  std::vector<InputError> errors;
  if (derived.loss_denominator != stated.loss_denominator) {
    errors.push_back({code::kTrainerEntry, "/loss_denominator",
                      "must be the targets of all batches, " +
                          std::to_string(derived.loss_denominator) + ", is " +
                          std::to_string(stated.loss_denominator)});
  }
  compare(derived.loss_denominators, stated.loss_denominators, "/batches/*/loss_denominator",
          errors);
  compare(derived.max_seqlens, stated.max_seqlens, "/batches/*/max_seqlen", errors);
  compare(derived.position_resets, stated.position_resets, "/batches/*/position_resets", errors);
  compare(derived.schedule, stated.schedule, "/schedule", errors);
  return errors;
}

}  // namespace stowage
