// The makespan and the recomputation mode that a packing of a step requests for a micro-batch.
#pragma once

#include "instances/units.h"

namespace stowage {

struct BatchTarget {
  Ms makespan = 0;
  int mode = 0;  // index as of ScatterTable::mode()
};

}  // namespace stowage
