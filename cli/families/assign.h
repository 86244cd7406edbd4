// What family.h asks, answered for assign.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/terminal/unit.h"
#include "formulations/bound.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/pictures/assign.h"

namespace stowage {

constexpr std::string_view problem_of(const AssignInstance&) { return "assign"; }
constexpr std::string_view problem_of(const AssignPlan&) { return "assign"; }
constexpr Unit unit_of(const AssignInstance&) { return kMs; }

// "107 sequences, 198 813 tokens, 64 devices, 7 strategies"
std::string size_of(const AssignInstance& instance);

std::optional<NamedBound> closed_form_bound_of(const AssignInstance& instance);
std::vector<std::string> infeasibility_of(const AssignInstance& instance,
                                          const std::vector<std::int64_t>& unplaceable);

constexpr std::string_view parts_of(const AssignInstance&) { return "rows"; }
std::int64_t part_count_of(const AssignPlan& plan);

// "strategy S2, 15 310 ms under simulated 1F1B"
std::string detail_of(const AssignPlan& plan);

inline Picture picture_of(const AssignInstance& instance, const AssignPlan& plan,
                          const ShownBounds& bounds) {
  return assign_pipelines(instance, plan, bounds);
}
inline std::optional<Picture> lengths_of(const AssignInstance& instance, const AssignPlan& plan) {
  return assign_lengths(instance, plan);
}
std::vector<std::pair<std::string, std::string>> facts_of(const AssignInstance& instance,
                                                          const AssignPlan& plan);

}  // namespace stowage
