// Calls a backend such that the call ends even if the backend does not.
//
//   MilpResult answer = run_watched(run_cbc, task);  // throws what the backend throws
//
// The backend works on copies, in a separate thread. Limits and the interrupt reach it as usual. If
// it continues for kPatienceSeconds after them, it is left behind: the thread keeps its copies, its
// later results are dropped, and the result is an error that names this. Internal to solvers/ and
// its tests, but for the end of a process.
#pragma once

#include <functional>

#include "solvers/milp/contract.h"

namespace stowage {

// Above the observed overruns of limits by linear programmes at the root, which are a few seconds.
inline constexpr double kPatienceSeconds = 5;

// Returns the backend's result, or an error if it was left behind. Rethrows its exceptions. Throws
// std::system_error if no thread can be started. `task.observer` is called from the backend's
// thread while this call waits.
MilpResult run_watched(const MilpRun& run, const MilpTask& task);

// Runs `work` in a thread of its own, waits for its end and rethrows its exception. For backends
// that keep state per thread, which a host program that calls from this thread may use as well.
void on_own_thread(const std::function<void()>& work);

// Returns true if a backend of this process was left behind. Its thread may still run, so such a
// process should end with _exit: static destructors would destroy data that the thread uses.
bool backend_left_behind();

// After this call, a backend that calls abort(), as failed assertions do, is left behind, and its
// result is an error. Without this call it ends the process. The SIGABRT handler belongs to the
// process, so programs decide on it, not libraries. The message of the assertion still goes to
// stderr.
void survive_aborts();

}  // namespace stowage
