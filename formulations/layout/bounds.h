// Lower bounds on a layout's peak, and the peaks that a layout can have at all.
//
//   const LayoutTable table(instance);
//   for (const NamedBound& bound : layout_bounds(instance, table)) ...   // weakest first
//   ReachablePeaks peaks(table, incumbent);
//   bound = peaks.next(refuted + 1);     // nothing in between is the peak of a settled layout
//
// Proofs are in formulations/README.md under the bounds' names.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "instances/layout/instance.h"
#include "instances/layout/table.h"
#include "instances/proof.h"

namespace stowage {

// Names of the bounds that need no search: those of layout_bounds().
inline constexpr std::array<std::string_view, 4> kLayoutClosedForms = {"single", "load", "unit",
                                                                       "chain"};
// And of those that a search or a backend only says; no layout has a certificate.
inline constexpr std::array<std::string_view, 3> kLayoutSearched = {"search", "mip-cbc",
                                                                    "mip-glpk"};

// All closed-form bounds in bytes, each at least the one before:
//   single  the largest buffer, or the highest end of a pinned one [F1]
//   load    the most that any step needs, in whole blocks of the common alignment [F2]
//   unit    rounded up to the common unit of sizes, alignments and pinned ends [F3]
//   chain   rounded up to a sum of sizes that a stack of buffers can have [F4]
// `table` is that of the instance; if it is not stackable, sums are not exact, and there are only
// the first two. Clashing pins and a capacity below the bounds are what layout_infeasibility()
// tells.
std::vector<NamedBound> layout_bounds(const LayoutInstance& instance, const LayoutTable& table);

// Some optimal layout is settled: no buffer can be moved down alone. Its peak is then the height of
// a stack: a pinned end or 0, and sizes, each rounded up to the alignment but the last. With more
// than one alignment among the buffers, or too many sums to list, every multiple of the unit counts
// as reachable.
class ReachablePeaks {
 public:
  // Lists what is reachable up to `most` bytes. Takes time and memory for at most kMostWork word
  // operations, whatever the instance.
  ReachablePeaks(const LayoutTable& table, Bytes most);

  // No layout has a peak from `least` up to, but not including, this: the least reachable peak of
  // at least `least` bytes, or more than `most` if there is none up to that. `least` rounded up to
  // the unit if sums are not listed, or if that is above `most`.
  Bytes next(Bytes least) const;

  // Whether sums of sizes are listed, and not only multiples of the unit.
  bool listed() const { return !stacks_.empty(); }

  static constexpr std::int64_t kMostWork = std::int64_t{1} << 27;

 private:
  void list(const LayoutTable& table, const std::vector<int>& placed);
  void add(Bytes rounded, std::int64_t count);
  void shift(std::int64_t blocks);
  Bytes next_height(Bytes least) const;

  Bytes most_;
  Bytes unit_;
  Bytes alignment_ = 1;
  bool whole_ = true;  // all sizes are multiples of the alignment: the topmost one is no exception
  Bytes block_ = 1;    // of the list, a divisor of all rounded sizes
  std::vector<std::uint64_t> stacks_;  // bit k: some buffers can be stacked to k blocks
  std::vector<Bytes> tops_;            // distinct sizes of topmost buffers
  std::vector<Bytes> ends_;            // of pinned buffers, ascending
};

}  // namespace stowage
