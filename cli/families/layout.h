// The functions of families.h for layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/families/outcome/bound_names.h"
#include "formulations/layout/bounds.h"
#include "instances/layout/family_traits.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/pictures/layout/map.h"
#include "instances/proof.h"

namespace stowage {

// Returns, for instance, "154 buffers, at most 1 048 576 bytes at once".
std::string size_of(const LayoutInstance& instance);

// Returns the names of the methods, separated by commas.
std::string method_list_of(Layout);

std::vector<NamedBound> closed_form_bounds_of(const LayoutInstance& instance);
constexpr BoundNames bound_names_of(const LayoutInstance&) {
  return {kLayoutClosedForms, {}, kLayoutSearched};
}
std::vector<std::string> infeasibility_of(const LayoutInstance& instance,
                                          const std::vector<std::int64_t>& unplaceable);

// A layout has only buffers and no other parts.
constexpr std::string_view parts_of(const LayoutInstance&) { return ""; }
inline std::string detail_of(const LayoutPlan&) { return ""; }
inline std::int64_t part_count_of(const LayoutPlan&) { return 0; }

inline Picture picture_of(const LayoutInstance& instance, const LayoutPlan& plan,
                          const ShownBounds& bounds) {
  return layout_map(instance, plan, bounds);
}
inline std::optional<Picture> exchange_of(const LayoutInstance&) { return std::nullopt; }
inline std::optional<Picture> lengths_of(const LayoutInstance&, const LayoutPlan&) {
  return std::nullopt;
}
std::vector<std::pair<std::string, std::string>> facts_of(const LayoutInstance& instance,
                                                          const LayoutPlan& plan);

}  // namespace stowage
