// The order in which the query heads of a group add to the gradients of their kv head.
//
//   HeadTurns turns(groups);
//   turns.await(group, head);  // heads 0 to head - 1 have added
//   ...                        // add
//   turns.pass(group);
//
// Sums of floats depend on their order: with turns it is that of the heads, whichever thread has
// which of them. Whoever computes a head comes before whoever computes a later one of its group, so
// that the awaited threads are at work or done.
//
// Thread safety: all functions may be called at once; each head of a group passes once.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

namespace stowage::kernels {

class HeadTurns {
 public:
  explicit HeadTurns(std::size_t groups) : added_(groups) {}

  // Sleeps until `head` heads of the group have passed.
  void await(std::size_t group, int head) {
    for (int now = added_[group]; now < head; now = added_[group]) added_[group].wait(now);
  }
  void pass(std::size_t group) {
    ++added_[group];
    added_[group].notify_all();
  }

 private:
  std::vector<std::atomic<int>> added_;  // heads of each group that have added
};

}  // namespace stowage::kernels
