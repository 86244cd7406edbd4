// What family.h asks, answered for scatter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/terminal/unit.h"
#include "formulations/bound.h"
#include "instances/pictures/scatter.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

constexpr std::string_view problem_of(const ScatterInstance&) { return "scatter"; }
constexpr std::string_view problem_of(const ScatterPlan&) { return "scatter"; }
constexpr Unit unit_of(const ScatterInstance&) { return kMs; }

// "512 sequences, 1 842 560 tokens, 64 devices"
std::string size_of(const ScatterInstance& instance);

std::optional<NamedBound> closed_form_bound_of(const ScatterInstance& instance);
std::vector<std::string> infeasibility_of(const ScatterInstance& instance,
                                          const std::vector<std::int64_t>& unplaceable);

constexpr std::string_view parts_of(const ScatterInstance&) { return "micro_batches"; }
inline std::string detail_of(const ScatterPlan&) { return ""; }
inline std::int64_t part_count_of(const ScatterPlan& plan) {
  return static_cast<std::int64_t>(plan.micro_batches.size());
}

inline Picture picture_of(const ScatterInstance& instance, const ScatterPlan& plan,
                          const ShownBounds& bounds) {
  return scatter_gantt(instance, plan, bounds);
}
inline std::optional<Picture> lengths_of(const ScatterInstance& instance, const ScatterPlan& plan) {
  return scatter_lengths(instance, plan);
}
std::vector<std::pair<std::string, std::string>> facts_of(const ScatterInstance& instance,
                                                          const ScatterPlan& plan);

}  // namespace stowage
