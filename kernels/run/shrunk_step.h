// A step as it would be on this machine: shorter sequences, measured costs, the same shape.
//
//   ScatterInstance here = shrunk_step(instance, 32, calibration.cost);
//
// Published costs belong to clusters of GPUs, so a plan that is good by them need not be good where
// it can be run and timed. Here every length, padded, is divided by `scale` and rounded up, a
// device holds its tokens divided by `scale` and rounded up, and times are those that were
// measured. What made the step hard is left: the spread of the lengths, which degrees hold which
// sequences, the number of devices. A step that has a plan still has one.
#pragma once

#include <cstdint>

#include "instances/scatter/instance.h"

namespace stowage::kernels {

// Requires scale >= 1 and a cost with a bandwidth for every allowed degree above 1.
ScatterInstance shrunk_step(const ScatterInstance& instance, std::int64_t scale,
                            const ScatterCost& cost);

}  // namespace stowage::kernels
