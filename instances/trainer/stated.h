// What a trainer file says beside the step itself: all of it follows from the step, and stands in
// the file so that a training loop need not compute it.
//
//   const TrainerStated stated = stated_of(step);          // to write
//   errors = contradictions(step, what_the_file_says);     // after reading
#pragma once

#include <cstdint>
#include <vector>

#include "instances/result.h"
#include "instances/trainer/step.h"

namespace stowage {

struct TrainerStated {
  std::int64_t loss_denominator = 0;            // of the step
  std::vector<std::int64_t> loss_denominators;  // of each batch
  std::vector<std::int32_t> max_seqlens;        // of each batch
  std::vector<std::int32_t> position_resets;    // of all batches, one behind the other
  std::vector<std::int32_t> schedule;           // as trainer_schedule()
};

// Requires a step without trainer_faults().
TrainerStated stated_of(const TrainerStep& step);

// The first difference of each kind, E603. Requires a step without trainer_faults().
std::vector<InputError> contradictions(const TrainerStep& step, const TrainerStated& stated);

}  // namespace stowage
