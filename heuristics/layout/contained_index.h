// Ranges by rank, and the question: which range of least rank lies inside a window?
//
// A Fenwick tree over the starts, whose nodes hold their ranges by end with a tree of least ranks:
// O(n log n) space and building, O(log^2 n) per question or change.
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
#include "instances/layout/table.h"

namespace stowage {

class ContainedIndex {
 public:
  static constexpr int kNone = std::numeric_limits<int>::max();

  // The rank of a range is its index. All ranges lie within [0, sections) and are present. If the
  // budget ends first, the index is not complete() and good for nothing.
  ContainedIndex(std::vector<SectionRange> ranges, int sections, const Budget& budget);

  bool complete() const { return complete_; }

  // The least rank of a present range inside the window, or kNone.
  int least(SectionRange window) const;
  void erase(int rank) { set(rank, kNone); }
  void insert(int rank) { set(rank, rank); }

 private:
  using Entry = std::pair<int, int>;  // end of the range, rank
  // Fenwick nodes count starts from the last section downwards, from 1.
  int slot(int first) const { return sections_ - first; }
  void set(int rank, int value);

  bool complete_ = false;
  int sections_;
  std::vector<SectionRange> ranges_;
  std::vector<std::size_t> node_;  // where the entries of a node begin
  std::vector<Entry> entries_;     // of each node, ascending
  std::vector<int> tree_;          // of a node with k entries: 2 k numbers, leaves from k
};

}  // namespace stowage
