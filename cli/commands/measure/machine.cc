#include "cli/commands/measure/machine.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/status_line.h"
#include "instances/numeric/numbers.h"
#include "kernels/attention/simd/isa.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace stowage {
namespace {

// Makes the allocator keep what is freed. Each run allocates the gradients of all ranks anew, and
// the pages that the system clears for them took 40 % of the CPU time of a calibration of 64 ranks.
void keep_freed_pages() {
#if defined(__GLIBC__)
  constexpr int kLargestThreshold = 32 << 20;  // of M_MMAP_THRESHOLD, by glibc's manual
  mallopt(M_MMAP_THRESHOLD, kLargestThreshold);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

}  // namespace

Result<kernels::BlockShape> block_for(const std::vector<int>& degrees) {
  constexpr int kMaxHeads = 512;
  constexpr int kFewHeads = 16;
  constexpr int kQueriesPerKey = 4;
  kernels::BlockShape block{.hidden = 256, .head_dim = 32, .ffn = 512};
  int heads = 1;
  for (const int degree : degrees) {
    if (degree > kMaxRanks) {
      return InputError{
          kUsage, "degree " + std::to_string(degree),
          "cannot be measured: ranks are threads, at most " + std::to_string(kMaxRanks)};
    }
    heads = std::lcm(heads, degree);
    if (heads > kMaxHeads) {
      return InputError{kUsage, "degrees",
                        "cannot be measured: they need a common multiple of heads of at most " +
                            std::to_string(kMaxHeads)};
    }
  }
  const int usual = block.heads;
  block.heads = heads * ((usual + heads - 1) / heads);
  // Many heads are narrow. Otherwise weights and their gradients, which every rank has, would take
  // most of the time of the few tokens that each rank computes.
  if (block.heads > kFewHeads) block = {.heads = block.heads};
  block.kv_heads = block.heads % kQueriesPerKey == 0 ? block.heads / kQueriesPerKey : block.heads;
  return block;
}

Result<kernels::Calibration> calibrate_here(Console& console,
                                            const kernels::CalibrationOptions& options,
                                            Budget& budget) {
  if (std::string problem = kernels::isa_problem(); !problem.empty()) {
    return InputError{kUsage, "STOWAGE_ISA", std::move(problem)};
  }
  keep_freed_pages();
  StatusLine status(console);
  kernels::Calibration measured = kernels::calibrate(
      options,
      [&status](std::int64_t done, std::int64_t all) {
        status.tell("pack      " + grouped(done) + " of " + grouped(all));
      },
      &budget);
  if (!measured.problem.empty()) return InputError{kInternal, "calibration", measured.problem};
  return measured;
}

ExitCode refuse_calibration(Console& console, const InputError& error) {
  return console.refuse(error, error.code == kInternal ? ExitCode::internal : ExitCode::bad_input);
}

std::int64_t scale_for(const ScatterInstance& instance, const kernels::BlockShape& block,
                       double flop) {
  const std::vector<Tokens> padded = padded_lengths(instance);
  const auto work = [&](std::int64_t scale) {
    double sum = 0;
    for (const Tokens length : padded) {
      const Tokens scaled = (length + scale - 1) / scale;
      sum += kernels::block_flop(block, static_cast<double>(scaled));
    }
    return sum;
  };
  std::int64_t low = 1;
  std::int64_t high = 1;  // the largest scale leaves one token per sequence
  for (const Tokens length : padded) high = std::max(high, length);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (work(middle) <= flop) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace stowage
