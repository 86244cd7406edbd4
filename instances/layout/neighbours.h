// Lists of the buffers that conflict with each buffer and of the buffers of each section.
//
// A trace of 100,000 buffers may hold billions of conflicting pairs, so count them before listing
// them.
//
//   if (count_pairs(table) <= 5'000'000) {
//     const LayoutNeighbours neighbours(table);
//     for (int other : neighbours.of(b)) ...
//   }
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/layout/planning_table.h"

namespace stowage {

// Returns the number of pairs whose section hulls meet: the conflicting pairs, and with gaps a few
// more. O(n + sections).
std::int64_t count_pairs(const LayoutTable& table);

// Returns, for each buffer, the number of other buffers whose hulls meet its hull.
std::vector<int> overlaps(const LayoutTable& table);

class LayoutNeighbours {
 public:
  // Takes O(n log n + pairs) time and at most 16 bytes per pair: with every further section a
  // buffer gains a neighbour.
  explicit LayoutNeighbours(const LayoutTable& table);

  // Returns the conflicting buffers in ascending order.
  std::span<const int> of(int b) const {
    const auto i = static_cast<std::size_t>(b);
    return std::span(all_).subspan(first_[i], first_[i + 1] - first_[i]);
  }

  // Returns the buffers that need memory in a section, in ascending order.
  std::span<const int> in(int section) const {
    const auto s = static_cast<std::size_t>(section);
    return std::span(members_).subspan(first_member_[s], first_member_[s + 1] - first_member_[s]);
  }

 private:
  void list_members(const LayoutTable& table);

  std::vector<std::size_t> first_;
  std::vector<int> all_;
  std::vector<std::size_t> first_member_;
  std::vector<int> members_;
};

}  // namespace stowage
