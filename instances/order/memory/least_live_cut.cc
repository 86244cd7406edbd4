#include "instances/order/memory/least_live_cut.h"

#include <algorithm>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr Bytes kNoLimit = FlowNetwork::kNoLimit;

}  // namespace

LeastLive::LeastLive(const OrderTable& table)
    : table_(table),
      side_(at(table.operators()), OrderSide::out),
      node_of_(at(table.operators()), kNone),
      seen_(at(table.tensors()), 0) {}

void LeastLive::begin() {
  for (const int op : open_) node_of_[at(op)] = kNone;
  ++round_;
  open_.clear();
  network_.clear();
  tensor_arcs_.clear();
  precedence_arcs_.clear();
  sure_ = 0;
  sure_flow_.clear();
}

void LeastLive::add_operator(int op) {
  node_of_[at(op)] = network_.new_node();
  open_.push_back(op);
}

// A tensor is on the source side only if all operators that touch it are. Otherwise it is live, and
// its arc from the producer is cut.
template <class Side>
void LeastLive::add_tensor(int t, Side side) {
  if (seen_[at(t)] == round_ || table_.size(t) == 0) return;
  seen_[at(t)] = round_;
  const int producer = table_.producer(t);
  const OrderSide made = producer == OrderTable::kNobody ? OrderSide::in : side(producer);
  if (made == OrderSide::out) return;
  bool waits = false;  // for an operator that has not run
  int waiter = kEnd;   // that operator
  bool open = false;
  for (const int op : table_.touchers(t)) {
    open = open || side(op) == OrderSide::open;
    if (waits || side(op) != OrderSide::out) continue;
    waits = true;
    waiter = op;
  }
  waits = waits || table_.stays(t);
  if (!waits && !open) return;
  if (made == OrderSide::in && waits) {
    sure_ += table_.size(t);
    sure_flow_.push_back({t, waiter, table_.size(t)});
    return;
  }
  const int node = network_.new_node();
  network_.add_arc(made == OrderSide::in ? FlowNetwork::kSource : node_of_[at(producer)], node,
                   table_.size(t));
  if (waits) {
    tensor_arcs_.push_back({network_.add_arc(node, FlowNetwork::kSink, kNoLimit), t, waiter});
    return;
  }
  for (const int op : table_.touchers(t)) {
    if (side(op) != OrderSide::open) continue;
    tensor_arcs_.push_back({network_.add_arc(node, node_of_[at(op)], kNoLimit), t, op});
  }
}

void LeastLive::add_precedence(int op, int first) {
  precedence_arcs_.push_back(
      {network_.add_arc(node_of_[at(op)], node_of_[at(first)], kNoLimit), op, first});
}

// Returns the largest least downset: all operators that cannot reach the sink. push_all() ends with
// labels on all nodes that can.
std::vector<int> LeastLive::on_source_side() const {
  std::vector<int> members;
  for (const int op : open_) {
    if (!network_.reaches_sink(node_of_[at(op)])) members.push_back(op);
  }
  return members;
}

void LeastLive::cut_between(std::span<const int> open, const OrderMemory& memory) {
  begin();
  for (const int op : open) {
    side_[at(op)] = OrderSide::open;
    add_operator(op);
  }
  const auto side_of = [&](int op) {
    if (side_[at(op)] == OrderSide::open) return OrderSide::open;
    return memory.done(op) ? OrderSide::in : OrderSide::out;
  };
  for (const int op : open) {
    for (const int t : table_.written(op)) add_tensor(t, side_of);
    for (const int t : table_.touched(op)) add_tensor(t, side_of);
    for (const int first : table_.before(op)) {
      if (side_of(first) == OrderSide::open) add_precedence(op, first);
    }
  }
  network_.push_all();
  for (const int op : open) side_[at(op)] = OrderSide::out;
}

std::vector<int> LeastLive::largest_least(std::span<const int> open, const OrderMemory& memory) {
  cut_between(open, memory);
  return on_source_side();
}

// Returns the members outside the smallest least downset, which holds all operators that the source
// reaches.
std::vector<int> LeastLive::outside_smallest_least(std::span<const int> open,
                                                   const OrderMemory& memory) {
  cut_between(open, memory);
  const std::vector<char> reached = network_.reached_from_source();
  std::vector<int> outside;
  for (const int op : open_) {
    if (reached[at(node_of_[at(op)])] == 0) outside.push_back(op);
  }
  return outside;
}

LeastLive::Cut LeastLive::between(const std::vector<OrderSide>& side) {
  begin();
  const auto side_of = [&](int op) { return side[at(op)]; };
  for (int op = 0; op < table_.operators(); ++op) {
    if (side_of(op) == OrderSide::open) add_operator(op);
  }
  for (int t = 0; t < table_.tensors(); ++t) add_tensor(t, side_of);
  for (const int op : open_) {
    for (const int first : table_.before(op)) {
      if (side_of(first) == OrderSide::open) add_precedence(op, first);
    }
  }
  network_.push_all();
  Cut cut{.live = sure_ + network_.value(), .open = on_source_side(), .tensors = sure_flow_};
  const auto flow = [&](const Named& named) { return network_.flow(named.arc); };
  for (const Named& named : tensor_arcs_) {
    if (flow(named) > 0) cut.tensors.push_back({named.from, named.to, flow(named)});
  }
  for (const Named& named : precedence_arcs_) {
    if (flow(named) > 0) cut.precedences.push_back({named.from, named.to, flow(named)});
  }
  return cut;
}

LeastLive::Narrowed LeastLive::narrowed(std::span<const int> ops, OrderSide side, Bytes enough) {
  network_.save(before_);
  for (const int op : ops) {
    const int node = node_of_[at(op)];
    if (side == OrderSide::in) {
      network_.add_arc(FlowNetwork::kSource, node, kNoLimit);
    } else {
      network_.add_arc(node, FlowNetwork::kSink, kNoLimit);
    }
  }
  network_.push_all(enough - sure_);
  Narrowed found{.live = sure_ + network_.value()};
  if (found.live < enough) found.open = on_source_side();
  network_.restore(before_);
  return found;
}

}  // namespace stowage
