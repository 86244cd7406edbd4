// The least live memory that operators can leave behind, as a minimum cut.
//
// A downset is a set of operators that holds every operator its members need. The memory that is
// live after a downset is submodular: live(A and B) + live(A or B) <= live(A) + live(B). The least
// live memory of all downsets between two is therefore a minimum cut, and one of the least downsets
// contains all others (docs/theory/order.md, "Live memory is submodular").
//
//   LeastLive least(table);
//   const LeastLive::Cut cut = least.between(side);
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "instances/order/memory/flow_network.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"

namespace stowage {

// The side of an operator: not in the downset (out), in it (in), or the search decides (open).
enum class OrderSide : signed char { out = -1, open = 0, in = 1 };

class LeastLive {
 public:
  static constexpr int kEnd = -1;  // in place of an operator: the end, which keeps the outputs

  explicit LeastLive(const OrderTable& table);

  // [tensor, operator or kEnd, bytes] and [operator, operator before it, bytes].
  using Arcs = std::vector<std::array<std::int64_t, 3>>;
  struct Cut {
    Bytes live = 0;         // of the least downset
    std::vector<int> open;  // members of the largest such downset among the open operators
    Arcs tensors;           // a flow of that value
    Arcs precedences;
  };

  // Returns the least downset of the whole graph, with a flow. `side` has an entry per operator.
  // The operators that are `in` must be a downset, and so must those that are `in` or `open`. O(V^2
  // E) at worst, near linear in practice.
  Cut between(const std::vector<OrderSide>& side);

  // Returns the least downset if all of `ops`, which were open, are put on one side, with every
  // operator that this implies. It extends the flow of the last between() and restores that flow.
  // If `enough` bytes or more are live, the members are not listed.
  struct Narrowed {
    Bytes live = 0;         // a lower bound if it is `enough` or more
    std::vector<int> open;  // members of the largest such downset among the open operators
  };
  Narrowed narrowed(std::span<const int> ops, OrderSide side, Bytes enough);

  // Return members of the least downsets between the operators that `memory` has run, without
  // `open`, and the same with all of `open`. Only tensors that the open operators touch are read,
  // and no flow is returned. This one returns the members of the largest least downset among
  // `open`, all of which must have run.
  std::vector<int> largest_least(std::span<const int> open, const OrderMemory& memory);
  // Returns the members of `open` outside the smallest least downset. Requires that none of `open`
  // has run.
  std::vector<int> outside_smallest_least(std::span<const int> open, const OrderMemory& memory);

 private:
  static constexpr int kNone = FlowNetwork::kNone;

  // Connects an arc of the network with its entry of the flow.
  struct Named {
    int arc = 0;
    int from = 0;  // a tensor or an operator
    int to = 0;    // an operator or kEnd
  };

  void begin();
  void add_operator(int op);
  template <class Side>
  void add_tensor(int t, Side side);
  void add_precedence(int op, int first);
  void cut_between(std::span<const int> open, const OrderMemory& memory);
  std::vector<int> on_source_side() const;

  const OrderTable& table_;
  std::vector<OrderSide> side_;  // for largest_least(); `out` between calls
  std::vector<int> node_of_;     // of an operator; kNone if it is not open
  std::vector<int> seen_;        // by tensor: the round in which it was added
  int round_ = 0;
  std::vector<int> open_;  // operators that have a node
  FlowNetwork network_;
  FlowNetwork::Saved before_;  // the network before narrowed() changed it
  std::vector<Named> tensor_arcs_;
  std::vector<Named> precedence_arcs_;
  Bytes sure_ = 0;  // live bytes of every downset
  Arcs sure_flow_;
};

}  // namespace stowage
