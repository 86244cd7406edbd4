#include "cli/families/layout.h"

#include <algorithm>

#include "cli/families/method_names.h"
#include "cli/flags/suggest.h"
#include "formulations/layout/bounds.h"
#include "instances/layout/load.h"
#include "instances/layout/planning_table.h"
#include "instances/numeric/numbers.h"
#include "instances/pictures/layout/memory_profile.h"

namespace stowage {

std::string size_of(const LayoutInstance& instance) {
  std::string text = counted(std::ssize(instance.buffers), "buffer") + ", at most " +
                     counted(peak_load(instance).load, "byte") + " at once";
  if (instance.capacity) text += ", capacity " + counted(*instance.capacity, "byte");
  return text;
}

std::vector<std::pair<std::string, std::string>> facts_of(const LayoutInstance& instance,
                                                          const LayoutPlan& plan) {
  const auto pinned = std::ranges::count_if(
      instance.buffers, [](const Buffer& buffer) { return buffer.offset.has_value(); });
  std::vector<std::pair<std::string, std::string>> facts = {
      {"most in use",
       grouped(peak_load(instance).load) + " bytes at step " + grouped(peak_load(instance).step)},
      {"fragmentation", percent_text(free_share(memory_profile(instance, plan))) +
                            " of the memory below the highest byte in use is free"}};
  if (instance.capacity) {
    facts.emplace_back("capacity", grouped(*instance.capacity) + " bytes, " +
                                       grouped(*instance.capacity - plan.peak_bytes) +
                                       " bytes above the peak");
  }
  if (pinned > 0) facts.emplace_back("pinned", counted(pinned, "buffer"));
  return facts;
}

std::string method_list_of(Layout) { return comma_list(method_names(LayoutInstance())); }

std::vector<NamedBound> closed_form_bounds_of(const LayoutInstance& instance) {
  if (layout_infeasibility(instance)) return {};
  std::vector<NamedBound> bounds = layout_bounds(instance, LayoutTable(instance));
  // of equal bounds, the last one in the list is the most informative
  std::ranges::reverse(bounds);
  return bounds;
}

std::vector<std::string> infeasibility_of(const LayoutInstance& instance,
                                          const std::vector<std::int64_t>&) {
  if (const auto why = layout_infeasibility(instance)) return {why->text};
  return {};
}

}  // namespace stowage
