// The rows of an order plan: the order of each range of lengths, and the row that contains a
// length.
#include <cstdint>
#include <optional>
#include <variant>

#include "instances/order/plan.h"
#include "python/binding/boxes.h"

namespace stowage::python {
namespace {

const OrderPlan& order_plan(const PlanBox& box) {
  const auto* plan = std::get_if<OrderPlan>(&box.value);
  if (plan == nullptr) throw nb::type_error("a plan of the problem order is needed");
  return *plan;
}

// Returns (from, to, peaks at both, bounds at both, operator of the bounds, order) of each row.
nb::list order_rows(const PlanBox& box) {
  nb::list rows;
  for (const OrderRow& row : order_plan(box).rows) {
    rows.append(nb::make_tuple(row.from, row.to, row.peak_at_from, row.peak_at_to,
                               row.bound_at_from, row.bound_at_to, row.bound_operator,
                               array_of(row.order)));
  }
  return rows;
}

// Returns the index of the row that contains the length, or -1. Called for every batch, so it takes
// no lock and allocates nothing.
std::int64_t row_index(const PlanBox& box, Tokens length) {
  const OrderPlan& plan = order_plan(box);
  const OrderRow* row = row_at(plan, length);
  return row == nullptr ? -1 : row - plan.rows.data();
}

}  // namespace

void bind_order_rows(nb::module_& module) {
  module.def("order_rows", &order_rows,
             nb::sig("def order_rows(plan: Plan) -> list[tuple[int, int, int, int, int, int, int, "
                     "numpy.typing.NDArray[numpy.int64]]]"));
  module.def("row_index", &row_index, nb::arg("plan"), nb::arg("length"));
}

}  // namespace stowage::python
