// Orders of a graph whose sizes grow with a length, and the rows of the plan that uses the best of
// them at each length.
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
#include "instances/order/memory/peak_by_length.h"
#include "instances/order/plan.h"

namespace stowage {

// Returns the larger of the row's gaps at both ends. No length in between has a larger gap.
double worst_gap(const OrderRow& row);
// Returns the largest gap of all rows, or 0 without rows.
double worst_gap_of_all(std::span<const OrderRow> rows);

class LengthRows {
 public:
  // `instance` must outlive this object.
  explicit LengthRows(const OrderInstance& instance) : instance_(instance), bounds_(instance) {}

  // Adds an order of all operators that keeps the precedences; `by` names its source.
  void add(std::vector<int> order, std::string by);
  bool empty() const { return orders_.empty(); }

  // Returns the index of the order with the least peak at this length; of equal orders the first.
  std::size_t best_at(Tokens length) const;
  Bytes peak_at(Tokens length) const { return orders_[best_at(length)].curve.at(length); }
  const std::vector<int>& order_at(Tokens length) const { return orders_[best_at(length)].order; }
  const std::string& found_by(Tokens length) const { return orders_[best_at(length)].by; }
  // Returns the gap of the least peak at this length to the strongest bound there.
  double gap_at(Tokens length, int cuts);

  struct Effort {
    int cuts = 1;          // operators tried for the bounds at an end of a row
    std::size_t most = 0;  // number of rows up to which rows are split
  };
  // Returns rows that cover all lengths. At every length the order of its row has the least peak
  // among the added orders. The row with the worst gap is split where the bounds of two operators
  // cross, as long as this reduces the gap.
  std::vector<OrderRow> make(const Effort& effort);

 private:
  struct Known {
    std::vector<int> order;
    PeakByLength curve;
    std::string by;
  };
  struct Span {
    Tokens from = 0;
    Tokens to = 0;
    std::size_t order = 0;
  };
  // Least need of each operator's step at one length, over the first `orders` orders.
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
  std::set<std::int64_t> strong_;  // operators that were strongest at some length
};

}  // namespace stowage
