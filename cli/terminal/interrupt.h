// Ctrl-C as a wish: the first signal asks the solve to finish with the best plan.
//
//   InterruptScope interrupt;
//   Budget budget({.interrupt = &interrupt.flag()});
//   Outcome outcome = solve(instance, options, budget);
//
// These signals ask:
//
// - SIGINT: Ctrl-C.
// - SIGTERM: Slurm, Kubernetes and `timeout`, before they kill.
// - SIGHUP: a closed terminal or ssh session.
// - SIGXCPU: the limit of `ulimit -t` or of a batch system; the kernel repeats it every second.
// - SIGUSR1, SIGUSR2: Slurm's --signal, LSF and Grid Engine, some time before a limit.
//
// A second SIGINT, at least 0.2 s after the first, ends the process at once with exit code 130. No
// other signal does: batch systems and `timeout` send the same signal twice, SIGTERM after SIGINT,
// or SIGHUP after SIGTERM, and the process would end without its plan.
//
// Only one scope may live at a time. The handlers found at construction are put back at the end,
// and a signal that was ignored stays ignored.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <streambuf>
#include <string>

namespace stowage {

inline constexpr std::array kInterruptSignals = {SIGINT,  SIGTERM, SIGHUP,
                                                 SIGXCPU, SIGUSR1, SIGUSR2};

class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  // True once a signal has come. Lives until the end of the process.
  const std::atomic<bool>& flag() const;

 private:
  std::array<struct sigaction, kInterruptSignals.size()> old_ = {};
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
