// The meeting point of ranks that are threads: who is here, what each shows the others, who failed.
// thread_ranks.h is the interface.
//
// A collective is enter() .. leave(): between the two a rank only copies and never throws, so that
// nobody unwinds memory which others still read.
//
//   team.enter(rank, {.call = Call::barrier});
//   team.leave("");
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace stowage::kernels {

enum class Call {
  barrier,
  all_to_all_v,
  broadcast,
  scatter,
  gather,
  all_gather,
  reduce_scatter,
  all_reduce,
  ring,
  split
};

// What one rank shows the others during a collective.
struct Post {
  Call call = Call::barrier;
  std::span<const float> data;
  std::span<const std::int64_t> counts;
  int peer = 0;  // whom a ring step sends to; the colour of a split
};

class Team {
 public:
  explicit Team(int size) : size_(size), posts_(size), entered_(size), returned_(size) {}

  int size() const { return size_; }
  const Post& post(int rank) const { return posts_[rank]; }

  // Posts and waits for everyone. Throws if that can no longer happen.
  void enter(int rank, const Post& mine);

  // Waits for everyone who entered. They all come.
  void meet();

  // Ends a collective; `fault` (empty for none) fails it on every rank.
  void leave(const std::string& fault);

  // Leaves a copy of the values for rank `to`. Throws Abandoned where a rank has failed.
  void send(int from, int to, int tag, std::span<const float> values);

  // Waits for the values that `from` left for `to`. Throws if they can no longer come.
  std::vector<float> receive(int to, int from, int tag);

  // No further collective can complete, here or in a team that was split off.
  void fail();
  void rank_returned(int rank);

  // The team of `size` ranks for a colour, the same for all who ask during one collective.
  std::shared_ptr<Team> split_off(int colour, int size);

 private:
  bool arrive();
  void refuse_if_broken() const;
  bool someone_returned() const;

  const int size_;
  std::vector<Post> posts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  std::uint64_t generation_ = 0;
  std::vector<std::uint64_t> entered_;  // by rank: 1 + the generation that it last waited in
  std::vector<bool> returned_;          // by rank
  std::map<std::tuple<int, int, int>, std::deque<std::vector<float>>> messages_;  // from, to, tag
  bool failed_ = false;   // no further collective can complete
  bool spoiled_ = false;  // the collective under way is at fault
  std::uint64_t split_generation_ = 0;
  std::map<int, std::shared_ptr<Team>> splits_;  // by colour, of the last split
  std::vector<std::weak_ptr<Team>> children_;
};

}  // namespace stowage::kernels
