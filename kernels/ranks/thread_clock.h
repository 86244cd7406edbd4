// How long the calling thread has computed: CPU time, which waiting and other threads do not add
// to.
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
