#include <algorithm>
#include <utility>

#include "cli/models/exported_model.h"
#include "formulations/layout/mip.h"
#include "instances/layout/plan_builder.h"

namespace stowage {

ModelAnswer exported_model_of(const LayoutInstance& instance, const LayoutPlan* known,
                              const ModelFlags& flags) {
  if (instance.buffers.empty()) return refused("INSTANCE", "must have a buffer to make a model of");
  const LayoutTable table(instance);
  if (!table.stackable() || table.clash()) {
    return refused("INSTANCE",
                   "must have pins that do not clash and sizes that add up to less "
                   "than 2^53 bytes");
  }
  if (const std::int64_t pairs = layout_mip_pairs(table);
      pairs > static_cast<std::int64_t>(kMaxVariables)) {
    return refused("INSTANCE", "must have at most " + std::to_string(kMaxVariables) +
                                   " pairs of buffers that live together, has " +
                                   std::to_string(pairs));
  }
  Bytes most = known != nullptr ? known->peak_bytes : table.stack();
  if (instance.capacity) most = std::min(most, *instance.capacity);
  const bool strengthened = !flags.published;
  LayoutMip mip = build_layout_mip(table, {.strengthened = strengthened,
                                           .most = most,
                                           .least = known != nullptr ? known->bound_bytes : 0});
  if (mip.empty) {
    return refused("INSTANCE",
                   "must have a layout of at most " + std::to_string(most) + " bytes, has none",
                   ExitCode::refused);
  }
  const Bytes unit = mip.unit;
  ExportedModel exported{
      .what = "at most " + std::to_string(most) + " bytes",
      .legend = {"columns: P the peak in units of " + std::to_string(unit) + " bytes; A_i the",
                 "offset of buffer i in units, k_i in steps of its alignment; z_i_j 0 if buffer i",
                 "lies below j, 1 if above; buffers count from 0 as in the instance",
                 "rows: D1 to D3, E1 to E5 of formulations/README.md"},
      .facts = [most, unit, strengthened](JsonWriter& json) {
        json.integer("bytes_at_most", most);
        json.integer("unit_bytes", unit);
        json.boolean("strengthened", strengthened);
      }};
  exported.model = mip.model;
  exported.plan = [&instance, mip = std::move(mip)](const std::vector<double>& values) -> Plan {
    return compose_layout(instance, decode(mip, LayoutTable(instance), values));
  };
  return exported;
}

}  // namespace stowage
