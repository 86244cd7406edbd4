// A wall clock that jumps by hours, back and forth, at every call. Loaded before the C library:
//
//   LD_PRELOAD=.../libjumping_clock.so stowage solve instance.json -t 100
//
// Monotonic clocks do not change, so programs that measure with them are not affected.
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

namespace {

constexpr std::int64_t kHour = 3600;

// Returns the kernel's time with an offset of -50 to 50 hours.
int jumped(clockid_t clock, timespec* now) {
  static std::atomic<std::uint32_t> looks = 0;
  const auto failed = syscall(SYS_clock_gettime, clock, now);
  if (failed == 0) now->tv_sec += (static_cast<std::int64_t>(looks++ * 37U % 101U) - 50) * kHour;
  return static_cast<int>(failed);
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) return jumped(clock, now);
  return static_cast<int>(syscall(SYS_clock_gettime, clock, now));
}

extern "C" int gettimeofday(timeval* now, void*) noexcept {
  timespec precise{};
  const int failed = jumped(CLOCK_REALTIME, &precise);
  if (failed == 0) *now = {.tv_sec = precise.tv_sec, .tv_usec = precise.tv_nsec / 1000};
  return failed;
}

extern "C" std::time_t time(std::time_t* copy) noexcept {
  timespec now{};
  if (jumped(CLOCK_REALTIME, &now) != 0) return -1;
  if (copy != nullptr) *copy = now.tv_sec;
  return now.tv_sec;
}
