// Orders of a graph whose sizes grow with a length, and the rows that the best of them make.
//
//   LengthRows rows(instance);
//   rows.add(order, "dfs");
//   std::vector<OrderRow> all = rows.make({.cuts = 10, .most = 32});
//
// Not installed.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "formulations/order/length_bounds.h"
#include "instances/order/instance.h"
#include "instances/order/peak_curve.h"
#include "instances/order/plan.h"

namespace stowage {

// The larger of the gaps at both ends; no length in between has a larger one.
double worst_gap(const OrderRow& row);
// The largest of all rows; 0 without any.
double worst_gap_of_all(std::span<const OrderRow> rows);

class LengthRows {
 public:
  // `instance` must outlive this.
  explicit LengthRows(const OrderInstance& instance) : instance_(instance), bounds_(instance) {}

  // Requires an order of all operators that keeps the precedences.
  void add(std::vector<int> order, std::string by);
  bool empty() const { return orders_.empty(); }

  // The least peak of all orders at this length, and its order; the first of equal ones.
  std::size_t best_at(Tokens length) const;
  Bytes peak_at(Tokens length) const { return orders_[best_at(length)].curve.at(length); }
  const std::vector<int>& order_at(Tokens length) const { return orders_[best_at(length)].order; }
  const std::string& found_by(Tokens length) const { return orders_[best_at(length)].by; }
  // Of the least peak at this length, by the bound that is the strongest there.
  double gap_at(Tokens length, int cuts);

  struct Effort {
    int cuts = 1;          // operators that are tried for the bounds at an end
    std::size_t most = 0;  // rows; those where an order is the best are not split beyond that
  };
  // At every length the order of its row is one of least peak among those that were added. The row
  // of the worst gap is split where the bounds of two operators cross, as long as that helps.
  std::vector<OrderRow> make(const Effort& effort);

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
  // The least that the step of an operator needs at one length, in the first so many orders.
  struct Needs {
    std::size_t orders = 0;
    std::vector<Bytes> least;
  };
  std::vector<Span> spans() const;
  OrderRow row_of(const Span& span, int cuts);
  std::optional<Tokens> crossing(const OrderRow& row, int cuts);
  void bound(OrderRow& row, std::int64_t op);
  const std::vector<Bytes>& least_needs(Tokens length);
  std::int64_t strongest_at(Tokens length, int cuts);

  const OrderInstance& instance_;
  LengthBounds bounds_;
  std::vector<Known> orders_;
  std::map<Tokens, Needs> needs_;
  std::set<std::int64_t> strong_;  // operators that were the strongest at some length
};

}  // namespace stowage
