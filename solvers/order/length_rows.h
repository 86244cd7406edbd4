// Orders of a graph whose sizes grow with a length, and the rows that the best of them make.
//
//   LengthRows rows(instance);
//   rows.add(order, "dfs");
//   rows.split(4096);                        // a row ends there
//   std::vector<OrderRow> all = rows.make(10, true);
//
// Not installed.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "formulations/order/length_bounds.h"
#include "instances/order/instance.h"
#include "instances/order/peak_curve.h"
#include "instances/order/plan.h"

namespace stowage {

// The larger of the gaps at both ends; no length in between has a larger one.
double worst_gap(const OrderRow& row);

class LengthRows {
 public:
  // `instance` must outlive this.
  explicit LengthRows(const OrderInstance& instance) : instance_(instance), bounds_(instance) {}

  // Requires an order of all operators that keeps the precedences.
  void add(std::vector<int> order, std::string by);
  bool empty() const { return orders_.empty(); }
  void split(Tokens length) { ends_.insert(length); }

  // The least peak of all orders at this length, and its order; the first of equal ones.
  std::size_t best_at(Tokens length) const;
  Bytes peak_at(Tokens length) const { return orders_[best_at(length)].curve.at(length); }
  const std::vector<int>& order_at(Tokens length) const { return orders_[best_at(length)].order; }
  const std::string& found_by(Tokens length) const { return orders_[best_at(length)].by; }

  // At every length the order of its row is one of least peak among those that were added. At most
  // `cuts` operators are tried for the bounds at an end. With `merge`, two rows of one order become
  // one where its gap is no larger than the larger of theirs.
  std::vector<OrderRow> make(int cuts, bool merge);

 private:
  struct Known {
    std::vector<int> order;
    PeakCurve curve;
    std::string by;
  };
  struct Span {
    Tokens from = 0;
    Tokens to = 0;
    std::size_t order = 0;
  };
  std::vector<Span> spans() const;
  OrderRow row_of(const Span& span, int cuts);
  void bound(OrderRow& row, std::int64_t op);
  std::int64_t strongest_at(Tokens length, int cuts);

  const OrderInstance& instance_;
  LengthBounds bounds_;
  std::vector<Known> orders_;
  std::set<Tokens> ends_;
};

}  // namespace stowage
