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
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
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
  explicit Team(int size) : size_(size), posts_(size) {}

  int size() const { return size_; }
  const Post& post(int rank) const { return posts_[rank]; }

  // Posts and waits for everyone. Throws if that can no longer happen.
  void enter(int rank, const Post& mine);

  // Waits for everyone who entered. They all come.
  void meet();

  // Ends a collective; `fault` (empty for none) fails it on every rank.
  void leave(const std::string& fault);

  // No further collective can complete, here or in a team that was split off.
  void fail();
  void rank_returned();

  // The team of `size` ranks for a colour, the same for all who ask during one collective.
  std::shared_ptr<Team> split_off(int colour, int size);

 private:
  bool arrive();
  void refuse_if_broken() const;

  const int size_;
  std::vector<Post> posts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  int returned_ = 0;
  std::uint64_t generation_ = 0;
  bool failed_ = false;   // no further collective can complete
  bool spoiled_ = false;  // the collective under way is at fault
  std::uint64_t split_generation_ = 0;
  std::map<int, std::shared_ptr<Team>> splits_;  // by colour, of the last split
  std::vector<std::weak_ptr<Team>> children_;
};

}  // namespace stowage::kernels
