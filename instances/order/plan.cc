#include "instances/order/plan.h"

#include <algorithm>

namespace stowage {

const OrderRow* row_at(const OrderPlan& plan, Tokens length) {
  const auto row = std::ranges::lower_bound(plan.rows, length, {}, &OrderRow::to);
  return row == plan.rows.end() || length < row->from ? nullptr : &*row;
}

}  // namespace stowage
