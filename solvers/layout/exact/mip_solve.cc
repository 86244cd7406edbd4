#include "solvers/layout/exact/mip_solve.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "formulations/layout/bounds.h"
#include "formulations/layout/mip.h"
#include "solvers/milp/recheck.h"

namespace stowage {
namespace {

Bytes peak_of(const LayoutTable& table, const std::vector<Bytes>& offsets) {
  Bytes peak = 0;
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    peak = std::max(peak, offsets[b] + table.size(static_cast<int>(b)));
  }
  return peak;
}

// Returns the proven lower bound on the peak in bytes. A backend may violate every row of a stack
// by the tolerance, in units of the model. A stack has at most as many rows as there are buffers,
// plus D1.
Bytes certain(const LayoutMip& mip, const LayoutTable& table, double bound, Bytes most) {
  if (!(bound > 0)) return 0;
  const auto unit = static_cast<double>(mip.unit);
  const double off =
      kFeasibilityTolerance * (table.buffers() + 1) * static_cast<double>(most) / unit;
  const double least = std::ceil(bound / unit - off);
  return least <= 0 ? 0 : static_cast<Bytes>(least) * mip.unit;
}

}  // namespace

LayoutMipResult solve_layout_mip(const LayoutTable& table, const LayoutMipSolve& options,
                                 const LayoutStart& start, Budget& budget) {
  LayoutMipResult result;
  result.bound = start.bound;
  if (start.offsets) {
    result.offsets = *start.offsets;
    result.peak = peak_of(table, result.offsets);
    result.status = result.peak <= result.bound ? MilpStatus::optimal : MilpStatus::feasible;
    if (result.status == MilpStatus::optimal) return result;
  }
  if (!table.stackable() || table.clash()) {
    result.detail = "sizes beyond the exact range, or clashing pins";
    return result;
  }
  if (layout_mip_pairs(table) > options.pairs) {
    result.detail = "too many buffers live together for the MIP";
    return result;
  }
  Bytes most = start.offsets ? result.peak : table.stack();
  if (start.capacity) most = std::min(most, *start.capacity);
  const LayoutMip mip = build_layout_mip(
      table, {.strengthened = options.strengthened, .most = most, .least = start.bound});
  if (mip.empty) {
    result.status = MilpStatus::infeasible;
    return result;
  }
  MilpParams params{.gap = options.gap, .seed = options.seed};
  if (start.offsets) params.start = encode(mip, table, *start.offsets);
  const MilpResult solved = solve_milp(options.backend, mip.model, params, budget);
  result.nodes = solved.nodes;
  result.detail = solved.detail;
  if (solved.status == MilpStatus::error) {
    if (!start.offsets) result.status = solved.status;
    return result;
  }
  if (has_point(solved.status)) {
    std::vector<Bytes> offsets = decode(mip, table, solved.values);
    const Bytes peak = peak_of(table, offsets);
    const bool fits = !start.capacity || peak <= *start.capacity;
    if (fits && (result.offsets.empty() || peak < result.peak)) {
      result.offsets = std::move(offsets);
      result.peak = peak;
    }
  }
  if (std::isfinite(solved.bound)) {
    const Bytes proven =
        certain(mip, table, solved.bound, options.strengthened ? most : table.stack());
    const Bytes bound = ReachablePeaks(table, most).next(std::max(result.bound, proven));
    if (!result.offsets.empty() && bound > result.peak) {
      result.detail = "the backend's bound lies above a layout";
      result.status = MilpStatus::error;
      return result;
    }
    result.bound = bound;
  }
  if (!result.offsets.empty() || table.buffers() == 0) {
    result.status = result.bound == result.peak ? MilpStatus::optimal : MilpStatus::feasible;
  } else {
    result.status =
        solved.status == MilpStatus::infeasible ? MilpStatus::infeasible : MilpStatus::unknown;
  }
  return result;
}

}  // namespace stowage
