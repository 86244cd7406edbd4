// The targets of the kernels on one core and on two, from the timings of one run.
//
//   std::cout << target_table(kernel_targets(timings, {"v2", "v3", "v4"}));
//
// Timings are named LEVEL/multiply-add, LEVEL/sgemm/SIZE, LEVEL/forward/DIM/LENGTH,
// LEVEL/backward/..., LEVEL/forward/THREADS threads, and triad. A pass is set against the fastest
// sgemm of its level; at level v3, whose targets are meant so, against multiply-adds in registers.
#pragma once

#include <string>
#include <vector>

#include "bench/kernels/target_rows.h"
#include "bench/kernels/timings.h"

namespace stowage::bench {

inline const std::vector<int> kSgemmSizes = {256, 768, 1024};
inline const std::vector<int> kLongLengths = {1024, 4096};
inline const std::vector<int> kShortLengths = {32, 64, 128, 256};  // of packs of 4096 tokens

// `levels` from the narrowest to the widest; the widest has most targets.
std::vector<TargetRow> kernel_targets(const Timings& timings,
                                      const std::vector<std::string>& levels);

}  // namespace stowage::bench
