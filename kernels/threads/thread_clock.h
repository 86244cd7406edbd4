// The CPU time of the calling thread in seconds, without waiting and without other threads.
//
//   const double start = thread_cpu_seconds();
#pragma once

#include <ctime>

namespace stowage::kernels {

inline double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace stowage::kernels
