// Measures the costs of this machine, for `calibrate` and `compare --measure`.
//
//   Result<kernels::BlockShape> block = block_for(degrees);
//   const kernels::Calibration measured = calibrate_here(console, {.block = *block, ...}, budget);
#pragma once

#include <vector>

#include "cli/terminal/console.h"
#include "instances/budget.h"
#include "instances/result.h"
#include "instances/scatter/instance.h"
#include "kernels/block/block_weights.h"
#include "kernels/run/timing/calibration.h"

namespace stowage {

inline constexpr int kMaxRanks = 64;  // limit on ranks, which are threads

// Returns a block wide enough that matrix products, not memory, take its time. All degrees divide
// its number of heads, which is at least the default. Otherwise some ranks would idle, which no
// time model describes. Error E001: a degree above kMaxRanks, or degrees without a common multiple
// up to 512. More than 16 heads are narrower, in a narrower block.
Result<kernels::BlockShape> block_for(const std::vector<int>& degrees);

// Runs kernels::calibrate() and shows its progress. The process does not return the memory that it
// frees to the system from then on. The returned Calibration is complete or was stopped by the
// budget. Errors: E001 for an instruction set that this machine lacks, E003 for ranks that failed.
Result<kernels::Calibration> calibrate_here(Console& console,
                                            const kernels::CalibrationOptions& options,
                                            Budget& budget);

// Returns the exit code of a failed calibration: an internal error or an error of the environment.
ExitCode refuse_calibration(Console& console, const InputError& error);

// Returns the smallest scale at which the block's work for all sequences is at most `flop`.
std::int64_t scale_for(const ScatterInstance& instance, const kernels::BlockShape& block,
                       double flop);

}  // namespace stowage
