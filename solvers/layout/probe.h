// One capacity, many orders: which order solves which instance quickly cannot be known beforehand,
// and the time an order takes is heavy-tailed. So two schedules share the nodes evenly.
//   - Static orders in turns. Every tree keeps its place between turns. First all orders have a short
//     turn: one that finds a layout often finds it almost without going back. Then few go deeper;
//     from round to round first more orders take part, then every one gets longer turns.
//   - Restarts that learn. Buffers that ran out of room, or whose sections did, in the trees before
//     go first in the next one; ties are broken by one static order after the other. Old failures
//     fade. Nodes per restart follow the sequence of Luby, Sinclair and Zuckerman (1993).
// The first tree that finds a layout or exhausts its space decides. Not for use outside the search.
// Source: weighted failures as in Boussemart, Hemery, Lecoutre and Sais (ECAI 2004).
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "instances/budget.h"
#include "solvers/layout/tree.h"

namespace stowage {

// The static orders that are tried, best first; equal ones once. Made when they are asked for.
class LayoutPortfolio {
 public:
  // `table` must outlive the portfolio.
  explicit LayoutPortfolio(const LayoutTable& table) : table_(table) {}

  // Order number i, or null if there are not so many. Stays valid.
  const std::vector<int>* order(std::size_t i);
  std::size_t known() const { return orders_.size(); }

 private:
  const LayoutTable& table_;
  std::set<std::vector<int>> known_;
  std::vector<const std::vector<int>*> orders_;
  std::size_t next_key_ = 0;
};

class LayoutProbe {
 public:
  // The arguments must outlive the probe. `favourite`: the number of the order that comes first.
  LayoutProbe(const LayoutTable& table, const LayoutNeighbours& neighbours,
              LayoutPortfolio& portfolio, Bytes capacity, std::size_t favourite,
              const LayoutSearchParams& params);

  Bytes capacity() const { return capacity_; }
  std::int64_t nodes() const { return nodes_; }  // of all orders

  // A few more turns, or as much of them as the budget allows.
  LayoutTree::End round(Budget& budget);

  // Once there is a layout.
  std::vector<Bytes> offsets() const { return (learnt_ ? *restart_ : *trees_[turn_]).offsets(); }
  // Once it is decided: the number of the static order that did, alone or beneath what was learnt.
  std::size_t winner() const { return learnt_ ? restart_order_ : number(turn_); }

 private:
  // Of the order of a turn.
  std::size_t number(std::size_t turn) const {
    if (turn == 0) return favourite_;
    return turn <= favourite_ ? turn - 1 : turn;
  }
  bool has_tree(std::size_t turn);
  void next_round();
  std::int64_t run(LayoutTree& tree, std::int64_t nodes, Budget& budget);
  void run_restart(Budget& budget);
  std::vector<int> learnt_order();
  void learn();

  const LayoutSearchParams& params_;
  const LayoutTable& table_;
  const LayoutNeighbours& neighbours_;
  LayoutPortfolio& portfolio_;
  Bytes capacity_;
  std::size_t favourite_;
  std::unique_ptr<FailedStates> failed_;            // that all trees have found
  std::vector<std::unique_ptr<LayoutTree>> trees_;  // made when their first turn comes
  std::size_t most_trees_;
  std::size_t width_;  // trees that take part in this round
  std::size_t turn_ = 0;
  std::int64_t clock_nodes_;
  std::int64_t turn_nodes_;
  std::int64_t turn_left_;
  int round_ = 0;
  std::int64_t nodes_ = 0;
  // Restarts.
  std::unique_ptr<LayoutTree> restart_;
  std::int64_t restarts_ = 0;
  std::size_t restart_order_ = 0;
  std::int64_t restart_left_ = 0;
  std::int64_t restart_nodes_ = 0;  // of all
  std::vector<double> buffer_failures_;
  std::vector<double> section_failures_;
  LayoutTree::End end_ = LayoutTree::End::open;  // of the last run
  bool learnt_ = false;                          // a restart decided
};

}  // namespace stowage
