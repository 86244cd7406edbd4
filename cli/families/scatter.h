// The functions of families.h for scatter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/families/outcome/bound_names.h"
#include "formulations/scatter/bounds.h"
#include "instances/pictures/scatter/exchange_map.h"
#include "instances/pictures/scatter/gantt.h"
#include "instances/proof.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/family_traits.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "kernels/scatter/packed_plan.h"

namespace stowage {

// Returns, for instance, "512 sequences, 1 842 560 tokens, 64 devices".
std::string size_of(const ScatterInstance& instance);

// Returns the names of the methods, separated by commas.
std::string method_list_of(Scatter);

std::vector<NamedBound> closed_form_bounds_of(const ScatterInstance& instance);
constexpr BoundNames bound_names_of(const ScatterInstance&) {
  return {kScatterClosedForms, kScatterCertified, kScatterSearched};
}
std::vector<std::string> infeasibility_of(const ScatterInstance& instance,
                                          const std::vector<std::int64_t>& unplaceable);

// Returns the name of the bound that a certificate proves.
inline const char* bound_name_of(const ScatterCertificate& certificate) {
  return certificate.profiles.empty() ? "step-lp" : "profile";
}

// Returns the bound that enumeration proves for a claimed bound without a certificate: `claimed`,
// or the optimum if that is less. Returns nullopt for many sequences.
std::optional<NamedBound> tried_again_of(const ScatterInstance& instance, double claimed);

constexpr std::string_view parts_of(const ScatterInstance&) { return "micro_batches"; }
// Returns, in a pipeline, for instance "15 310 ms under simulated 1F1B"; otherwise an empty text.
std::string detail_of(const ScatterPlan& plan);

// Returns simulated_bound() of an instance with pipeline stages that has a plan.
std::optional<double> simulated_end_bound_of(const ScatterInstance& instance);
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
inline std::optional<Picture> exchange_of(const ScatterInstance& instance) {
  if (!instance.cost.exchange) return std::nullopt;
  return exchange_map(instance);
}
std::vector<std::pair<std::string, std::string>> facts_of(const ScatterInstance& instance,
                                                          const ScatterPlan& plan);

}  // namespace stowage
