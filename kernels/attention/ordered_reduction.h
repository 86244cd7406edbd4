// Ordered reduction: the query heads of a group add to the gradients of their kv head in head
// order.
//
//   OrderedReduction turns(groups);
//   turns.await(group, head);  // heads 0 to head - 1 have added
//   ...                        // add
//   turns.pass(group);
//
// A sum of floats depends on the order of its terms. With turns the order is that of the heads, for
// any assignment of heads to threads. The heads of a group must be claimed in ascending order. Then
// an awaited head is always running or done, and await() cannot deadlock.
//
// Thread safety: all functions may be called concurrently; each head of a group calls pass() once.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

namespace stowage::kernels {

class OrderedReduction {
 public:
  explicit OrderedReduction(std::size_t groups) : added_(groups) {}

  // Blocks until `head` heads of the group have called pass().
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
