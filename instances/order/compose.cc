#include "instances/order/compose.h"

#include "instances/order/memory.h"

namespace stowage {

OrderPlan compose_order(const OrderInstance& instance, const OrderTable& table,
                        std::span<const int> order) {
  OrderPlan plan;
  plan.name = instance.name;
  plan.peak_bytes = peak_of(table, order);
  if (instance.objective == OrderObjective::time) {
    plan.time_ms = 0;
    for (const int op : order) *plan.time_ms += table.ms(op);
  }
  plan.order.assign(order.begin(), order.end());
  return plan;
}

}  // namespace stowage
