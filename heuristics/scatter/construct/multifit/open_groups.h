// The open groups of one configuration in a micro-batch, from which a packing takes the first with
// enough room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "instances/units.h"

namespace stowage {

// The groups of one configuration in the order of their opening, with their remaining time and
// memory. A segment tree finds the first group with enough of both.
class OpenGroups {
 public:
  int first(Ms time, Tokens tokens) const { return count_ == 0 ? -1 : first(1, time, tokens); }

  // Opens a group and returns its slot. `name` is the caller's index of the group.
  int open(Ms time, Tokens tokens, std::int64_t sequences, std::size_t name) {
    if (count_ == leaves_) grow();
    set(count_, time, tokens);
    left_.push_back(sequences);
    names_.push_back(name);
    return count_++;
  }

  std::size_t name(int slot) const { return names_[static_cast<std::size_t>(slot)]; }

  struct Room {
    Ms time = -1;
    Tokens tokens = -1;
  };
  const Room& room(int slot) const { return rooms_[leaf(slot)]; }

  // Returns the largest remaining time and the largest remaining tokens, possibly of different
  // groups.
  Room most() const { return count_ == 0 ? Room{} : rooms_[1]; }

  // Returns how many more sequences the group may hold.
  std::int64_t left(int slot) const { return left_[static_cast<std::size_t>(slot)]; }
  void take(int slot, Ms time, Tokens tokens, std::size_t copies) {
    const std::int64_t left = left_[static_cast<std::size_t>(slot)] -=
        static_cast<std::int64_t>(copies);
    if (left == 0) {
      set(slot, -1, -1);
    } else {
      set(slot, room(slot).time - time, room(slot).tokens - tokens);
    }
  }

  // Stops the group from taking more sequences.
  void close(int slot) { set(slot, -1, -1); }

  // Returns the slots of the two open groups with the most free tokens. A missing slot is -1.
  std::pair<int, int> roomiest() const {
    std::pair<int, int> two{-1, -1};
    const auto tokens = [&](int slot) { return slot < 0 ? -1 : room(slot).tokens; };
    for (int slot = 0; slot < count_; ++slot) {
      if (tokens(slot) > tokens(two.first)) {
        two = {slot, two.first};
      } else if (tokens(slot) > tokens(two.second)) {
        two.second = slot;
      }
    }
    return two;
  }

  void clear() {
    if (count_ == 0) return;
    std::ranges::fill(rooms_, Room{});
    names_.clear();
    left_.clear();
    count_ = 0;
  }

 private:
  std::size_t leaf(int slot) const {
    return static_cast<std::size_t>(leaves_) + static_cast<std::size_t>(slot);
  }

  // Returns the first slot in the subtree of `node` with enough time and tokens, or -1. The maxima
  // of a node may belong to different groups.
  int first(int node, Ms time, Tokens tokens) const {
    const Room& room = rooms_[static_cast<std::size_t>(node)];
    if (room.time < time || room.tokens < tokens) return -1;
    if (node >= leaves_) return node - leaves_;
    const int left = first(2 * node, time, tokens);
    return left >= 0 ? left : first(2 * node + 1, time, tokens);
  }

  void set(int slot, Ms time, Tokens tokens) {
    std::size_t node = leaf(slot);
    rooms_[node] = {time, tokens};
    while (node /= 2) {
      const Room& left = rooms_[2 * node];
      const Room& right = rooms_[2 * node + 1];
      rooms_[node] = {std::max(left.time, right.time), std::max(left.tokens, right.tokens)};
    }
  }

  void grow() {
    const std::vector<Room> old(rooms_.end() - leaves_, rooms_.end());
    leaves_ = std::max(4, 2 * leaves_);
    rooms_.assign(2 * static_cast<std::size_t>(leaves_), {});
    for (int slot = 0; slot < count_; ++slot) {
      const Room& room = old[static_cast<std::size_t>(slot)];
      set(slot, room.time, room.tokens);
    }
  }

  int leaves_ = 0;
  int count_ = 0;
  std::vector<Room> rooms_;
  std::vector<std::size_t> names_;
  std::vector<std::int64_t> left_;  // sequences
};

}  // namespace stowage
