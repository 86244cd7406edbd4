// Handles Ctrl-C during work in C++. Python runs its signal handlers only in the main thread while
// that thread holds the interpreter's lock. So the work runs on another thread, and the main thread
// checks for signals.
#pragma once

#include <atomic>
#include <functional>

namespace stowage::python {

// The flag ends the work of all calls with this Interrupt until it is cleared.
struct Interrupt {
  std::atomic<bool> flag = false;
  std::atomic<int> signals = 0;  // KeyboardInterrupts that arrived during these calls
};

// Runs `work` without the interpreter's lock, which the caller must hold. `watch` may be true only
// in the main thread of Python. It makes a KeyboardInterrupt set the flag and increase the counter.
// Another exception of a signal handler sets the flag and is raised after the work has ended.
void run_unlocked(Interrupt& interrupt, bool watch, const std::function<void()>& work);

}  // namespace stowage::python
