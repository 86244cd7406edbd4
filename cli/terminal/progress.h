// The progress table of a solve: one line per improvement, who found it in front.
//
//          time     bound      best      gap   nodes  by
//   H     0.00s    14 500    17 960   19.27%       0  lpt
//   L     0.02s    14 500    15 310    5.29%       0  local_search
//
// A finder that improves many times a second gets one line a second; a line for somebody else's
// improvement comes at once. On a terminal the held-back state is shown by writing over the last
// line; elsewhere nothing is written over. With `timeless` there is no time column and no clock
// decides what is printed: each run of improvements by one finder becomes one line.
#pragma once

#include <optional>

#include "cli/terminal/console.h"
#include "cli/terminal/unit.h"
#include "solvers/outcome.h"

namespace stowage {

class ProgressTable {
 public:
  ProgressTable(Console& console, const Unit& unit) : console_(console), unit_(unit) {}

  // Told of each improvement in order.
  void add(const Improvement& improvement);

  // Prints what was held back. No-op if nothing was.
  void finish();

 private:
  void print(const Improvement& improvement);
  std::string line(const Improvement& improvement) const;

  Console& console_;
  Unit unit_;
  std::optional<Improvement> printed_;  // the last one that has its line
  std::optional<Improvement> held_;  // newer than printed_, not shown or only as a rewritten line
  int rows_ = 0;
};

}  // namespace stowage
