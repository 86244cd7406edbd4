// What a packing of a step aims at for one of its micro-batches.
#pragma once

#include "instances/units.h"

namespace stowage {

// The requested makespan and recomputation mode of a micro-batch.
struct BatchTarget {
  Ms makespan = 0;
  int mode = 0;  // index as of ScatterTable::mode()
};

}  // namespace stowage
