#include "cli/interrupt.h"

#include <unistd.h>

#include <cassert>

#include "cli/exit_codes.h"

namespace stowage {
namespace {

// A signal handler gets no argument of ours, so what it touches must have static storage: this is
// the one place of the project where that is allowed. Lock-free atomics are async-signal-safe.
std::atomic<bool> interrupted = false;
std::atomic<bool> in_scope = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_interrupt(int) {
  // _exit and exchange are async-signal-safe; nothing else may be called here.
  if (interrupted.exchange(true)) _exit(to_int(ExitCode::interrupted));
}

}  // namespace

InterruptScope::InterruptScope() {
  [[maybe_unused]] const bool nested = in_scope.exchange(true);
  assert(!nested);
  interrupted = false;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;  // a write to a slow pipe goes on after the first signal
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
  // A shell that starts us in the background with SIGINT ignored means it: respect that.
  if (old_int_.sa_handler == SIG_IGN) sigaction(SIGINT, &old_int_, nullptr);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
  in_scope = false;
}

const std::atomic<bool>& InterruptScope::flag() const { return interrupted; }

}  // namespace stowage
