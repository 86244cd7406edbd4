#include "solvers/order/length_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "instances/numbers.h"
#include "instances/order/memory.h"
#include "solvers/outcome.h"

namespace stowage {

double worst_gap(const OrderRow& row) {
  const auto gap = [](Bytes peak, Bytes bound) {
    return relative_gap(static_cast<double>(peak), static_cast<double>(bound));
  };
  return std::max(gap(row.peak_at_from, row.bound_at_from), gap(row.peak_at_to, row.bound_at_to));
}

void LengthRows::add(std::vector<int> order, std::string by) {
  for (const Known& known : orders_) {
    if (known.order == order) return;
  }
  PeakCurve curve(instance_, order);
  orders_.push_back({std::move(order), std::move(curve), std::move(by)});
}

std::size_t LengthRows::best_at(Tokens length) const {
  std::size_t best = 0;
  for (std::size_t k = 1; k < orders_.size(); ++k) {
    if (orders_[k].curve.at(length) < orders_[best].curve.at(length)) best = k;
  }
  return best;
}

// From the first length on, always the order that is among the best for longest: no other choice
// has fewer spans.
std::vector<LengthRows::Span> LengthRows::spans() const {
  std::vector<Span> all;
  const auto [from, to] = *instance_.tokens;
  for (Tokens next = from; next <= to;) {
    const Bytes least = peak_at(next);
    Span span{next, next, best_at(next)};
    for (std::size_t k = 0; k < orders_.size(); ++k) {
      if (orders_[k].curve.at(next) > least) continue;
      Tokens end = to;
      for (std::size_t other = 0; other < orders_.size() && end > span.to; ++other) {
        const auto below = first_below(orders_[other].curve, orders_[k].curve, next);
        if (below) end = std::min(end, *below - 1);
      }
      if (end > span.to) span = {next, end, k};
    }
    all.push_back(span);
    next = span.to + 1;
  }
  return all;
}

std::vector<OrderRow> LengthRows::make(int cuts, bool merge) {
  std::vector<OrderRow> rows;
  const auto add = [&](const Span& span) {
    OrderRow row = row_of(span, cuts);
    // What one row says no worse than two is said by one.
    if (merge && !rows.empty() && rows.back().order == row.order) {
      const OrderRow both = row_of({rows.back().from, span.to, span.order}, cuts);
      if (worst_gap(both) <= std::max(worst_gap(rows.back()), worst_gap(row))) {
        rows.back() = both;
        return;
      }
    }
    rows.push_back(std::move(row));
  };
  for (Span span : spans()) {
    for (const Tokens end : ends_) {
      if (end < span.from || end >= span.to) continue;
      add({span.from, end, span.order});
      span.from = end + 1;
    }
    add(span);
  }
  return rows;
}

OrderRow LengthRows::row_of(const Span& span, int cuts) {
  const Known& known = orders_[span.order];
  OrderRow row{.from = span.from,
               .to = span.to,
               .peak_at_from = known.curve.at(span.from),
               .peak_at_to = known.curve.at(span.to),
               .order = {known.order.begin(), known.order.end()}};
  bound(row, OrderRow::kInputs);
  bound(row, OrderRow::kLeft);
  if (known.order.empty()) return row;
  bound(row, strongest_at(span.from, cuts));
  bound(row, strongest_at(span.to, cuts));
  return row;
}

// By this operator, if its gap is smaller.
void LengthRows::bound(OrderRow& row, std::int64_t op) {
  OrderRow its = row;
  its.bound_operator = op;
  its.bound_at_from = bounds_.of(op, row.from);
  its.bound_at_to = bounds_.of(op, row.to);
  if (worst_gap(its) < worst_gap(row) || row.bound_at_to == 0) row = std::move(its);
}

// The operator with the largest bound among those that need most in all orders that are known.
std::int64_t LengthRows::strongest_at(Tokens length, int cuts) {
  const OrderTable& table = bounds_.table(length);
  std::vector<Bytes> least(at(table.operators()), kMaxExact);
  for (const Known& known : orders_) {
    const std::vector<Bytes> needs = needs_of(table, known.order);
    for (std::size_t k = 0; k < needs.size(); ++k) {
      Bytes& its = least[at(known.order[k])];
      its = std::min(its, needs[k]);
    }
  }
  std::vector<int> ops(least.size());
  std::iota(ops.begin(), ops.end(), 0);
  std::ranges::stable_sort(ops, [&](int a, int b) { return least[at(a)] > least[at(b)]; });
  int best = ops.front();
  Bytes most = -1;
  for (int k = 0; k < std::min<int>(cuts, table.operators()); ++k) {
    const int op = ops[at(k)];
    // No bound of an operator is above what its step needs, but where it runs again.
    if (!table.recomputes() && least[at(op)] <= most) break;
    const Bytes its = bounds_.of(op, length);
    if (its > most) {
      most = its;
      best = op;
    }
  }
  return best;
}

}  // namespace stowage
