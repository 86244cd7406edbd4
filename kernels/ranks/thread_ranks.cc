#include "kernels/ranks/thread_ranks.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/ranks/thread_team.h"

namespace stowage::kernels {
namespace {

class ThreadRank : public Communicator {
 public:
  ThreadRank(Team& team, int rank) : team_(team), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return team_.size(); }

  void barrier() override {
    team_.enter(rank_, {.call = Call::barrier});
    team_.leave(all_call(Call::barrier) ? "" : kMixedCollectives);
  }

  void all_to_all_v(std::span<const float> send, std::span<const std::int64_t> send_counts,
                    std::span<float> recv, std::span<const std::int64_t> recv_counts) override {
    assert(sum_of(send_counts) == static_cast<std::int64_t>(send.size()));
    assert(sum_of(recv_counts) == static_cast<std::int64_t>(recv.size()));
    team_.enter(rank_, {Call::all_to_all_v, send, send_counts});
    if (!all_call(Call::all_to_all_v)) return team_.leave(kMixedCollectives);
    bool agreed = true;
    for (int s = 0; s < size(); ++s) agreed &= team_.post(s).counts[rank_] == recv_counts[s];
    std::int64_t to = 0;
    for (int s = 0; agreed && s < size(); ++s) {
      const Post& from = team_.post(s);
      const std::int64_t offset = sum_of(from.counts.first(rank_));
      std::copy_n(from.data.begin() + offset, recv_counts[s], recv.begin() + to);
      to += recv_counts[s];
    }
    team_.leave(agreed ? "" : kUnequalCounts);
  }

  void broadcast(std::span<float> values) override {
    team_.enter(rank_, {.call = Call::broadcast, .data = values});
    if (!all_call(Call::broadcast)) return team_.leave(kMixedCollectives);
    const std::span<const float> root = team_.post(0).data;
    const bool agreed = root.size() == values.size();
    if (agreed && rank_ != 0) std::ranges::copy(root, values.begin());
    team_.leave(agreed ? "" : kUnequalCounts);
  }

  void scatter(std::span<const float> all, std::span<const std::int64_t> counts,
               std::span<float> mine) override {
    assert(rank_ != 0 || sum_of(counts) == static_cast<std::int64_t>(all.size()));
    team_.enter(rank_, {Call::scatter, all, counts});
    if (!all_call(Call::scatter)) return team_.leave(kMixedCollectives);
    const Post& root = team_.post(0);
    const bool agreed = root.counts[rank_] == static_cast<std::int64_t>(mine.size());
    if (agreed) {
      std::copy_n(root.data.begin() + sum_of(root.counts.first(rank_)), mine.size(), mine.begin());
    }
    team_.leave(agreed ? "" : kUnequalCounts);
  }

  void gather(std::span<const float> mine, std::span<float> all,
              std::span<const std::int64_t> counts) override {
    assert(rank_ != 0 || sum_of(counts) == static_cast<std::int64_t>(all.size()));
    team_.enter(rank_, {Call::gather, mine, counts});
    if (!all_call(Call::gather)) return team_.leave(kMixedCollectives);
    const bool agreed = rank_ != 0 || copy_all(all, counts);
    team_.leave(agreed ? "" : kUnequalCounts);
  }

  void all_gather(std::span<const float> mine, std::span<float> all,
                  std::span<const std::int64_t> counts) override {
    assert(sum_of(counts) == static_cast<std::int64_t>(all.size()));
    team_.enter(rank_, {Call::all_gather, mine, counts});
    if (!all_call(Call::all_gather)) return team_.leave(kMixedCollectives);
    team_.leave(copy_all(all, counts) ? "" : kUnequalCounts);
  }

  void reduce_scatter(std::span<const float> all, std::span<float> mine,
                      std::span<const std::int64_t> counts) override {
    assert(sum_of(counts) == static_cast<std::int64_t>(all.size()));
    assert(counts[rank_] == static_cast<std::int64_t>(mine.size()));
    team_.enter(rank_, {Call::reduce_scatter, all, counts});
    if (!all_call(Call::reduce_scatter)) return team_.leave(kMixedCollectives);
    bool agreed = true;
    for (int s = 0; s < size(); ++s) {
      agreed &= std::ranges::equal(team_.post(s).counts, counts);
    }
    if (agreed) add_ranks(sum_of(counts.first(rank_)), mine);
    team_.leave(agreed ? "" : kUnequalCounts);
  }

  void all_reduce(std::span<float> values) override {
    team_.enter(rank_, {.call = Call::all_reduce, .data = values});
    if (!all_call(Call::all_reduce)) return team_.leave(kMixedCollectives);
    // the loop is the same on every rank, so all ranks detect the same error
    for (int s = 0; s < size(); ++s) {
      if (team_.post(s).data.size() != values.size()) return team_.leave(kUnequalCounts);
    }
    // Each rank sums its own part in place. No other rank reads that part of its array until the
    // second meeting, after which the part is final.
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

  void send_receive(std::span<const float> send, int to, std::span<float> recv, int from) override {
    team_.enter(rank_, {.call = Call::ring, .data = send, .peer = to});
    if (!all_call(Call::ring)) return team_.leave(kMixedCollectives);
    const Post& source = team_.post(from);
    const bool agreed = source.peer == rank_ && source.data.size() == recv.size();
    if (agreed) std::copy_n(source.data.begin(), recv.size(), recv.begin());
    team_.leave(agreed ? "" : kUnequalCounts);
  }

  void send(std::span<const float> values, int to, int tag) override {
    team_.send(rank_, to, tag, values);
  }

  void receive(std::span<float> values, int from, int tag) override {
    const std::vector<float> sent = team_.receive(rank_, from, tag);
    if (sent.size() != values.size()) throw std::runtime_error(kUnequalCounts);
    std::ranges::copy(sent, values.begin());
  }

  std::unique_ptr<Communicator> split(int colour) override;

 private:
  bool all_call(Call call) const {
    for (int s = 0; s < size(); ++s) {
      if (team_.post(s).call != call) return false;
    }
    return true;
  }

  // Copies the posted arrays in rank order. Returns false if a rank's array does not have counts[s]
  // floats.
  bool copy_all(std::span<float> all, std::span<const std::int64_t> counts) const {
    for (int s = 0; s < size(); ++s) {
      if (static_cast<std::int64_t>(team_.post(s).data.size()) != counts[s]) return false;
    }
    for (int s = 0; s < size(); ++s) {
      std::ranges::copy(team_.post(s).data, all.begin());
      all = all.subspan(counts[s]);
    }
    return true;
  }

  // mine = sum over ranks, in rank order, of the posted arrays from `offset`. `mine` may be this
  // rank's own part of its posted array, since each element is read before it is written.
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

// One rank of a group that was split off. Its destruction announces the rank's end in this group.
class GroupRank final : public ThreadRank {
 public:
  GroupRank(std::shared_ptr<Team> team, int rank)
      : ThreadRank(*team, rank), team_(std::move(team)), unwinding_(std::uncaught_exceptions()) {}
  ~GroupRank() override {
    if (std::uncaught_exceptions() > unwinding_) {
      team_->fail();
    } else {
      team_->rank_returned(rank());
    }
  }

 private:
  const std::shared_ptr<Team> team_;
  const int unwinding_;
};

std::unique_ptr<Communicator> ThreadRank::split(int colour) {
  team_.enter(rank_, {.call = Call::split, .peer = colour});
  if (!all_call(Call::split)) {
    team_.leave(kMixedCollectives);
    return nullptr;
  }
  int below = 0, members = 0;
  for (int s = 0; s < size(); ++s) {
    if (team_.post(s).peer != colour) continue;
    ++members;
    if (s < rank_) ++below;
  }
  auto group = std::make_unique<GroupRank>(team_.split_off(colour, members), below);
  team_.leave("");
  return group;
}

// The end of one rank.
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
    team.rank_returned(rank);
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
  } catch (const std::exception&
               failure) {  // no more threads can be started, so the running ones must leave
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
