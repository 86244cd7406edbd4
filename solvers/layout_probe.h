// One capacity, several static orders: which order solves which instance quickly cannot be known
// beforehand, so all of them search in turns.
//
// Every tree keeps its place between turns; a turn of round r is 2^r times the first one, so that
// no more than a constant factor is lost against the best order alone. The first tree that finds a
// layout or exhausts its space decides. Not for use outside the search.
#pragma once

#include <memory>
#include <vector>

#include "instances/budget.h"
#include "solvers/layout_tree.h"

namespace stowage {

class LayoutProbe {
 public:
  // The arguments must outlive the probe. `orders` as made by portfolio().
  LayoutProbe(const LayoutTable& table, const LayoutNeighbours& neighbours,
              const std::vector<std::vector<int>>& orders, Bytes capacity);

  Bytes capacity() const { return capacity_; }

  // One more round, or as much of it as the budget allows.
  LayoutTree::End round(Budget& budget);

  // Once there is a layout.
  std::vector<Bytes> offsets() const { return trees_[turn_]->offsets(); }

  // The static orders that are tried, best first; equal ones once.
  static std::vector<std::vector<int>> portfolio(const LayoutTable& table);

 private:
  const LayoutTable& table_;
  const LayoutNeighbours& neighbours_;
  const std::vector<std::vector<int>>& orders_;
  Bytes capacity_;
  std::vector<std::unique_ptr<LayoutTree>> trees_;  // made when their first turn comes
  std::size_t turn_ = 0;
  std::int64_t turn_nodes_;
  std::int64_t turn_left_;
};

}  // namespace stowage
