#include "kernels/thread_ranks.h"

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace stowage::kernels {
namespace {

enum class Call { barrier, all_to_all_v, all_gather, reduce_scatter, all_reduce };

// What one rank shows the others during a collective.
struct Post {
  Call call = Call::barrier;
  std::span<const float> data;
  std::span<const std::int64_t> counts;
};

// Thrown on ranks that leave a collective because another rank failed.
struct Abandoned : std::runtime_error {
  Abandoned() : std::runtime_error("left because another rank failed") {}
};

// The meeting point. A collective is enter() .. leave(): between the two a rank only copies and
// never throws, so that nobody unwinds memory which others still read.
class Team {
 public:
  explicit Team(int size) : size_(size), posts_(size) {}

  int size() const { return size_; }
  const Post& post(int rank) const { return posts_[rank]; }

  // Posts and waits for everyone. Throws if that can no longer happen.
  void enter(int rank, const Post& mine) {
    std::unique_lock lock(mutex_);
    refuse_if_broken();
    posts_[rank] = mine;
    const auto generation = generation_;
    if (arrive()) return;
    changed_.wait(lock, [&] { return generation_ != generation || failed_ || returned_ > 0; });
    if (generation_ != generation) return;  // all were here: whatever failed since, finish first
    --arrived_;
    refuse_if_broken();
  }

  // Waits for everyone who entered. They all come.
  void meet() {
    std::unique_lock lock(mutex_);
    const auto generation = generation_;
    if (arrive()) return;
    changed_.wait(lock, [&] { return generation_ != generation; });
  }

  // Ends a collective; `fault` (empty for none) fails it on every rank.
  void leave(const std::string& fault) {
    if (!fault.empty()) {
      const std::lock_guard lock(mutex_);
      failed_ = spoiled_ = true;
    }
    meet();
    if (!fault.empty()) throw std::runtime_error(fault);
    const std::lock_guard lock(mutex_);
    if (spoiled_) throw Abandoned();  // not failed_: this collective is complete
  }

  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

  void rank_returned() {
    const std::lock_guard lock(mutex_);
    ++returned_;
    changed_.notify_all();
  }

 private:
  bool arrive() {
    if (++arrived_ < size_) return false;
    arrived_ = 0;
    ++generation_;
    changed_.notify_all();
    return true;
  }
  void refuse_if_broken() const {
    if (failed_) throw Abandoned();
    if (returned_ > 0) throw std::runtime_error("waits for a rank that has already returned");
  }

  const int size_;
  std::vector<Post> posts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  int returned_ = 0;
  std::uint64_t generation_ = 0;
  bool failed_ = false;   // no further collective can complete
  bool spoiled_ = false;  // the collective under way is at fault
};

std::int64_t sum(std::span<const std::int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

class ThreadRank final : public Communicator {
 public:
  ThreadRank(Team& team, int rank) : team_(team), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return team_.size(); }

  void barrier() override {
    team_.enter(rank_, {.call = Call::barrier});
    team_.leave(all_call(Call::barrier) ? "" : kMixed);
  }

  void all_to_all_v(std::span<const float> send, std::span<const std::int64_t> send_counts,
                    std::span<float> recv, std::span<const std::int64_t> recv_counts) override {
    assert(sum(send_counts) == static_cast<std::int64_t>(send.size()));
    assert(sum(recv_counts) == static_cast<std::int64_t>(recv.size()));
    team_.enter(rank_, {Call::all_to_all_v, send, send_counts});
    if (!all_call(Call::all_to_all_v)) return team_.leave(kMixed);
    bool agreed = true;
    for (int s = 0; s < size(); ++s) agreed &= team_.post(s).counts[rank_] == recv_counts[s];
    std::int64_t to = 0;
    for (int s = 0; agreed && s < size(); ++s) {
      const Post& from = team_.post(s);
      const std::int64_t offset = sum(from.counts.first(rank_));
      std::copy_n(from.data.begin() + offset, recv_counts[s], recv.begin() + to);
      to += recv_counts[s];
    }
    team_.leave(agreed ? "" : kCounts);
  }

  void all_gather(std::span<const float> mine, std::span<float> all,
                  std::span<const std::int64_t> counts) override {
    assert(sum(counts) == static_cast<std::int64_t>(all.size()));
    team_.enter(rank_, {Call::all_gather, mine, counts});
    if (!all_call(Call::all_gather)) return team_.leave(kMixed);
    bool agreed = true;
    for (int s = 0; s < size(); ++s) {
      agreed &= static_cast<std::int64_t>(team_.post(s).data.size()) == counts[s];
    }
    std::int64_t to = 0;
    for (int s = 0; agreed && s < size(); ++s) {
      std::copy_n(team_.post(s).data.begin(), counts[s], all.begin() + to);
      to += counts[s];
    }
    team_.leave(agreed ? "" : kCounts);
  }

  void reduce_scatter(std::span<const float> all, std::span<float> mine,
                      std::span<const std::int64_t> counts) override {
    assert(sum(counts) == static_cast<std::int64_t>(all.size()));
    assert(counts[rank_] == static_cast<std::int64_t>(mine.size()));
    team_.enter(rank_, {Call::reduce_scatter, all, counts});
    if (!all_call(Call::reduce_scatter)) return team_.leave(kMixed);
    bool agreed = true;
    for (int s = 0; s < size(); ++s) {
      agreed &= std::ranges::equal(team_.post(s).counts, counts);
    }
    if (agreed) add_ranks(sum(counts.first(rank_)), mine);
    team_.leave(agreed ? "" : kCounts);
  }

  void all_reduce(std::span<float> values) override {
    team_.enter(rank_, {.call = Call::all_reduce, .data = values});
    if (!all_call(Call::all_reduce)) return team_.leave(kMixed);
    for (int s = 0; s < size(); ++s) {  // every rank comes to the same conclusion
      if (team_.post(s).data.size() != values.size()) return team_.leave(kCounts);
    }
    // Each rank sums its own part in place; nobody else reads that part of its array until the
    // second meeting, after which it is final.
    const auto part = [&](int r) {
      return static_cast<std::size_t>(static_cast<std::int64_t>(values.size()) * r / size());
    };
    const std::size_t begin = part(rank_), count = part(rank_ + 1) - begin;
    add_ranks(static_cast<std::int64_t>(begin), values.subspan(begin, count));
    team_.meet();
    for (int s = 0; s < size(); ++s) {
      if (s == rank_) continue;
      const auto from = team_.post(s).data.subspan(part(s), part(s + 1) - part(s));
      std::ranges::copy(from, values.begin() + static_cast<std::ptrdiff_t>(part(s)));
    }
    team_.leave("");
  }

 private:
  static constexpr const char* kMixed = "the ranks called different collectives";
  static constexpr const char* kCounts = "the ranks disagree about how much they exchange";

  bool all_call(Call call) const {
    for (int s = 0; s < size(); ++s) {
      if (team_.post(s).call != call) return false;
    }
    return true;
  }

  // mine = sum over ranks, in rank order, of the posted arrays from `offset`. `mine` may be this
  // rank's own part of its posted array: element by element, it is read before it is written.
  void add_ranks(std::int64_t offset, std::span<float> mine) const {
    for (std::size_t i = 0; i < mine.size(); ++i) {
      float total = team_.post(0).data[offset + i];
      for (int s = 1; s < size(); ++s) total += team_.post(s).data[offset + i];
      mine[i] = total;
    }
  }

  Team& team_;
  int rank_;
};

// What happened to one rank.
struct Ending {
  bool failed = false;
  bool abandoned = false;
  std::string message;
};

Ending run_one(Team& team, int rank, const std::function<void(Communicator&)>& program) {
  Ending ending;
  try {
    ThreadRank world(team, rank);
    program(world);
    team.rank_returned();
    return ending;
  } catch (const Abandoned& left) {
    ending = {.failed = true, .abandoned = true, .message = left.what()};
  } catch (const std::exception& error) {
    ending = {.failed = true, .message = error.what()};
  } catch (...) {
    ending = {.failed = true, .message = "unknown exception"};
  }
  team.fail();
  return ending;
}

}  // namespace

std::optional<RankError> run_ranks(int ranks, const std::function<void(Communicator&)>& program) {
  assert(ranks >= 1);
  Team team(ranks);
  std::vector<Ending> endings(ranks);
  std::vector<std::thread> threads;
  std::optional<RankError> error;
  try {
    for (int r = 0; r < ranks; ++r) {
      threads.emplace_back([&, r] { endings[r] = run_one(team, r, program); });
    }
  } catch (const std::exception& failure) {  // no more threads: let those that run leave
    error = RankError{static_cast<int>(threads.size()),
                      std::string("cannot start a thread: ") + failure.what()};
    team.fail();
  }
  for (std::thread& thread : threads) thread.join();
  for (int r = 0; r < ranks && !error; ++r) {
    if (endings[r].failed && !endings[r].abandoned) error = RankError{r, endings[r].message};
  }
  for (int r = 0; r < ranks && !error; ++r) {
    if (endings[r].failed) error = RankError{r, endings[r].message};
  }
  return error;
}

}  // namespace stowage::kernels
