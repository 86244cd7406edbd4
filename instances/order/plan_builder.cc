#include "instances/order/plan_builder.h"

#include "instances/order/memory/memory_reuse.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/memory/transfer_times.h"

namespace stowage {

OrderPlan compose_order(const OrderInstance& instance, const OrderTable& table,
                        std::span<const int> order, std::span<const OrderTransfer> transfers) {
  OrderPlan plan;
  plan.name = instance.name;
  plan.peak_bytes = peak_of(table, order, transfers);
  if (instance.objective == OrderObjective::time) {
    plan.time_ms = transfer_times(table, order, transfers).time_ms;
  }
  plan.order.assign(order.begin(), order.end());
  plan.transfers.assign(transfers.begin(), transfers.end());
  plan.in_place = reuses_of(table, order);
  return plan;
}

}  // namespace stowage
