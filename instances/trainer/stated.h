// The derived values of a trainer file. All of them follow from the step. They stand in the file so
// that a training loop need not compute them.
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
  std::vector<std::int32_t> position_resets;    // of all batches, one behind another
  std::vector<std::int32_t> schedule;           // as trainer_schedule()
};

// Returns the derived values. Requires a step without trainer_faults().
TrainerStated stated_of(const TrainerStep& step);

// Returns an E603 for the first difference of each kind. Requires a step without trainer_faults().
std::vector<InputError> contradictions(const TrainerStep& step, const TrainerStated& stated);

}  // namespace stowage
