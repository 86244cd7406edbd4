// Converts a step to this machine: shorter sequences and measured costs, with the same structure.
//
//   ScatterInstance here = scaled_instance(instance, 32, calibration.cost);
//
// Published costs belong to clusters of GPUs, so a plan that is good by these costs may be poor on
// the machine that runs and times it. The conversion divides every padded length and the tokens of
// a device by `scale`, rounds up, and uses measured times. The difficulty of the step remains: the
// spread of the lengths, the degrees that can hold each sequence, and the number of devices. A
// feasible step stays feasible.
#pragma once

#include <cstdint>

#include "instances/scatter/instance.h"

namespace stowage::kernels {

// Requires scale >= 1 and a cost with a bandwidth for every allowed degree above 1.
ScatterInstance scaled_instance(const ScatterInstance& instance, std::int64_t scale,
                                const ScatterCost& cost);

}  // namespace stowage::kernels
