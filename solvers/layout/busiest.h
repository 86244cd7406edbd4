// Layouts of the busiest sections first, then of more and more sections.
//
// Where the load is near its maximum hardly anything may be wasted; elsewhere much fits. So the
// buffers of the busiest sections are laid out first, as if there were no others: few buffers
// mostly lie without a gap. Then come more sections, with half as many buffers again each time. The
// new buffers are put into the stack where the longest path through them is shortest, and
// reinsertion lowers the peak to that of the part before. What is left out only makes a layout
// easier: an attempt whose part needs as much as the best layout ends, and the next one draws anew.
// Attempts begin in turn with nothing and with each of the first parts that the exact search lays
// out without a gap.
// Source: multilevel refinement (Walshaw 2004), here from the sections that bind to all; the
// lengths of attempts are those of Luby, Sinclair and Zuckerman (1993). The parts are ours.
//
//   BusiestFirst busiest(table, seed);
//   offsets = busiest.lower(std::move(offsets), enough, budget, tell);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heuristics/layout/improve.h"
#include "instances/budget.h"
#include "instances/layout/table.h"
#include "solvers/layout/params.h"

namespace stowage {

class BusiestFirst {
 public:
  // Returns whether it can be used: up to a few thousand buffers and sections, and no pins.
  static bool fits(const LayoutTable& table, const ReinsertionParams& params = {});

  // `table` must outlive this. Requires fits(table) and table.stackable().
  BusiestFirst(const LayoutTable& table, std::uint64_t seed, const LayoutParams& params = {});

  // With one part, of all buffers, no section is busier than the others: of no use.
  std::size_t parts() const { return parts_.size(); }

  // The best layout met, never worse than `offsets`; each better one is told. Ends when it needs no
  // more than `enough` or the max load, or with the budget; called again it goes on where it was.
  std::vector<Bytes> lower(std::vector<Bytes> offsets, Bytes enough, Budget& budget,
                           const BetterLayout& tell);

 private:
  // The busiest sections; buffers that are not alive there are idle.
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
  std::vector<Part> parts_;  // each with all buffers of the one before, the last one with all
  std::vector<std::vector<Bytes>> found_;  // layouts of the first parts that need the least
  bool searched_ = false;
  // The attempt that goes on.
  std::int64_t attempt_ = -1;
  std::size_t part_ = 0;                   // that comes next
  std::vector<Bytes> offsets_;             // of the part before; -1 if not in it
  Bytes aim_ = 0;                          // what is enough, or what a part before has needed
  std::vector<std::vector<Bytes>> tries_;  // layouts of the part, so far
};

}  // namespace stowage
