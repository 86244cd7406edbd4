// This machine's measured costs, for `calibrate` and `compare --measure`.
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
#include "kernels/run/calibration.h"

namespace stowage {

inline constexpr int kMostRanks = 64;  // ranks are threads

// A block wide enough that products, not memory, take its time, with as many heads as all degrees
// divide, at least as many as it usually has: with fewer some ranks would idle, which no time model
// says. Error E001: a degree above kMostRanks, or degrees without a common multiple up
// to 512.
Result<kernels::BlockShape> block_for(const std::vector<int>& degrees);

// kernels::calibrate() with its progress shown. Only a Calibration that is complete or was stopped
// by the budget is returned. Errors: E001 for an instruction set that this machine does not have,
// E003 for ranks that failed.
Result<kernels::Calibration> calibrate_here(Console& console,
                                            const kernels::CalibrationOptions& options,
                                            Budget& budget);

// The answer where it failed: an internal error, or one of the environment.
ExitCode refuse_calibration(Console& console, const InputError& error);

// The smallest scale at which the block's work for all sequences is at most `flop`.
std::int64_t scale_for(const ScatterInstance& instance, const kernels::BlockShape& block,
                       double flop);

}  // namespace stowage
