#include <algorithm>
#include <utility>

#include "cli/models/exported_model.h"
#include "formulations/order/mip.h"
#include "instances/order/compose.h"
#include "instances/order/memory.h"

namespace stowage {

ModelAnswer exported_model_of(const OrderInstance& instance, const OrderPlan* known,
                              const ModelFlags&) {
  constexpr std::size_t kMostOperators = 2000;
  if (instance.operators.empty()) {
    return refused("INSTANCE", "must have an operator to make a model of");
  }
  if (instance.operators.size() > kMostOperators) {
    return refused("INSTANCE", "must have at most " + std::to_string(kMostOperators) +
                                   " operators, has " + std::to_string(instance.operators.size()));
  }
  const OrderTable table(instance);
  if (const std::int64_t binaries = order_mip_binaries(table);
      binaries > static_cast<std::int64_t>(kMostVariables)) {
    return refused("INSTANCE", "must have a model of at most " + std::to_string(kMostVariables) +
                                   " binary variables, has one of " + std::to_string(binaries));
  }
  Bytes most = known != nullptr ? known->peak_bytes : peak_of(table, table.program_order());
  if (instance.capacity) most = std::min(most, *instance.capacity);
  OrderMip mip =
      build_order_mip(table, {.most = most, .least = known != nullptr ? known->bound_bytes : 0});
  if (mip.empty) {
    return refused("INSTANCE",
                   "must have an order of at most " + std::to_string(most) + " bytes, has none",
                   ExitCode::refused);
  }
  const Bytes unit = mip.unit;
  ExportedModel exported{
      .what = "at most " + std::to_string(most) + " bytes",
      .legend = {"columns: P the peak in units of " + std::to_string(unit) + " bytes; y_v_k 1 if",
                 "operator v is among the first k; l_t_k 1 if tensor t needs memory at step k;",
                 "operators and tensors count from 0 as in the instance, steps from 1",
                 "rows: O1 to O5 of formulations/README.md"},
      .facts = [most, unit](JsonWriter& json) {
        json.integer("bytes_at_most", most);
        json.integer("unit_bytes", unit);
      }};
  exported.model = mip.model;
  exported.plan = [&instance, mip = std::move(mip)](const std::vector<double>& values) -> Plan {
    const OrderTable its(instance);
    return compose_order(instance, its, decode(mip, its, values));
  };
  return exported;
}

}  // namespace stowage
