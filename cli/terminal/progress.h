// The progress table of a solve: one line per improvement, which begins with the letter of its
// finder.
//
//          time     bound      best      gap   nodes  by
//   H     0.00s    14 500    17 960   19.27%       0  lpt
//   L     0.02s    14 500    15 310    5.29%       0  local_search
//
// A finder that improves many times per second gets one line per second; an improvement by another
// finder is printed at once. On a terminal the latest state is shown by overwriting the last line;
// in a file no line is overwritten. With `timeless` the table has no time column and does not
// depend on a clock: consecutive improvements by one finder become one line.
#pragma once

#include <optional>

#include "cli/terminal/console.h"
#include "cli/terminal/unit.h"
#include "solvers/outcome.h"

namespace stowage {

class ProgressTable {
 public:
  ProgressTable(Console& console, const Unit& unit) : console_(console), unit_(unit) {}

  // Must be called for each improvement in order.
  void add(const Improvement& improvement);

  // Prints the improvement that was held back, if any.
  void finish();

 private:
  void print(const Improvement& improvement);
  std::string line(const Improvement& improvement) const;

  Console& console_;
  Unit unit_;
  std::optional<Improvement> printed_;  // last improvement with a printed line
  // newer than printed_; not shown, or shown only in a rewritten line
  std::optional<Improvement> held_;
  int rows_ = 0;
};

}  // namespace stowage
