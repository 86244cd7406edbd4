// Ctrl-C as a wish: the first SIGINT or SIGTERM asks the solve to finish with the best plan, the
// second ends the process at once with exit code 130.
//
//   InterruptScope interrupt;
//   Budget budget({.interrupt = &interrupt.flag()});
//   Outcome outcome = solve(instance, options, budget);
//
// Only one scope may live at a time. The handlers found at construction are put back at the end,
// and a signal that was ignored stays ignored.
#pragma once

#include <atomic>
#include <csignal>
#include <streambuf>
#include <string>

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

// What a descriptor gives, until its end or a signal in an InterruptScope, whichever comes first:
// waiting for more does not outlast Ctrl-C.
//
//   InterruptibleInput input(dup(STDIN_FILENO));
//   std::istream stream(&input);
class InterruptibleInput : public std::streambuf {
 public:
  explicit InterruptibleInput(int fd);  // closed at the end
  ~InterruptibleInput() override;
  InterruptibleInput(const InterruptibleInput&) = delete;
  InterruptibleInput& operator=(const InterruptibleInput&) = delete;

 private:
  int_type underflow() override;

  int fd_;
  std::string buffer_;
};

}  // namespace stowage
