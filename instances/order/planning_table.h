// A graph as planners read it: the tensors of each operator, its predecessors and successors, and
// sizes rounded up.
//
//   const OrderTable table(instance);
//   for (const int t : table.touched(op)) ...      // read or updated, each once
//   table.need(op)                                 // the least that op adds to what is live
//
// Thread safety: does not change after its construction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "instances/order/instance.h"
#include "instances/order/plan.h"

namespace stowage {

class OrderTable {
 public:
  static constexpr int kNobody = -1;

  // Requires a valid instance, as the reader returns it. If sizes grow with the length, the table
  // has those of the longest length.
  explicit OrderTable(const OrderInstance& instance);
  // The table has the sizes at `length`, which must be in the range of the instance.
  OrderTable(const OrderInstance& instance, Tokens length);

  int operators() const { return static_cast<int>(need_.size()); }
  int tensors() const { return static_cast<int>(size_.size()); }

  Bytes size(int tensor) const { return size_[index(tensor)]; }
  int producer(int tensor) const { return producer_[index(tensor)]; }  // kNobody of an input
  std::span<const int> touchers(int tensor) const { return touchers_.of(tensor); }
  // Returns whether the tensor stays to the end: it is an output, or an input that no operator
  // touches and hence none frees.
  bool stays(int tensor) const { return stays_[index(tensor)]; }

  std::span<const int> touched(int op) const { return touched_.of(op); }
  std::span<const int> written(int op) const { return written_.of(op); }
  std::span<const int> before(int op) const { return before_.of(op); }
  std::span<const int> behind(int op) const { return behind_.of(op); }

  // Returns the tensors whose memory an output of `op` may take; each once.
  std::span<const int> in_place(int op) const { return in_place_.of(op); }
  // Returns the outputs of `op` that take the memory of a tensor in in_place(op) for which
  // ends(tensor) holds. Each output, in ascending order, takes that of the first tensor of its size
  // that is left. As only equal sizes match, no other choice saves more bytes.
  template <class Ends>
  std::vector<OrderReuse> reuses_at(int op, const Ends& ends) const {
    std::vector<OrderReuse> reuses;
    if (in_place(op).empty()) return reuses;
    std::vector<int> left;
    for (const int t : in_place(op)) {
      if (ends(t)) left.push_back(t);
    }
    for (const int made : written(op)) {
      const auto on = std::ranges::find(left, size(made), [this](int t) { return size(t); });
      if (on == left.end()) continue;
      reuses.push_back({.tensor = made, .on = *on});
      left.erase(on);
    }
    return reuses;
  }
  // Returns the bytes of its outputs and workspace.
  Bytes added(int op) const { return added_[index(op)]; }
  // Returns the least that `op` adds to the live memory in any order: what it adds if all tensors
  // of in_place() end with it. Without such tensors, added().
  Bytes need(int op) const { return need_[index(op)]; }
  Bytes keeps(int op) const { return keeps_[index(op)]; }  // bytes of its outputs that outlive it
  Ms ms(int op) const { return ms_[index(op)]; }
  bool may_rerun(int op) const { return reruns_[index(op)]; }
  // Returns the updates of tensors that `op` touches or writes behind which `op` may not run again.
  // They change tensors that its earlier run read or made.
  std::span<const int> closed_by(int op) const { return closed_by_.of(op); }
  // Returns whether an output of any operator may take the memory of another tensor.
  bool reuses() const { return !in_place_.all.empty(); }
  bool recomputes() const { return recomputes_; }  // whether any operator may run again
  const std::optional<HostLink>& host() const { return host_; }
  Ms work_ms() const { return work_ms_; }  // of all operators, each once

  Bytes at_start() const { return at_start_; }  // live before the first operator
  Bytes at_end() const { return at_end_; }      // live after the last one

  // The operators in the order of the list, or the first order after it that keeps all
  // precedences.
  const std::vector<int>& program_order() const { return program_; }

 private:
  // Lists of integers, one behind another.
  struct Lists {
    std::vector<std::size_t> first = {0};
    std::vector<int> all;

    std::span<const int> of(int i) const {
      return std::span(all).subspan(first[index(i)], first[index(i) + 1] - first[index(i)]);
    }
    void add(const std::vector<int>& list) {
      all.insert(all.end(), list.begin(), list.end());
      first.push_back(all.size());
    }
    // Returns, for each number below `count`, the lists that contain it.
    Lists inverse(std::size_t count) const;
  };
  void list_reruns(const OrderInstance& instance);
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  std::vector<Bytes> size_;
  std::vector<int> producer_;
  std::vector<bool> stays_;
  Lists touchers_;
  Lists touched_;
  Lists written_;
  Lists before_;
  Lists behind_;
  Lists in_place_;
  std::vector<Bytes> added_;
  std::vector<Bytes> need_;
  std::vector<Bytes> keeps_;
  std::vector<Ms> ms_;
  std::vector<bool> reruns_;
  Lists closed_by_;
  bool recomputes_ = false;
  std::optional<HostLink> host_;
  Ms work_ms_ = 0;
  Bytes at_start_ = 0;
  Bytes at_end_ = 0;
  std::vector<int> program_;
};

}  // namespace stowage
