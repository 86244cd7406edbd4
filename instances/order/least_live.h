// The least live memory that operators can leave behind, as a minimum cut.
//
// What is live after a set of operators that holds whatever its members need (a downset) is
// submodular: live(A and B) + live(A or B) <= live(A) + live(B). The least of all downsets between
// two is therefore a minimum cut, and the downsets that reach it have a largest one
// (formulations/README.md, "Live memory is submodular").
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

#include "instances/order/memory.h"
#include "instances/order/table.h"

namespace stowage {

// Whether an operator is in a downset: it must be, it must not be, or that is to be found.
enum class OrderSide : signed char { out = -1, open = 0, in = 1 };

class LeastLive {
 public:
  static constexpr int kEnd = -1;  // in place of an operator: whoever keeps an output

  explicit LeastLive(const OrderTable& table);

  // [tensor, operator or kEnd, bytes] and [operator, one before it, bytes].
  using Arcs = std::vector<std::array<std::int64_t, 3>>;
  struct Cut {
    Bytes live = 0;         // of the least downset
    std::vector<int> open;  // members of the largest such downset among the open operators
    Arcs tensors;           // a flow of that value
    Arcs precedences;
  };

  // Over all tensors, with a flow. `side` has an entry per operator; what must be in is a downset,
  // and so is what need not be out. O(V^2 E) at worst, near linear in practice.
  Cut between(const std::vector<OrderSide>& side);

  // The same with more operators on one side: all of `ops`, which were open, with all that it
  // takes for them to be there. Goes on from the flow of the last between(), which it leaves as it
  // was. Without members where `enough` bytes or more are live.
  struct Narrowed {
    Bytes live = 0;         // at least, if it is enough
    std::vector<int> open;  // members of the largest such downset among the open operators
  };
  Narrowed narrowed(std::span<const int> ops, OrderSide side, Bytes enough);

  // The largest least downset between what `memory` has done without `open`, and with all of it,
  // without a flow: its members among `open`, all of which must have run. Only what touches the
  // open operators is looked at.
  std::vector<int> largest_least(std::span<const int> open, const OrderMemory& memory);
  // The members of `open` outside the smallest such downset, where none of `open` has run.
  std::vector<int> outside_smallest_least(std::span<const int> open, const OrderMemory& memory);

 private:
  static constexpr int kSource = 0;
  static constexpr int kSink = 1;
  static constexpr int kNone = -1;

  struct Arc {
    int to = 0;
    int next = kNone;  // of the same tail
    Bytes room = 0;
  };
  // Which arc is which flow.
  struct Named {
    int arc = 0;
    int from = 0;  // a tensor or an operator
    int to = 0;    // an operator or kEnd
  };

  void begin();
  int new_node();
  int add_arc(int from, int to, Bytes room);
  void add_operator(int op);
  template <class Side>
  void add_tensor(int t, Side side);
  void add_precedence(int op, int first);
  void push_all(Bytes enough);
  bool label();
  Bytes push(int node, Bytes most);
  void cut_between(std::span<const int> open, const OrderMemory& memory);
  std::vector<int> on_source_side() const;

  const OrderTable& table_;
  std::vector<OrderSide> side_;  // of largest_least(); `out` in between
  std::vector<int> node_of_;     // of an operator; kNone if it is not open
  std::vector<int> seen_;        // by tensor: the round in which it was added
  int round_ = 0;
  std::vector<int> open_;   // operators that have a node
  std::vector<int> first_;  // arc of a node
  std::vector<Arc> arcs_;   // each followed by its reverse
  // Of narrowed(): what they were.
  std::vector<int> first_before_;
  std::vector<Arc> arcs_before_;
  std::vector<int> level_;  // of a node, from the sink
  std::vector<int> turn_;   // next arc of a node to try
  std::vector<Named> tensor_arcs_;
  std::vector<Named> precedence_arcs_;
  Bytes sure_ = 0;  // live whatever is chosen
  Arcs sure_flow_;
  Bytes value_ = 0;
};

}  // namespace stowage
