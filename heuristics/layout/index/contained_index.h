// Index of ranges that finds the range of least rank inside a window.
//
// The index is a Fenwick tree over the starts. Each node holds its ranges sorted by end, with a
// segment tree of least ranks: O(n log n) space and construction time, O(log^2 n) per query or
// change.
//
//   ContainedIndex index({{0, 2}, {1, 3}}, 3, budget);  // rank 0 and rank 1, of 3 sections
//   index.least({1, 3});                        // 1
//   index.erase(1);
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "instances/budget.h"
#include "instances/layout/planning_table.h"

namespace stowage {

class ContainedIndex {
 public:
  static constexpr int kNone = std::numeric_limits<int>::max();

  // The rank of a range is its index. All ranges lie within [0, sections), and all are present at
  // first. If the budget ends during construction, complete() is false and the index must not be
  // used.
  ContainedIndex(std::vector<SectionRange> ranges, int sections, const Budget& budget);

  bool complete() const { return complete_; }

  // Returns the least rank of a present range inside the window, or kNone if the window contains no
  // present range.
  int least(SectionRange window) const;
  void erase(int rank) { set(rank, kNone); }
  void insert(int rank) { set(rank, rank); }

 private:
  using Entry = std::pair<int, int>;  // end of the range, rank
  // Fenwick nodes are numbered from 1, starting with the last section.
  int slot(int first) const { return sections_ - first; }
  void set(int rank, int value);

  bool complete_ = false;
  int sections_;
  std::vector<SectionRange> ranges_;
  std::vector<std::size_t> node_;  // index of the first entry of each node
  std::vector<Entry> entries_;     // entries of all nodes, ascending within a node
  // segment trees: a node with k entries has 2 k numbers, its leaves from k on
  std::vector<int> tree_;
};

}  // namespace stowage
