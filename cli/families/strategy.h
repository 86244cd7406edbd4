// The functions of families.h for strategy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/families/outcome/bound_names.h"
#include "formulations/strategy/bounds.h"
#include "instances/pictures/strategy/stages.h"
#include "instances/proof.h"
#include "instances/strategy/certificate.h"
#include "instances/strategy/family_traits.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

// Returns, for instance, "32 layers, 512 sequences, 1 842 560 tokens, 64 devices".
std::string size_of(const StrategyInstance& instance);

// Returns the names of the methods, separated by commas.
std::string method_list_of(StrategyFamily);

std::vector<NamedBound> closed_form_bounds_of(const StrategyInstance& instance);
constexpr BoundNames bound_names_of(const StrategyInstance&) {
  return {kStrategyClosedForms, kStrategyCertified, kStrategySearched};
}
// Returns the name of the bound that a certificate proves.
inline const char* bound_name_of(const StrategyCertificate& certificate) {
  const bool cases =
      std::ranges::any_of(certificate.classes, &StrategyCertificate::Class::thresholds);
  return cases ? "thresholds" : "prices";
}

// Returns the optimum by enumeration if there are few configurations.
std::optional<NamedBound> tried_again_of(const StrategyInstance& instance, double claimed);

std::vector<std::string> infeasibility_of(const StrategyInstance& instance,
                                          const std::vector<std::int64_t>& unplaceable);

constexpr std::string_view parts_of(const StrategyInstance&) { return "stages"; }
// Returns, for instance, "pp 4, v 1, 16 micro-batches, tp 2, cp 1, dp 8", with ", ep 4" for expert
// parallelism.
std::string detail_of(const StrategyPlan& plan);
inline std::int64_t part_count_of(const StrategyPlan& plan) { return std::ssize(plan.stages); }

inline Picture picture_of(const StrategyInstance& instance, const StrategyPlan& plan,
                          const ShownBounds& bounds) {
  return strategy_stages(instance, plan, bounds);
}
inline std::optional<Picture> exchange_of(const StrategyInstance&) { return std::nullopt; }
inline std::optional<Picture> lengths_of(const StrategyInstance&, const StrategyPlan&) {
  return std::nullopt;
}
std::vector<std::pair<std::string, std::string>> facts_of(const StrategyInstance& instance,
                                                          const StrategyPlan& plan);

}  // namespace stowage
