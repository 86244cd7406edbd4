#include "instances/order/memory/least_live_cut.h"

#include <algorithm>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr Bytes kNoLimit = Bytes{1} << 60;

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
  first_.assign(2, kNone);
  arcs_.clear();
  tensor_arcs_.clear();
  precedence_arcs_.clear();
  sure_ = 0;
  sure_flow_.clear();
  value_ = 0;
}

int LeastLive::new_node() {
  first_.push_back(kNone);
  return static_cast<int>(first_.size()) - 1;
}

int LeastLive::add_arc(int from, int to, Bytes room) {
  const int arc = static_cast<int>(arcs_.size());
  arcs_.push_back({to, first_[at(from)], room});
  first_[at(from)] = arc;
  arcs_.push_back({from, first_[at(to)], 0});
  first_[at(to)] = arc + 1;
  return arc;
}

void LeastLive::add_operator(int op) {
  node_of_[at(op)] = new_node();
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
  const int node = new_node();
  add_arc(made == OrderSide::in ? kSource : node_of_[at(producer)], node, table_.size(t));
  if (waits) {
    tensor_arcs_.push_back({add_arc(node, kSink, kNoLimit), t, waiter});
    return;
  }
  for (const int op : table_.touchers(t)) {
    if (side(op) != OrderSide::open) continue;
    tensor_arcs_.push_back({add_arc(node, node_of_[at(op)], kNoLimit), t, op});
  }
}

void LeastLive::add_precedence(int op, int first) {
  precedence_arcs_.push_back({add_arc(node_of_[at(op)], node_of_[at(first)], kNoLimit), op, first});
}

// Dinic's algorithm: computes distances to the sink, then pushes flow along shortest paths, until
// the flow is `enough` or maximal.
void LeastLive::push_all(Bytes enough) {
  while (value_ < enough && label()) {
    turn_ = first_;
    while (const Bytes more = push(kSource, kNoLimit)) value_ += more;
  }
}

bool LeastLive::label() {
  level_.assign(first_.size(), kNone);
  std::vector<int> queue = {kSink};
  level_[kSink] = 0;
  for (std::size_t k = 0; k < queue.size(); ++k) {
    for (int arc = first_[at(queue[k])]; arc != kNone; arc = arcs_[at(arc)].next) {
      const int from = arcs_[at(arc)].to;
      if (level_[at(from)] != kNone || arcs_[at(arc ^ 1)].room == 0) continue;
      level_[at(from)] = level_[at(queue[k])] + 1;
      queue.push_back(from);
    }
  }
  return level_[kSource] != kNone;
}

// Pushes flow along one path, without recursion: graphs are thousands of operators deep.
Bytes LeastLive::push(int node, Bytes most) {
  std::vector<int> path;  // arcs
  while (node != kSink) {
    int& turn = turn_[at(node)];
    while (turn != kNone &&
           (arcs_[at(turn)].room == 0 || level_[at(arcs_[at(turn)].to)] != level_[at(node)] - 1)) {
      turn = arcs_[at(turn)].next;
    }
    if (turn != kNone) {
      path.push_back(turn);
      node = arcs_[at(turn)].to;
      continue;
    }
    if (path.empty()) return 0;
    node = arcs_[at(path.back() ^ 1)].to;  // back, and past the arc that is a dead end
    turn_[at(node)] = arcs_[at(turn_[at(node)])].next;
    path.pop_back();
  }
  for (const int arc : path) most = std::min(most, arcs_[at(arc)].room);
  for (const int arc : path) {
    arcs_[at(arc)].room -= most;
    arcs_[at(arc ^ 1)].room += most;
  }
  return most;
}

// Returns the largest least downset: all operators that cannot reach the sink. push_all() ends with
// labels on all nodes that can.
std::vector<int> LeastLive::on_source_side() const {
  std::vector<int> members;
  for (const int op : open_) {
    if (level_[at(node_of_[at(op)])] == kNone) members.push_back(op);
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
  push_all(kNoLimit);
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
  std::vector<char> reached(first_.size(), 0);
  std::vector<int> todo = {kSource};
  reached[kSource] = 1;
  while (!todo.empty()) {
    const int node = todo.back();
    todo.pop_back();
    for (int arc = first_[at(node)]; arc != kNone; arc = arcs_[at(arc)].next) {
      const int to = arcs_[at(arc)].to;
      if (reached[at(to)] != 0 || arcs_[at(arc)].room == 0) continue;
      reached[at(to)] = 1;
      todo.push_back(to);
    }
  }
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
  push_all(kNoLimit);
  Cut cut{.live = sure_ + value_, .open = on_source_side(), .tensors = sure_flow_};
  const auto flow = [&](const Named& named) { return arcs_[at(named.arc ^ 1)].room; };
  for (const Named& named : tensor_arcs_) {
    if (flow(named) > 0) cut.tensors.push_back({named.from, named.to, flow(named)});
  }
  for (const Named& named : precedence_arcs_) {
    if (flow(named) > 0) cut.precedences.push_back({named.from, named.to, flow(named)});
  }
  return cut;
}

LeastLive::Narrowed LeastLive::narrowed(std::span<const int> ops, OrderSide side, Bytes enough) {
  arcs_before_ = arcs_;
  first_before_ = first_;
  const Bytes value = value_;
  for (const int op : ops) {
    const int node = node_of_[at(op)];
    if (side == OrderSide::in) {
      add_arc(kSource, node, kNoLimit);
    } else {
      add_arc(node, kSink, kNoLimit);
    }
  }
  push_all(enough - sure_);
  Narrowed found{.live = sure_ + value_};
  if (found.live < enough) found.open = on_source_side();
  std::swap(arcs_, arcs_before_);
  std::swap(first_, first_before_);
  value_ = value;
  return found;
}

}  // namespace stowage
