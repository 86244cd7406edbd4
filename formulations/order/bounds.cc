#include "formulations/order/bounds.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Marks all operators that can be reached from `from` by next(op), without `from`.
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
  // If there is a host, tensors that the operator does not touch may be there.
  const auto lasts = [&](int t) {
    return !table.host() && table.stays(t) && table.producer(t) == OrderTable::kNobody;
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

namespace {

// One operator at its first run: the operators that must have run, those that cannot have run, and
// the bytes that are live because of them.
class FirstRun {
 public:
  FirstRun(const OrderTable& table, int op)
      : table_(table), op_(op), side_(at(table.operators()), OrderSide::open) {
    mark(op, OrderSide::in, side_, [&](int of) { return table.before(of); });
    mark(op, OrderSide::out, side_, [&](int of) { return table.behind(of); });
    side_[at(op)] = OrderSide::out;
    weigh();
  }

  // Returns the bytes needed on the device, after dropping all tensors that can be made again and
  // moving others to the host.
  Bytes kept() const {
    if (!table_.host()) return kept_;
    const std::optional<Bytes>& holds = table_.host()->capacity;
    return holds ? std::max(touched_, kept_ - *holds) : touched_;
  }

  // Returns the least time of all runs if the tensors beyond the capacity are on the host at this
  // operator. They are sent before it and fetched after it.
  Ms to_move(Bytes capacity) const {
    const auto bytes = static_cast<double>(std::max<Bytes>(0, kept_ - capacity));
    Ms before = 0;
    Ms behind = 0;
    for (int op = 0; op < table_.operators(); ++op) {
      if (has(op, OrderSide::in)) before += table_.ms(op);
      if (has(op, OrderSide::out) && op != op_) behind += table_.ms(op);
    }
    before = std::max(before, bytes / table_.host()->out_bytes_per_ms);
    behind = std::max(behind, bytes / table_.host()->in_bytes_per_ms);
    return before + table_.ms(op_) + behind;
  }

  // Returns the least time to make again the tensors beyond the capacity, if fractions are allowed.
  Ms to_fit(Bytes capacity) {
    double excess = static_cast<double>(kept_) - static_cast<double>(capacity);
    for (const auto& [bytes, ms] : droppable_) excess += static_cast<double>(bytes);
    std::ranges::stable_sort(droppable_, [](const auto& a, const auto& b) {
      return a.second * static_cast<double>(b.first) < b.second * static_cast<double>(a.first);
    });
    Ms sum = 0;
    for (const auto& [bytes, ms] : droppable_) {
      if (excess <= 0) break;
      const auto size = static_cast<double>(bytes);
      sum += ms * std::min(1.0, excess / size);
      excess -= size;
    }
    return sum;
  }

 private:
  bool has(int op, OrderSide side) const { return side_[at(op)] == side; }

  // Returns true if the writer may run after `op_`: no update that forbids it has run.
  bool may_come_back(int writer) const {
    return writer != OrderTable::kNobody && table_.may_rerun(writer) &&
           std::ranges::none_of(table_.closed_by(writer),
                                [&](int update) { return has(update, OrderSide::in); });
  }

  void weigh() {
    kept_ = table_.need(op_);
    touched_ = kept_;
    for (const int t : table_.touched(op_)) touched_ += table_.size(t);
    std::vector<Bytes> of_writer(at(table_.operators()), 0);
    for (int t = 0; t < table_.tensors(); ++t) {
      const int writer = table_.producer(t);
      if (writer != OrderTable::kNobody && !has(writer, OrderSide::in)) continue;
      const auto touchers = table_.touchers(t);
      if (std::ranges::find(touchers, op_) != touchers.end()) {
        kept_ += table_.size(t);
        continue;
      }
      const bool needed = table_.stays(t) || std::ranges::any_of(touchers, [&](int by) {
                            return has(by, OrderSide::out);
                          });
      if (!needed) continue;
      if (may_come_back(writer)) {
        of_writer[at(writer)] += table_.size(t);
      } else {
        kept_ += table_.size(t);
      }
    }
    for (int writer = 0; writer < table_.operators(); ++writer) {
      if (of_writer[at(writer)] == 0) continue;
      droppable_.emplace_back(of_writer[at(writer)], table_.ms(writer));
    }
  }

  const OrderTable& table_;
  const int op_;
  std::vector<OrderSide> side_;
  Bytes kept_ = 0;
  Bytes touched_ = 0;  // inputs, outputs and workspace of the operator
  // Outputs of a writer that has run and may run again, and its time.
  std::vector<std::pair<Bytes, Ms>> droppable_;
};

}  // namespace

RerunBounds rerun_bounds(const OrderTable& table, std::optional<Bytes> capacity) {
  constexpr std::int64_t kMaxSteps = 200'000'000;
  RerunBounds bounds{.kept = operator_bound(table).bytes, .work_ms = table.work_ms()};
  Ms most = 0;
  std::int64_t arcs = table.operators() + table.tensors();
  for (int op = 0; op < table.operators(); ++op) arcs += std::ssize(table.before(op));
  std::int64_t steps = 0;
  for (int op = 0; op < table.operators() && steps < kMaxSteps; ++op, steps += arcs) {
    FirstRun first(table, op);
    bounds.kept = std::max(bounds.kept, first.kept());
    if (!capacity) continue;
    if (table.host()) {
      bounds.moved_ms = std::max(bounds.moved_ms, first.to_move(*capacity));
    } else {
      most = std::max(most, first.to_fit(*capacity));
    }
  }
  bounds.dropped_ms = bounds.work_ms + most;
  bounds.moved_ms = std::max(bounds.moved_ms, bounds.work_ms);
  return bounds;
}

Bytes kept_bound(const OrderTable& table, int op) { return FirstRun(table, op).kept(); }

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
