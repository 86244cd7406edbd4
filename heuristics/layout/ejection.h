// Lowering the peak of a layout by ejection: what lies above a target is put in again, by force.
//
// A buffer that fits nowhere below the target goes where it pushes out least, and what it pushed
// out is put in again in turn. What a buffer weighs when it is pushed out is the root of its area,
// times one more than how often it could not be put in: what is hard to place is left in peace.
// All buffers are looked at once, at the beginning; then work follows those that are alive together
// with the one that moves.
// Source: ejection with counters (Nagata and Braysy 2009, a powerful route minimization heuristic),
// there for routes; positions of least overlap are those of packing by guided local search
// (Egeblad, Nielsen, Odgaard 2007).
//
//   Ejection ejection(table, seed);
//   if (auto lower = ejection.fit_below(offsets, target, 1'000'000, budget)) ...
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "heuristics/layout/params.h"
#include "instances/budget.h"
#include "instances/layout/table.h"
#include "instances/random.h"

namespace stowage {

class Ejection {
 public:
  // `table` must outlive this. Requires table.stackable() and pins that do not clash.
  Ejection(const LayoutTable& table, std::uint64_t seed, const EjectionParams& params = {});

  // Offsets that end at or below the target, made from a layout. Nothing if so many visits of
  // buffers are not enough or the budget ends. Each buffer that is put in counts as a node.
  std::optional<std::vector<Bytes>> fit_below(const std::vector<Bytes>& offsets, Bytes target,
                                              std::int64_t visits, Budget& budget);

  std::int64_t visits() const { return visits_; }  // of buffers, so far

 private:
  // Buffers whose lifetimes have about the same length, by start.
  struct Class {
    int longest = 0;
    std::vector<int> first;
    std::vector<int> last;
    std::vector<int> buffer;
    std::vector<Bytes> offset;  // kOut: not placed
  };
  struct Place {
    int klass = 0;
    std::size_t index = 0;
  };
  struct Neighbour {
    Bytes offset = 0;
    Bytes end = 0;
    std::int64_t weight = 0;
    int buffer = 0;
  };

  void put(int b, Bytes offset);
  void list_neighbours(int b);
  std::optional<Bytes> free_offset(int b, Bytes target) const;
  std::optional<Bytes> forced_offset(int b, Bytes target);

  const LayoutTable& table_;
  const std::uint32_t any_share_;  // of kShares
  QuickRandom random_;
  std::vector<Class> classes_;
  std::vector<Place> place_;           // by buffer
  std::vector<std::int64_t> weight_;   // by buffer, before it fails
  std::vector<int> failed_;            // how often a buffer could not be put in
  std::vector<Neighbour> neighbours_;  // of the buffer that moves, by offset
  std::vector<std::pair<Bytes, std::int64_t>> ends_;
  std::vector<Bytes> candidates_;
  std::int64_t visits_ = 0;
};

}  // namespace stowage
