// Ctrl-C as a wish: the first SIGINT or SIGTERM asks the solve to finish with the best plan, the
// second ends the process at once with exit code 130.
//
//   InterruptScope interrupt;
//   Budget budget({.interrupt = &interrupt.flag()});
//   Outcome outcome = solve(instance, options, budget);
//
// Only one scope may live at a time. The handlers found at construction are put back at the end.
#pragma once

#include <atomic>
#include <csignal>

namespace stowage {

class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  // True once a signal has come. Lives until the end of the process.
  const std::atomic<bool>& flag() const;

 private:
  struct sigaction old_int_ = {};
  struct sigaction old_term_ = {};
};

}  // namespace stowage
