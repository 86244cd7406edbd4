// Calls a backend in such a way that the call ends even if the backend does not.
//
//   MilpResult answer = run_watched(run_cbc, task);  // throws what the backend throws
//
// The backend works on copies, in a thread of its own. Limits and the interrupt reach it as they
// would without; only if it goes on for kPatienceSeconds after them is it left behind: the thread
// keeps its copies, whatever it still says is dropped, and the answer is an error that says so.
// Internal to solvers/ and its tests, but for the end of a process.
#pragma once

#include "solvers/milp/contract.h"

namespace stowage {

// Above what linear programmes at the root have been seen to overrun their limits by, a few
// seconds.
inline constexpr double kPatienceSeconds = 5;

// The backend's answer, or an error if it had to be left behind. Rethrows its exceptions; throws
// std::system_error if there can be no thread. `task.observer` is called from the backend's thread
// while this call waits.
MilpResult run_watched(const MilpRun& run, const MilpTask& task);

// Whether any backend of this process was left behind. Its thread may be in the middle of anything:
// such a process should end with _exit, as static destructors would pull the ground from under it.
bool backend_left_behind();

// From now on a backend that calls abort(), as its assertions do, is left behind and its answer is
// an error; until then it ends the process. The handler of SIGABRT is the process's, so that
// programs decide, and no library. The message of the assertion goes to stderr all the same.
void survive_aborts();

}  // namespace stowage
