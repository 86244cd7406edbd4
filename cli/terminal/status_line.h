// The status of a running command. On a terminal it is one line that is overwritten; in a file at
// most one line per second is written, after the first second.
//
//   StatusLine status(console);
//   for (...) status.tell("batch     " + grouped(done) + " of " + grouped(all));
//
// No line is written below --log-level info, with --progress never, or with --timeless outside of a
// terminal.
#pragma once

#include <chrono>
#include <string_view>

#include "cli/terminal/console.h"

namespace stowage {

class StatusLine {
 public:
  explicit StatusLine(Console& console) : console_(console) {}

  void tell(std::string_view line);

 private:
  using Clock = std::chrono::steady_clock;
  Console& console_;
  Clock::time_point told_ = Clock::now();
};

}  // namespace stowage
