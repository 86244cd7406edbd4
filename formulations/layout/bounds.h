// Lower bounds on a layout's peak, and the peaks that are possible at all.
//
//   const LayoutTable table(instance);
//   for (const NamedBound& bound : layout_bounds(instance, table)) ...   // weakest first
//   ReachablePeaks peaks(table, incumbent);
//   bound = peaks.next(refuted + 1);     // no settled layout has a peak in between
//
// Proofs are in docs/theory/layout.md under the bounds' names.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "instances/layout/instance.h"
#include "instances/layout/planning_table.h"
#include "instances/proof.h"

namespace stowage {

// Names of the bounds that need no search: those of layout_bounds().
inline constexpr std::array<std::string_view, 4> kLayoutClosedForms = {"single", "load", "unit",
                                                                       "chain"};
// Names of the bounds that only a search or a backend proves. No layout bound has a certificate.
inline constexpr std::array<std::string_view, 4> kLayoutSearched = {"search", "mip-cbc", "mip-glpk",
                                                                    "mip-highs"};

// Returns all closed-form bounds in bytes, each at least the one before:
//   single  the largest buffer, or the highest end of a pinned one [F1]
//   load    the largest need of a step, in whole blocks of the common alignment [F2]
//   unit    rounded up to the common unit of sizes, alignments and pinned ends [F3]
//   chain   rounded up to a sum of sizes that a stack of buffers can have [F4]
// `table` is the table of the instance. If it is not stackable, sums are not exact, and only the
// first two bounds are returned. layout_infeasibility() reports clashing pins and a capacity below
// the bounds.
std::vector<NamedBound> layout_bounds(const LayoutInstance& instance, const LayoutTable& table);

// Some optimal layout is settled: no single buffer can be moved down. Its peak is the height of a
// stack: a pinned end or 0, plus sizes, each but the last rounded up to the alignment. If buffers
// have several alignments, or there are too many sums to list, every multiple of the unit counts as
// reachable.
class ReachablePeaks {
 public:
  // Lists the reachable peaks up to `most` bytes. Takes time and memory for at most kMaxWork word
  // operations.
  ReachablePeaks(const LayoutTable& table, Bytes most);

  // Returns the least reachable peak of at least `least` bytes, or more than `most` if none is
  // reachable up to `most`. No settled layout has a peak in between. If sums are not listed, or
  // `least` is above `most`, returns `least` rounded up to the unit.
  Bytes next(Bytes least) const;

  // Returns true if sums of sizes are listed, and not only multiples of the unit.
  bool listed() const { return !stacks_.empty(); }

  static constexpr std::int64_t kMaxWork = std::int64_t{1} << 27;

 private:
  void list(const LayoutTable& table, const std::vector<int>& placed);
  void add(Bytes rounded, std::int64_t count);
  void shift(std::int64_t blocks);
  Bytes next_height(Bytes least) const;

  Bytes most_;
  Bytes unit_;
  Bytes alignment_ = 1;
  // All sizes are multiples of the alignment, so the topmost buffer needs no exception.
  bool whole_ = true;
  Bytes block_ = 1;                    // bytes per bit of the list: a divisor of all rounded sizes
  std::vector<std::uint64_t> stacks_;  // bit k: some buffers stack up to k blocks
  std::vector<Bytes> tops_;            // distinct sizes of topmost buffers
  std::vector<Bytes> ends_;            // ends of pinned buffers, ascending
};

}  // namespace stowage
