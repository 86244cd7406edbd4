// Lowers the peak of a layout by ejection: buffers above a target are reinserted below the target
// by force.
//
// If a buffer fits nowhere below the target, it goes to the offset where it overlaps the least
// weight. The overlapped buffers are ejected and reinserted in turn. The weight of a buffer is the
// square root of its area, times one more than the number of its failed insertions. Buffers that
// are hard to place are thus ejected rarely. All buffers are visited once at the beginning; after
// that the work is proportional to the buffers alive together with the moved buffer. Source:
// ejection with counters (Nagata and Braysy 2009, a powerful route minimization heuristic), there
// for routes; positions of least overlap as in packing by guided local search (Egeblad, Nielsen,
// Odgaard 2007).
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
#include "instances/layout/planning_table.h"
#include "instances/numeric/random.h"

namespace stowage {

class Ejection {
 public:
  // `table` must outlive this object. Requires table.stackable() and pins that do not clash.
  Ejection(const LayoutTable& table, std::uint64_t seed, const EjectionParams& params = {});

  // Returns offsets whose buffers all end at or below the target, derived from a layout. Returns
  // nullopt if `visits` visits of buffers do not suffice or the budget ends. Each insertion counts
  // as a node.
  std::optional<std::vector<Bytes>> fit_below(const std::vector<Bytes>& offsets, Bytes target,
                                              std::int64_t visits, Budget& budget);

  std::int64_t visits() const { return visits_; }  // total visits of buffers by this object

 private:
  // Buffers whose lifetimes have similar lengths (the same power of two), sorted by start.
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
  const std::uint32_t any_share_;  // in units of 1 / kShares
  QuickRandom random_;
  std::vector<Class> classes_;
  std::vector<Place> place_;           // by buffer
  std::vector<std::int64_t> weight_;   // weight of each buffer before any failed insertion
  std::vector<int> failed_;            // failed insertions of each buffer
  std::vector<Neighbour> neighbours_;  // neighbours of the buffer being inserted, by offset
  std::vector<std::pair<Bytes, std::int64_t>> ends_;
  std::vector<Bytes> candidates_;
  std::int64_t visits_ = 0;
};

}  // namespace stowage
