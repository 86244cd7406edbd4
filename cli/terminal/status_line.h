// What a command is doing, for whoever waits longer than a second: on a terminal a line that is
// written over, elsewhere a line at most once a second and none in the first.
//
//   StatusLine status(console);
//   for (...) status.tell("batch     " + grouped(done) + " of " + grouped(all));
//
// Nothing is told below --log-level info or with --progress never; nothing that a clock decides is
// told off a terminal with --timeless.
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
