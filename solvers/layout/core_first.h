// Makes layouts of the busiest sections first, then of more and more sections.
//
// Sections whose load is near the maximum allow almost no waste, and other sections allow much.
// Therefore the buffers of the busiest sections are laid out first, without the other buffers; few
// buffers often fit without a gap. Each further part has half as many buffers again, from more
// sections. The new buffers are inserted into the stack where the longest path through them is
// shortest, and reinsertion lowers the peak to that of the part before. A layout of all buffers
// needs at least as much as its part. So an attempt ends when its part needs as much as the best
// layout. The next attempt draws new random numbers. Attempts begin in turn from the empty
// layout and from each of the first parts that the exact search lays out without a gap. Source:
// multilevel refinement (Walshaw 2004), here from the binding sections to all sections; the lengths
// of attempts follow Luby, Sinclair and Zuckerman (1993). The parts are stowage's own.
//
//   CoreFirst busiest(table, seed);
//   offsets = busiest.lower(std::move(offsets), enough, budget, tell);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/layout/improve/improvement_rounds.h"
#include "instances/budget.h"
#include "instances/layout/planning_table.h"
#include "solvers/layout/params.h"

namespace stowage {

class CoreFirst {
 public:
  // Returns true if the method applies: at most a few thousand buffers and sections, and no pins.
  static bool fits(const LayoutTable& table, const ReinsertionParams& params = {});

  // `table` must outlive this object. Requires fits(table) and table.stackable().
  CoreFirst(const LayoutTable& table, std::uint64_t seed, const LayoutParams& params = {});

  // Returns the number of parts. With a single part of all buffers, no section is busier than the
  // others, and the method gains nothing.
  std::size_t parts() const { return parts_.size(); }

  // Returns the best layout found, never worse than `offsets`, and calls `tell` for each better
  // layout. Stops when the peak is at most `enough` or the max load, or when the budget ends. A
  // further call continues where the last call stopped.
  std::vector<Bytes> lower(std::vector<Bytes> offsets, Bytes enough, Budget& budget,
                           const BetterLayout& tell);

 private:
  // The busiest sections. Buffers that are not alive there are idle.
  struct Part {
    LayoutTable table;
    int buffers = 0;
  };
  void cut_parts();
  void search_parts(Bytes enough, Budget& budget);
  void begin(Bytes enough);
  bool extend(Budget& budget);

  const LayoutTable& table_;
  const std::uint64_t seed_;
  const LayoutParams params_;
  // parts by size; each has all buffers of the one before, and the last has all buffers
  std::vector<Part> parts_;
  // layouts of the first parts within the peak that is enough
  std::vector<std::vector<Bytes>> found_;
  bool searched_ = false;
  // State of the current attempt.
  std::int64_t attempt_ = -1;
  std::size_t part_ = 0;        // index of the next part
  std::vector<Bytes> offsets_;  // offsets of the previous part; -1 for buffers outside it
  Bytes aim_ = 0;               // target peak: `enough`, or more if an earlier part needed more
  std::vector<std::vector<Bytes>> tries_;  // layouts of the part so far
};

}  // namespace stowage
