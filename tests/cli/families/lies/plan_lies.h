// False changes of plans and certificates, and false claims that no plan exists.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "instances/order/json/json.h"
#include "instances/order/planning_table.h"
#include "solvers/solve.h"
#include "tests/cli/families/lies/told.h"
#include "tests/instances/draw.h"

namespace stowage::families_lies_test {

// Returns whether the plan lists micro-batches; a strategy has their number.
inline bool has_micro_batches(Told& t) {
  return t.plan().contains("micro_batches") && t.plan()["micro_batches"].is_array() &&
         !t.plan()["micro_batches"].empty();
}

// Returns a group of a scatter plan, or a stage of a strategy; null if the plan has none.
inline json* group_of(Told& t, Draw& draw) {
  if (!has_micro_batches(t)) return nullptr;
  json& batches = t.plan()["micro_batches"];
  json& groups = batches[draw.below(batches.size())]["groups"];
  return &groups[draw.below(groups.size())];
}
inline json* stage_of(Told& t, Draw& draw) {
  if (!t.plan().contains("stages") || t.plan()["stages"].empty()) return nullptr;
  json& stages = t.plan()["stages"];
  return &stages[draw.below(stages.size())];
}

inline std::vector<Lie> plan_lies() {
  return {
      // The exchange of a group: one that its degree may not use.
      with_plan("another_exchange",
                [](Told& t, Draw& draw) {
                  json* group = group_of(t, draw);
                  if (group == nullptr) return false;
                  if (group->erase("exchange") == 0) (*group)["exchange"] = "ring";
                  return true;
                }),
      // Less on the host than memory needs, or a share of what cannot leave.
      with_plan("another_share_on_the_host",
                [](Told& t, Draw& draw) {
                  json* part = stage_of(t, draw);
                  if (part == nullptr) part = group_of(t, draw);
                  if (part == nullptr) return false;
                  const double share = part->value("offload", 0.0);
                  (*part)["offload"] = part->contains("offload") ? 0.99 * share : -0.01;
                  return true;
                }),
      // The recomputation mode of a micro-batch: one that the instance does not list, or none where
      // it needs one.
      with_plan("another_recomputation",
                [](Told& t, Draw& draw) {
                  if (!has_micro_batches(t)) return false;
                  json& batches = t.plan()["micro_batches"];
                  json& batch = batches[draw.below(batches.size())];
                  if (batch.erase("recomputation") == 0) batch["recomputation"] = "all";
                  return true;
                }),
      // The outcome's certificate.
      with_plan("certificate_raised",
                [](Told& t, Draw&) {
                  return t.certified() && scale(t.outcome["certificate"]["bound" + t.unit], 1.001);
                }),
      with_plan("certificate_lowered",
                [](Told& t, Draw&) {
                  const json by = t.outcome["bound_by"];
                  const bool certified = by == "step-lp" || by == "profile" || by == "patterns" ||
                                         by == "configurations" || by == "bands" || by == "cut" ||
                                         by == "prices" || by == "thresholds" || by == "forced";
                  if (!certified) return false;
                  return t.certified() && scale(t.outcome["certificate"]["bound" + t.unit], 0.999);
                }),
      with_plan("certificate_emptied",
                [](Told& t, Draw&) {
                  if (!t.certified()) return false;
                  for (auto& [key, value] : t.outcome["certificate"].items()) {
                    if (value.is_array()) value = json::array();
                  }
                  return true;
                }),
      with_plan("certificate_negative",
                [](Told& t, Draw& draw) {
                  if (!t.certified()) return false;
                  const std::vector<json*> numbers = numbers_in(t.outcome["certificate"]);
                  json& number = *numbers[draw.below(numbers.size())];
                  number = -number.get<double>() - 1;
                  return true;
                }),
      with_plan("certificate_with_an_unknown_key",
                [](Told& t, Draw&) {
                  if (!t.certified()) return false;
                  t.outcome["certificate"]["oath"] = true;
                  return true;
                }),
      // The outcome's plan.
      with_plan("plan_objective_less",
                [](Told& t, Draw&) { return scale(t.plan_objective(), 0.99); }),
      with_plan("plan_and_outcome_less",
                [](Told& t, Draw&) {
                  const bool told = scale(t.plan_objective(), 0.99);
                  t.at("objective") = t.plan_objective();
                  t.outcome.erase("gap");
                  return told;
                }),
      with_plan("plan_of_another_instance",
                [](Told& t, Draw&) { t.plan()["instance_hash"] = "fnv1a64:0123456789abcdef"; }),
      with_plan(
          "plan_without_its_first_part",
          [](Told& t, Draw&) {
            for (const char* key : {"micro_batches", "replicas", "offsets", "order", "stages"}) {
              if (!t.plan().contains(key) || !t.plan()[key].is_array() || t.plan()[key].empty()) {
                continue;
              }
              t.plan()[key].erase(0);
              return true;
            }
            return false;
          }),
      with_plan("plan_with_one_number_changed",
                [](Told& t, Draw& draw) {
                  for (const char* key : {"micro_batches", "replicas"}) {
                    if (!t.plan().contains(key)) continue;
                    const std::vector<json*> numbers = numbers_in(t.plan()[key]);
                    if (numbers.empty()) continue;
                    json& number = *numbers[draw.below(numbers.size())];
                    number = number.get<double>() * 2 + 1e15;
                    return true;
                  }
                  return false;
                }),
      set("plan_gone", "plan", nullptr),
  };
}

inline std::vector<Lie> denials() {
  return {
      // Claims of infeasibility for a feasible instance.
      denied("called_infeasible", nullptr),
      denied("called_infeasible_by_nothing", {{"by", "none"}, {"witnesses", json::array()}}),
      denied("called_infeasible_by_an_invention", {{"by", "fate"}, {"witnesses", json::array()}}),
      denied("called_infeasible_by_a_sequence", {{"by", "sequences"}, {"witnesses", {0}}}),
      denied("called_infeasible_by_no_sequence",
             {{"by", "sequences"}, {"witnesses", json::array()}}),
      denied("called_infeasible_by_the_number_of_micro_batches",
             {{"by", "micro_batches"}, {"witnesses", json::array()}}),
      denied("called_infeasible_by_rows", {{"by", "rows"}, {"witnesses", json::array()}}),
      denied("called_infeasible_by_load", {{"by", "load"}, {"witnesses", {0, 1}}, {"step", 0}}),
      denied("called_infeasible_by_heights",
             {{"by", "heights"}, {"witnesses", {0, 1}}, {"step", 0}}),
      denied("called_infeasible_by_pins", {{"by", "pins"}, {"witnesses", {0, 1}}, {"step", 0}}),
      denied("called_infeasible_by_capacity", {{"by", "capacity"}, {"witnesses", {0}}}),
      denied("called_infeasible_by_a_certificate",
             {{"by", "certificate"}, {"witnesses", json::array()}}),
      // Claims of infeasibility for an invalid reason.
      without_plan("reason_invented",
                   [](Told& t, Draw&) {
                     t.outcome["infeasibility"]["by"] = "weather";
                     return true;
                   }),
      without_plan("reason_of_a_witness_that_is_none",
                   [](Told& t, Draw&) {
                     json& proof = t.outcome["infeasibility"];
                     if (!has_witnesses(proof)) return false;
                     proof["witnesses"] = t.outcome["unplaceable"] = json::array({1000});
                     return true;
                   }),
      // A certificate whose prices exceed the measured times of groups.
      with_plan("plane_above_the_times",
                [](Told& t, Draw& draw) {
                  if (!t.outcome.contains("certificate")) return false;
                  json& proof = t.outcome["certificate"];
                  if (!proof.contains("levels")) return false;
                  json& level = proof["levels"][draw.below(proof["levels"].size())];
                  level["below_ms"] = level.value("below_ms", 0.0) + 1e6;
                  return true;
                }),
      without_plan("reason_without_witnesses",
                   [](Told& t, Draw&) {
                     json& proof = t.outcome["infeasibility"];
                     if (!has_witnesses(proof)) return false;
                     proof["witnesses"] = t.outcome["unplaceable"] = json::array();
                     return true;
                   }),
      without_plan("unplaceable_others",
                   [](Told& t, Draw&) {
                     t.outcome["unplaceable"].push_back(77);
                     return true;
                   }),
      without_plan("infeasible_with_an_objective",
                   [](Told& t, Draw&) {
                     t.at("objective") = 1;
                     return true;
                   }),
      without_plan("infeasible_with_exit_code_0",
                   [](Told& t, Draw&) {
                     t.outcome["exit_code"] = 0;
                     return true;
                   }),
      without_plan("infeasible_at_a_limit",
                   [](Told& t, Draw&) {
                     t.outcome["stopped_by"] = "time_limit";
                     return true;
                   }),
      without_plan("infeasible_called_optimal",
                   [](Told& t, Draw&) {
                     t.outcome["status"] = "optimal";
                     return true;
                   }),
  };
}

}  // namespace stowage::families_lies_test
