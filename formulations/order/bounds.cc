#include "formulations/order/bounds.h"

#include <algorithm>
#include <vector>

#include "instances/numbers.h"

namespace stowage {
namespace {

// Marks all that can be reached from `from` by next(op), itself excluded.
template <class Next>
void mark(int from, OrderSide as, std::vector<OrderSide>& side, Next next) {
  std::vector<int> todo = {from};
  while (!todo.empty()) {
    const int op = todo.back();
    todo.pop_back();
    for (const int other : next(op)) {
      if (side[at(other)] == as) continue;
      side[at(other)] = as;
      todo.push_back(other);
    }
  }
}

}  // namespace

OperatorBound operator_bound(const OrderTable& table) {
  Bytes always = 0;
  const auto lasts = [&](int t) {
    return table.stays(t) && table.producer(t) == OrderTable::kNobody;
  };
  for (int t = 0; t < table.tensors(); ++t) {
    if (lasts(t)) always += table.size(t);
  }
  OperatorBound best{.bytes = std::max(table.at_start(), table.at_end())};
  for (int op = 0; op < table.operators(); ++op) {
    Bytes need = always + table.need(op);
    for (const int t : table.touched(op)) need += lasts(t) ? 0 : table.size(t);
    if (need > best.bytes) best = {need, op};
  }
  return best;
}

OrderCertificate cut_bound(const OrderTable& table, LeastLive& least, int op) {
  std::vector<OrderSide> side(at(table.operators()), OrderSide::open);
  mark(op, OrderSide::in, side, [&](int of) { return table.before(of); });
  mark(op, OrderSide::out, side, [&](int of) { return table.behind(of); });
  side[at(op)] = OrderSide::out;
  const LeastLive::Cut cut = least.between(side);
  OrderCertificate certificate{.bound_bytes = cut.live + table.need(op), .op = op};
  const auto take = [](const LeastLive::Arcs& arcs, auto& entries) {
    for (const auto& arc : arcs) entries.push_back({arc[0], arc[1], arc[2]});
  };
  take(cut.tensors, certificate.tensors);
  take(cut.precedences, certificate.precedences);
  return certificate;
}

}  // namespace stowage
