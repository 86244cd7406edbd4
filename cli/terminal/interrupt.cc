#include "cli/terminal/interrupt.h"

#include <poll.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <system_error>

#include "cli/terminal/error/exit_codes.h"

namespace stowage {
namespace {

// Minimal time in ns between a first and a second SIGINT that ends the process. `timeout -s INT`
// sends two signals at once; a person's second Ctrl-C comes later.
constexpr std::int64_t kSecondSignalNs = 200'000'000;

// A signal handler has no argument for user data, so its data need static storage. Only these
// variables and an abandoned backend thread (solvers/milp/watch.cc) have static storage in this
// project. Lock-free atomics are async-signal-safe.
std::atomic<bool> interrupted = false;
std::atomic<std::int64_t> first_sigint_ns = 0;  // 0: no SIGINT yet
std::atomic<bool> in_scope = false;
static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

extern "C" void on_interrupt(int signal) {
  // Only async-signal-safe functions may be called here: clock_gettime and _exit are.
  interrupted = true;
  if (signal != SIGINT) return;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  std::int64_t first = 0;
  if (first_sigint_ns.compare_exchange_strong(first, now)) return;
  if (now - first >= kSecondSignalNs) _exit(to_int(ExitCode::interrupted));
}

}  // namespace

InterruptScope::InterruptScope() {
  [[maybe_unused]] const bool nested = in_scope.exchange(true);
  assert(!nested);
  interrupted = false;
  first_sigint_ns = 0;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;  // a write to a slow pipe is continued after the first signal
  for (std::size_t k = 0; k < old_.size(); ++k) {
    sigaction(kInterruptSignals[k], &action, &old_[k]);
    // If the parent process ignored a signal deliberately, as nohup does, it stays ignored.
    if (old_[k].sa_handler == SIG_IGN) sigaction(kInterruptSignals[k], &old_[k], nullptr);
  }
}

InterruptScope::~InterruptScope() {
  for (std::size_t k = 0; k < old_.size(); ++k) {
    sigaction(kInterruptSignals[k], &old_[k], nullptr);
  }
  in_scope = false;
}

const std::atomic<bool>& InterruptScope::flag() const { return interrupted; }

InterruptibleInput::InterruptibleInput(int fd) : fd_(fd), buffer_(std::size_t{1} << 16, '\0') {}

InterruptibleInput::~InterruptibleInput() {
  if (fd_ >= 0) ::close(fd_);
}

InterruptibleInput::int_type InterruptibleInput::underflow() {
  // The kernel may deliver the signal to another thread, which does not interrupt poll() here. So
  // poll() has a timeout of kLookMs.
  constexpr int kLookMs = 20;
  while (!interrupted) {
    pollfd input{.fd = fd_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&input, 1, kLookMs);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = ::read(fd_, buffer_.data(), buffer_.size());
    if (count > 0) {
      setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
      return traits_type::to_int_type(buffer_.front());
    }
    if (count == 0) break;
    if (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK) continue;
    throw std::system_error(errno, std::generic_category(), "read");  // sets the stream's badbit
  }
  return traits_type::eof();
}

}  // namespace stowage
