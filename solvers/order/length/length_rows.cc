#include "solvers/order/length/length_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/order/memory/running_memory.h"
#include "solvers/outcome.h"

namespace stowage {

double worst_gap(const OrderRow& row) {
  const auto gap = [](Bytes peak, Bytes bound) {
    return relative_gap(static_cast<double>(peak), static_cast<double>(bound));
  };
  return std::max(gap(row.peak_at_from, row.bound_at_from), gap(row.peak_at_to, row.bound_at_to));
}

double worst_gap_of_all(std::span<const OrderRow> rows) {
  double worst = 0;
  for (const OrderRow& row : rows) worst = std::max(worst, worst_gap(row));
  return worst;
}

void LengthRows::add(std::vector<int> order, std::string by) {
  for (const Known& known : orders_) {
    if (known.order == order) return;
  }
  PeakByLength curve(instance_, order);
  orders_.push_back({std::move(order), std::move(curve), std::move(by)});
}

std::size_t LengthRows::best_at(Tokens length) const {
  std::size_t best = 0;
  for (std::size_t k = 1; k < orders_.size(); ++k) {
    if (orders_[k].curve.at(length) < orders_[best].curve.at(length)) best = k;
  }
  return best;
}

double LengthRows::gap_at(Tokens length, int cuts) {
  const Bytes bound = bounds_.of(strongest_at(length, cuts), length);
  return relative_gap(static_cast<double>(peak_at(length)), static_cast<double>(bound));
}

// Greedy interval cover: from the first length on, each span takes the order that stays among the
// best for the longest range. No other choice has fewer spans.
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

std::vector<OrderRow> LengthRows::make(const Effort& effort) {
  std::vector<Span> ranges = spans();
  std::vector<OrderRow> rows;
  rows.reserve(ranges.size());
  for (const Span& range : ranges) rows.push_back(row_of(range, effort.cuts));
  while (rows.size() < effort.most) {
    const auto worst = std::ranges::max_element(rows, {}, worst_gap);
    const std::optional<Tokens> end = crossing(*worst, effort.cuts);
    if (!end) break;
    const auto range = ranges.begin() + (worst - rows.begin());
    const Span left{range->from, *end, range->order};
    const Span right{*end + 1, range->to, range->order};
    OrderRow first = row_of(left, effort.cuts);
    OrderRow second = row_of(right, effort.cuts);
    if (std::max(worst_gap(first), worst_gap(second)) >= worst_gap(*worst)) break;
    *range = right;
    ranges.insert(range, left);
    *worst = std::move(second);
    rows.insert(worst, std::move(first));
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
  bound(row, strongest_at(span.from, cuts));
  bound(row, strongest_at(span.to, cuts));
  return row;
}

// Returns the last length at which the strongest bound of the row's begin is at least the strongest
// bound of its end. Returns nullopt unless each of the two bounds is strictly stronger at its own
// end. Both bounds are piecewise affine in the length. The next length tried is the crossing of the
// straight lines through the values at both ends of the remaining interval, or every second time
// its middle.
std::optional<Tokens> LengthRows::crossing(const OrderRow& row, int cuts) {
  const std::int64_t first = strongest_at(row.from, cuts);
  const std::int64_t last = strongest_at(row.to, cuts);
  const auto more = [&](Tokens length) {
    return bounds_.of(first, length) - bounds_.of(last, length);
  };
  Tokens from = row.from;
  Tokens to = row.to;
  Bytes above = more(from);
  Bytes below = more(to);
  if (above <= 0 || below >= 0) return std::nullopt;
  for (bool straight = true; to - from > 1; straight = !straight) {
    const double share = straight ? static_cast<double>(above) /
                                        (static_cast<double>(above) - static_cast<double>(below))
                                  : 0.5;
    const auto step = static_cast<Tokens>(share * static_cast<double>(to - from));
    const Tokens length = std::clamp(from + step, from + 1, to - 1);
    const Bytes its = more(length);
    (its >= 0 ? from : to) = length;
    (its >= 0 ? above : below) = its;
  }
  return from;
}

// Bounds the row by this operator if that makes the row's larger gap smaller.
void LengthRows::bound(OrderRow& row, std::int64_t op) {
  OrderRow its = row;
  its.bound_operator = op;
  its.bound_at_from = bounds_.of(op, row.from);
  its.bound_at_to = bounds_.of(op, row.to);
  if (worst_gap(its) < worst_gap(row) || row.bound_at_to == 0) row = std::move(its);
}

// Returns the least need of each operator's step at this length over all known orders. Each order
// is evaluated once per length.
const std::vector<Bytes>& LengthRows::least_needs(Tokens length) {
  const OrderTable& table = bounds_.table(length);
  Needs& its = needs_[length];
  its.least.resize(at(table.operators()), kMaxExact);
  for (; its.orders < orders_.size(); ++its.orders) {
    const std::vector<int>& order = orders_[its.orders].order;
    const std::vector<Bytes> needs = needs_of(table, order);
    for (std::size_t k = 0; k < needs.size(); ++k) {
      Bytes& least = its.least[at(order[k])];
      least = std::min(least, needs[k]);
    }
  }
  return its.least;
}

// Returns the operator, or OrderRow::kInputs or OrderRow::kLeft, with the largest bound at this
// length. Tries the operators that were strongest at other lengths, and `cuts` operators with the
// largest least needs.
std::int64_t LengthRows::strongest_at(Tokens length, int cuts) {
  std::int64_t best = OrderRow::kInputs;
  Bytes most = bounds_.of(best, length);
  const auto try_bound = [&](std::int64_t op) {
    const Bytes its = bounds_.of(op, length);
    if (its <= most) return;
    most = its;
    best = op;
  };
  try_bound(OrderRow::kLeft);
  for (const std::int64_t op : strong_) try_bound(op);
  const OrderTable& table = bounds_.table(length);
  const std::vector<Bytes>& least = least_needs(length);
  std::vector<int> ops(least.size());
  std::iota(ops.begin(), ops.end(), 0);
  std::ranges::stable_sort(ops, [&](int a, int b) { return least[at(a)] > least[at(b)]; });
  for (int k = 0; k < std::min<int>(cuts, table.operators()); ++k) {
    // If no operator may run again, an operator's bound is at most the least need of its step.
    if (!table.recomputes() && least[at(ops[at(k)])] <= most) break;
    try_bound(ops[at(k)]);
  }
  if (best >= 0) strong_.insert(best);
  return best;
}

}  // namespace stowage
