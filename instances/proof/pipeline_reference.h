// The end of a 1F1B schedule, for verifiers. It has code of its own: planners use the simulation of
// instances/pipeline/schedule.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "instances/units.h"

namespace stowage {

// Returns the end in ms of the 1F1B schedule of micro-batches that take these times in ms on every
// stage and enter in this order, by its recurrence. In round k every stage runs the forward pass of
// micro-batch k, the first stage first. Then stage s, of p, runs the backward pass of micro-batch
// k - (p - 1 - s), since that many micro-batches are under way behind it. The stage after s ended
// that backward pass one round earlier. A forward pass takes a third of the time.
inline Ms reference_end_of_1f1b(const std::vector<Ms>& times, int stages) {
  const auto p = static_cast<std::size_t>(std::max(stages, 1));
  const std::size_t rounds = times.empty() ? 0 : times.size() + p - 1;
  std::vector<long double> third;  // of each micro-batch's time
  for (const Ms time : times) third.push_back(time / 3.0L);
  std::vector<long double> free(p, 0);  // when the stage is free again
  std::vector<long double> back(p, 0);  // end of its last backward pass
  for (std::size_t k = 0; k < rounds; ++k) {
    long double ready = 0;  // when the stage before has ended the forward pass of micro-batch k
    for (std::size_t s = 0; k < times.size() && s < p; ++s) {
      free[s] = ready = std::max(free[s], ready) + third[k];
    }
    for (std::size_t s = 0; s < p; ++s) {
      const std::size_t behind = p - 1 - s;
      if (k < behind || k - behind >= times.size()) continue;
      const long double gradient = behind == 0 ? 0 : back[s + 1];
      free[s] = back[s] = std::max(free[s], gradient) + 2 * third[k - behind];
    }
  }
  return static_cast<Ms>(free[0]);
}

}  // namespace stowage
