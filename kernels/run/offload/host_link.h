// A link to the host: one thread that copies in the order of the requests, at a limited rate.
//
//   HostLink link;
//   const HostLink::Ticket ticket = link.start(0.004, [&] { host = std::move(device); });
//   waited += link.wait(ticket);
//
// A copy begins when it is requested and the one before it has ended, and lasts the given time or
// as long as the function takes, whatever is longer. Sleeps that last too long do not add up: the
// next copy begins when this one should have ended.
//
// Thread safety: one thread calls its functions. The functions that it runs are on the thread of
// the link; what they wrote is visible after wait().
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace stowage::kernels {

class HostLink {
 public:
  using Ticket = std::int64_t;

  HostLink() : thread_([this] { work(); }) {}
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;
  // Runs all requested copies first, without their rates.
  ~HostLink();

  Ticket start(double seconds, std::function<void()> copy);

  // Returns the seconds until the copy had ended. Throws what its function threw.
  double wait(Ticket ticket);

  // Waits until all requested copies have ended.
  void drain();

 private:
  using Clock = std::chrono::steady_clock;
  struct Copy {
    Clock::time_point requested;
    Clock::duration least;
    std::function<void()> run;
  };

  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Copy> queue_;
  Ticket started_ = 0;  // number of requested copies
  Ticket done_ = 0;     // number of ended copies
  bool closing_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace stowage::kernels
