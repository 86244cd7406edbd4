// The shared state of ranks that are threads: the ranks that have entered a collective, their
// posted data, and failures. thread_ranks.h is the interface.
//
// A collective is the code between enter() and leave(). There a rank only copies and never throws,
// so that no rank frees memory that others still read.
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

// The data that one rank posts for the others during a collective.
struct Post {
  Call call = Call::barrier;
  std::span<const float> data;
  std::span<const std::int64_t> counts;
  int peer = 0;  // target of a ring step; the colour of a split
};

class Team {
 public:
  explicit Team(int size) : size_(size), posts_(size), entered_(size), returned_(size) {}

  int size() const { return size_; }
  const Post& post(int rank) const { return posts_[rank]; }

  // Posts and waits for all ranks. Throws if a rank can no longer enter.
  void enter(int rank, const Post& mine);

  // Waits for all ranks that entered; all of them will come.
  void meet();

  // Ends a collective. A non-empty `fault` makes it fail on every rank.
  void leave(const std::string& fault);

  // Sends a copy of the values to rank `to`. Throws Abandoned if a rank has failed.
  void send(int from, int to, int tag, std::span<const float> values);

  // Waits for the values that `from` sent to `to`. Throws if they can no longer come.
  std::vector<float> receive(int to, int from, int tag);

  // Marks the team as failed: no further collective can complete in this team or in a team split
  // off from it.
  void fail();
  void rank_returned(int rank);

  // Returns the team of `size` ranks for a colour; all callers within one collective get the same
  // team.
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
  std::vector<std::uint64_t> entered_;  // by rank: 1 + the generation in which it last waited
  std::vector<bool> returned_;          // by rank
  std::map<std::tuple<int, int, int>, std::deque<std::vector<float>>> messages_;  // from, to, tag
  bool failed_ = false;   // no further collective can complete
  bool spoiled_ = false;  // the current collective fails
  std::uint64_t split_generation_ = 0;
  std::map<int, std::shared_ptr<Team>> splits_;  // by colour, of the last split
  std::vector<std::weak_ptr<Team>> children_;
};

}  // namespace stowage::kernels
