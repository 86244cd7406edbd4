// Ctrl-C while C++ works. Python runs its signal handlers in the main thread only, when that holds
// the interpreter's lock: there the work goes to a thread of its own, and the main thread looks for
// signals meanwhile.
#pragma once

#include <atomic>
#include <functional>

namespace stowage::python {

// Ends the work of all calls that were given it, until it is cleared.
struct Interrupt {
  std::atomic<bool> flag = false;
  std::atomic<int> signals = 0;  // KeyboardInterrupts that arrived during such calls
};

// Runs `work` without the interpreter's lock, which the caller must hold. With `watch`, which only
// the main thread of Python may ask for, a KeyboardInterrupt sets the flag and is counted; any
// other exception of a signal handler sets the flag and is raised when the work has ended.
void run_unlocked(Interrupt& interrupt, bool watch, const std::function<void()>& work);

}  // namespace stowage::python
