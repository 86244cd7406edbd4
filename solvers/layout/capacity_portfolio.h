// Searches one capacity with many orders. The order that solves an instance quickly cannot be
// predicted, and the time of an order is heavy-tailed. Therefore two schedules share the nodes
// evenly:
//   - Static orders in turns. Every tree keeps its state between turns. First all orders have a
//     short turn, because an order that finds a layout often finds it almost without backtracking.
//     Then a few orders search deeper: from round to round, alternately more orders take part and
//     every order gets longer turns.
//   - Restarts that learn. Buffers that ran out of room in earlier trees, or whose sections did,
//     come first in the next tree; the static orders break ties in turn. Old failures fade. The
//     nodes per restart follow the sequence of Luby, Sinclair and Zuckerman (1993).
// The first tree that finds a layout or exhausts its space decides. The file is private to the
// search. Source: weighted failures as in Boussemart, Hemery, Lecoutre and Sais (ECAI 2004).
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "instances/budget.h"
#include "solvers/layout/tree/tree.h"

namespace stowage {

// The static orders to try, best first, without duplicates. Each order is computed on its first
// use.
class LayoutPortfolio {
 public:
  // `table` must outlive the portfolio.
  explicit LayoutPortfolio(const LayoutTable& table) : table_(table) {}

  // Returns order number i, or null if fewer orders exist. The pointer stays valid.
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
  // The arguments must outlive this object. `favourite` is the number of the order that comes
  // first.
  LayoutProbe(const LayoutTable& table, const LayoutNeighbours& neighbours,
              LayoutPortfolio& portfolio, Bytes capacity, std::size_t favourite,
              const LayoutSearchParams& params);

  Bytes capacity() const { return capacity_; }
  std::int64_t nodes() const { return nodes_; }  // nodes of all trees

  // Runs a few more turns, within the budget. Returns the result of the last tree that ran.
  LayoutTree::End round(Budget& budget);

  // Returns the offsets of the layout found. Requires that a tree has found one.
  std::vector<Bytes> offsets() const { return (learnt_ ? *restart_ : *trees_[turn_]).offsets(); }
  // Returns the number of the static order that decided, alone or as the tie-breaker of a restart.
  // Requires a decision.
  std::size_t winner() const { return learnt_ ? restart_order_ : number(turn_); }

 private:
  // Returns the number of the static order for a turn.
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
  std::unique_ptr<FailedStates> failed_;            // failed states found by all trees
  std::vector<std::unique_ptr<LayoutTree>> trees_;  // created at their first turn
  std::size_t most_trees_;
  std::size_t width_;  // number of trees that take part in this round
  std::size_t turn_ = 0;
  std::int64_t clock_nodes_;
  std::int64_t turn_nodes_;
  std::int64_t turn_left_;
  int round_ = 0;
  std::int64_t nodes_ = 0;
  // The members below belong to the restarts.
  std::unique_ptr<LayoutTree> restart_;
  std::int64_t restarts_ = 0;
  std::size_t restart_order_ = 0;
  std::int64_t restart_left_ = 0;
  std::int64_t restart_nodes_ = 0;  // nodes of all restarts
  std::vector<double> buffer_failures_;
  std::vector<double> section_failures_;
  LayoutTree::End end_ = LayoutTree::End::open;  // result of the last run
  bool learnt_ = false;                          // true if a restart decided
};

}  // namespace stowage
