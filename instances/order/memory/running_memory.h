// The memory of a graph while its operators run: the live bytes, the ready operators and the bytes
// that each of them needs.
//
//   OrderMemory memory(table);
//   while (...) { if (memory.live() + table.need(op) <= capacity) memory.run(op); }
//   memory.undo(op);             // the last one that ran
//   const Bytes peak = peak_of(table, order);
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/order/plan.h"
#include "instances/order/planning_table.h"

namespace stowage {

class OrderMemory {
 public:
  // `table` must outlive this object.
  explicit OrderMemory(const OrderTable& table) : table_(table), live_(table.at_start()) {
    left_.reserve(at(table.tensors()));
    for (int t = 0; t < table.tensors(); ++t) {
      left_.push_back(static_cast<int>(table.touchers(t).size()));
    }
    waits_.reserve(at(table.operators()));
    for (int op = 0; op < table.operators(); ++op) {
      waits_.push_back(static_cast<int>(table.before(op).size()));
    }
    done_.assign(at(table.operators()), false);
  }

  const OrderTable& table() const { return table_; }
  Bytes live() const { return live_; }
  bool done(int op) const { return done_[at(op)]; }
  bool ready(int op) const { return !done_[at(op)] && waits_[at(op)] == 0; }
  // Returns what the step needs while it runs; with tensors in table.in_place(op), at least that.
  Bytes need(int op) const { return live_ + table_.need(op); }

  // Returns by how many bytes a ready operator raises the live memory.
  Bytes growth(int op) const {
    Bytes growth = table_.keeps(op);
    for (const int t : table_.touched(op)) {
      if (left_[at(t)] == 1 && !table_.stays(t)) growth -= table_.size(t);
    }
    return growth;
  }
  // Returns by how many bytes the live memory falls if the last operator that ran is taken back.
  Bytes shrinkage(int op) const {
    Bytes shrinkage = -table_.keeps(op);
    for (const int t : table_.touched(op)) {
      if (left_[at(t)] == 0 && !table_.stays(t)) shrinkage += table_.size(t);
    }
    return shrinkage;
  }
  // Returns the number of operators that have still to touch the tensor.
  int touches_left(int tensor) const { return left_[at(tensor)]; }

  // Requires ready(op).
  void run(int op) {
    live_ += table_.keeps(op);
    for (const int t : table_.touched(op)) {
      if (--left_[at(t)] == 0 && !table_.stays(t)) live_ -= table_.size(t);
    }
    for (const int next : table_.behind(op)) --waits_[at(next)];
    done_[at(op)] = true;
  }
  // Requires that `op` ran, and that no operator that waits for `op` ran.
  void undo(int op) {
    done_[at(op)] = false;
    for (const int next : table_.behind(op)) ++waits_[at(next)];
    live_ -= table_.keeps(op);
    for (const int t : table_.touched(op)) {
      if (left_[at(t)]++ == 0 && !table_.stays(t)) live_ += table_.size(t);
    }
  }

 private:
  const OrderTable& table_;
  Bytes live_;
  std::vector<int> left_;
  std::vector<int> waits_;
  std::vector<char> done_;
};

// The two directions through an order, for searches that work in both: operators run one after
// another, or are taken back, the last first. A step needs the same memory in both.
class ForwardSteps {
 public:
  explicit ForwardSteps(OrderMemory& memory) : memory_(memory) {}

  Bytes live() const { return memory_.live(); }
  bool done(int op) const { return memory_.done(op); }
  bool ready(int op) const { return memory_.ready(op); }
  Bytes need(int op) const { return memory_.need(op); }
  Bytes growth(int op) const { return memory_.growth(op); }
  void run(int op) { memory_.run(op); }
  void undo(int op) { memory_.undo(op); }
  std::span<const int> next(int op) const { return memory_.table().behind(op); }
  // Returns whether the last step may have lowered the growth of the operators that touch this
  // tensor.
  bool changes(int tensor) const { return memory_.touches_left(tensor) == 1; }

 private:
  OrderMemory& memory_;
};

class BackwardSteps {
 public:
  explicit BackwardSteps(OrderMemory& memory) : memory_(memory) {}

  Bytes live() const { return memory_.live(); }
  bool done(int op) const { return !memory_.done(op); }
  bool ready(int op) const {
    return memory_.done(op) && std::ranges::none_of(memory_.table().behind(op), [this](int next) {
             return memory_.done(next);
           });
  }
  Bytes need(int op) const { return live() + growth(op) + memory_.table().need(op); }
  Bytes growth(int op) const { return memory_.shrinkage(op); }
  void run(int op) { memory_.undo(op); }
  void undo(int op) { memory_.run(op); }
  std::span<const int> next(int op) const { return memory_.table().before(op); }
  bool changes(int tensor) const { return memory_.touches_left(tensor) == 1; }

 private:
  OrderMemory& memory_;
};

// Returns the bytes that each step needs, counted from the last step to the first. Before an
// operator runs, its outputs need no memory, even if an earlier run made them. Neither does a
// tensor that is about to come back from the host. Requires an order that keeps all precedences, in
// which operators may run again, and transfers that verify() accepts.
inline std::vector<Bytes> needs_of(const OrderTable& table, std::span<const int> order,
                                   std::span<const OrderTransfer> transfers = {}) {
  std::vector<std::vector<int>> freed(transfers.empty() ? 0 : order.size());  // behind a step
  std::vector<std::vector<int>> back(freed.size());                           // at a step
  for (const OrderTransfer& transfer : transfers) {
    freed[at(transfer.freed - 1)].push_back(static_cast<int>(transfer.tensor));
    back[at(transfer.in)].push_back(static_cast<int>(transfer.tensor));
  }
  std::vector<bool> needed(at(table.tensors()));  // behind the step
  Bytes live = 0;
  for (int t = 0; t < table.tensors(); ++t) {
    needed[at(t)] = table.stays(t);
    if (needed[at(t)]) live += table.size(t);
  }
  const auto begins = [&](int t) {
    if (needed[at(t)]) live -= table.size(t);
    needed[at(t)] = false;
  };
  const auto ends = [&](int t) {
    if (!needed[at(t)]) live += table.size(t);
    needed[at(t)] = true;
  };
  std::vector<Bytes> needs(order.size());
  for (std::size_t k = order.size(); k-- > 0;) {
    if (!freed.empty()) std::ranges::for_each(freed[k], ends);
    for (const int t : table.written(order[k])) begins(t);
    // Counted before the tensors that the operator touches are marked: those it is the last to
    // touch are not needed behind the step.
    const auto ends_here = [&](int t) { return !needed[at(t)]; };
    Bytes reused = 0;
    for (const OrderReuse& its : table.reuses_at(order[k], ends_here)) {
      reused += table.size(static_cast<int>(its.tensor));
    }
    for (const int t : table.touched(order[k])) ends(t);
    needs[k] = live + table.added(order[k]) - reused;
    if (!back.empty()) std::ranges::for_each(back[k], begins);
  }
  return needs;
}

inline Bytes peak_of(const OrderTable& table, std::span<const int> order,
                     std::span<const OrderTransfer> transfers = {}) {
  Bytes peak = table.at_start();
  for (const Bytes need : needs_of(table, order, transfers)) peak = std::max(peak, need);
  return peak;
}

}  // namespace stowage
