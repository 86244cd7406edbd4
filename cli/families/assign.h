// The functions of families.h for assign.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/families/outcome/bound_names.h"
#include "formulations/assign/bounds.h"
#include "instances/assign/certificate.h"
#include "instances/assign/family_traits.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/pictures/assign/pipelines.h"
#include "instances/proof.h"
#include "kernels/assign/packed_plan.h"

namespace stowage {

// Returns, for instance, "107 sequences, 198 813 tokens, 64 devices, 7 strategies".
std::string size_of(const AssignInstance& instance);

// Returns the names of the methods, separated by commas.
std::string method_list_of(Assign);

std::vector<NamedBound> closed_form_bounds_of(const AssignInstance& instance);
constexpr BoundNames bound_names_of(const AssignInstance&) {
  return {kAssignClosedForms, kAssignCertified, kAssignSearched};
}
std::vector<std::string> infeasibility_of(const AssignInstance& instance,
                                          const std::vector<std::int64_t>& unplaceable);

// Returns the name of the bound that a certificate proves.
const char* bound_name_of(const AssignCertificate& certificate);

constexpr std::string_view parts_of(const AssignInstance&) { return "rows"; }
std::int64_t part_count_of(const AssignPlan& plan);

// Returns, for instance, "strategy S2, 15 310 ms under simulated 1F1B".
std::string detail_of(const AssignPlan& plan);

// Returns simulated_bound() of an instance with pipelines and without chunks that has a plan.
std::optional<double> simulated_end_bound_of(const AssignInstance& instance);

inline Picture picture_of(const AssignInstance& instance, const AssignPlan& plan,
                          const ShownBounds& bounds) {
  return assign_pipelines(instance, plan, bounds);
}
inline std::optional<Picture> exchange_of(const AssignInstance&) { return std::nullopt; }
inline std::optional<Picture> lengths_of(const AssignInstance& instance, const AssignPlan& plan) {
  return assign_lengths(instance, plan);
}
std::vector<std::pair<std::string, std::string>> facts_of(const AssignInstance& instance,
                                                          const AssignPlan& plan);

}  // namespace stowage
