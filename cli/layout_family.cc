#include "cli/layout_family.h"

#include "cli/numbers.h"
#include "formulations/layout_bounds.h"
#include "instances/layout_load.h"
#include "instances/layout_table.h"

namespace stowage {

std::string size_of(const LayoutInstance& instance) {
  std::string text = grouped(static_cast<std::int64_t>(instance.buffers.size())) +
                     " buffers, at most " + grouped(peak_load(instance).load) + " bytes at once";
  if (instance.capacity) text += ", capacity " + grouped(*instance.capacity) + " bytes";
  return text;
}

std::optional<NamedBound> closed_form_bound_of(const LayoutInstance& instance) {
  if (layout_infeasibility(instance)) return std::nullopt;
  const LayoutTable table(instance);
  if (!table.stackable()) return std::nullopt;
  return layout_bounds(instance, table).back();
}

std::vector<std::string> infeasibility_of(const LayoutInstance& instance,
                                          const std::vector<std::int64_t>&) {
  if (const auto why = layout_infeasibility(instance)) return {why->text};
  return {};
}

}  // namespace stowage
