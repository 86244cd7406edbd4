// Handling of Ctrl-C and similar signals: the first signal makes the solve end with its best plan.
//
//   InterruptScope interrupt;
//   Budget budget({.interrupt = &interrupt.flag()});
//   Outcome outcome = solve(instance, options, budget);
//
// These signals have that effect:
//
// - SIGINT: Ctrl-C.
// - SIGTERM: Slurm, Kubernetes and `timeout`, before they kill.
// - SIGHUP: a closed terminal or ssh session.
// - SIGXCPU: the limit of `ulimit -t` or of a batch system; the kernel repeats it every second.
// - SIGUSR1, SIGUSR2: Slurm's --signal, LSF and Grid Engine, some time before a limit.
//
// A second SIGINT, at least 0.2 s after the first, ends the process at once with exit code 130. No
// other second signal does. Batch systems and `timeout` send the same signal twice, SIGTERM after
// SIGINT, or SIGHUP after SIGTERM; the process would then end without its plan.
//
// At most one scope may exist at a time. The destructor restores the previous handlers. A signal
// that was ignored stays ignored.
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

  // The flag becomes true when a signal arrives. The reference is valid until the end of the
  // process.
  const std::atomic<bool>& flag() const;

 private:
  std::array<struct sigaction, kInterruptSignals.size()> old_ = {};
};

// Reads a descriptor until its end or until a signal in an InterruptScope. So waiting for input
// ends with Ctrl-C.
//
//   InterruptibleInput input(dup(STDIN_FILENO));
//   std::istream stream(&input);
class InterruptibleInput : public std::streambuf {
 public:
  explicit InterruptibleInput(int fd);  // closes `fd` in the destructor
  ~InterruptibleInput() override;
  InterruptibleInput(const InterruptibleInput&) = delete;
  InterruptibleInput& operator=(const InterruptibleInput&) = delete;

 private:
  int_type underflow() override;

  int fd_;
  std::string buffer_;
};

}  // namespace stowage
