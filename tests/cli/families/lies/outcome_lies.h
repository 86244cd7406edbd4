// False changes of what an outcome says of its bounds, objective, status and history.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "instances/order/planning_table.h"
#include "tests/cli/families/lies/told.h"
#include "tests/instances/draw.h"

namespace stowage::families_lies_test {

inline std::vector<Lie> outcome_lies() {
  return {
      // The bound is raised in all places, with the old certificate.
      with_plan("bound_is_the_objective",
                [](Told& t, Draw&) {
                  if (!t.open()) return false;
                  close_the_gap(t, json(t.outcome["bound_by"]));
                  return true;
                }),
      with_plan("bound_is_the_objective_without_certificate",
                [](Told& t, Draw&) {
                  if (!t.open()) return false;
                  close_the_gap(t, json(t.outcome["bound_by"]));
                  t.outcome.erase("certificate");
                  return true;
                }),
      with_plan("bound_is_the_objective_in_few_words",
                [](Told& t, Draw&) {
                  if (!t.open()) return false;
                  close_the_gap(t, json(t.outcome["bound_by"]));
                  t.outcome.erase("bounds");
                  t.outcome.erase("improvements");
                  return true;
                }),
      with_plan("bound_a_little_higher",
                [](Told& t, Draw&) {
                  if (!t.open()) return false;
                  for (json* bound : {&t.at("bound"), &t.plan_bound()}) scale(*bound, 1.0001);
                  for (const char* key : {"bounds", "improvements", "gap"}) t.outcome.erase(key);
                  return true;
                }),
      with_plan("a_plan_alone_with_a_higher_bound",
                [](Told& t, Draw&) {
                  if (!t.open()) return false;
                  t.plan_bound() = t.plan_objective();
                  t.outcome = json(t.plan());
                  return true;
                }),
      with_plan("certificate_raised_as_well",
                [](Told& t, Draw&) {
                  if (!t.open() || !t.certified()) return false;
                  close_the_gap(t, json(t.outcome["bound_by"]));
                  t.outcome["certificate"]["bound_ms"] = t.objective();
                  return true;
                }),
      closed_by("bound_by_longest", "longest"),
      closed_by("bound_by_area", "area"),
      closed_by("bound_by_strategies", "strategies"),
      closed_by("bound_by_load", "load"),
      closed_by("bound_by_chain", "chain"),
      closed_by("bound_by_step_lp", "step-lp"),
      closed_by("bound_by_patterns", "patterns"),
      closed_by("bound_by_configurations", "configurations"),
      closed_by("bound_by_bands", "bands"),
      closed_by("bound_by_a_backend", "milp-cbc"),
      closed_by("bound_by_search", "search"),
      closed_by("bound_by_nobody", "none"),
      closed_by("bound_by_no_name", ""),
      closed_by("bound_by_an_invention", "oracle"),
      with_plan("bound_true_by_an_invention",
                [](Told& t, Draw&) {
                  if (t.at("bound") == 0) return false;
                  t.outcome["bound_by"] = t.plan()["bound_by"] = "divination";
                  for (const char* key : {"bounds", "improvements"}) t.outcome.erase(key);
                  return true;
                }),
      // Members of the outcome other than its plan.
      with_plan("status_optimal",
                [](Told& t, Draw&) {
                  t.outcome["status"] = "optimal";
                  return t.open();
                }),
      with_plan("status_optimal_by_proof",
                [](Told& t, Draw&) {
                  t.outcome["status"] = "optimal";
                  t.outcome["stopped_by"] = "proof";
                  return t.open();
                }),
      set("status_infeasible_with_a_plan", "status", "infeasible"),
      set("status_unknown_with_a_plan", "status", "unknown"),
      set("status_error_with_a_plan", "status", "error"),
      set("status_invented", "status", "excellent"),
      set("status_no_text", "status", 1),
      with_plan("stopped_by_proof",
                [](Told& t, Draw&) {
                  t.outcome["stopped_by"] = "proof";
                  return t.outcome["status"] != "optimal";
                }),
      with_plan("optimal_at_a_limit",
                [](Told& t, Draw&) {
                  t.outcome["stopped_by"] = "time_limit";
                  return t.outcome["status"] == "optimal";
                }),
      set("stopped_by_an_invention", "stopped_by", "boredom"),
      with_plan("objective_less", [](Told& t, Draw&) { return scale(t.at("objective"), 0.99); }),
      with_plan("objective_more", [](Told& t, Draw&) { return scale(t.at("objective"), 1.01); }),
      with_plan("objective_negated", [](Told& t, Draw&) { t.at("objective") = -1; }),
      with_plan("objective_a_text", [](Told& t, Draw&) { t.at("objective") = "small"; }),
      with_plan("bound_of_the_outcome_alone",
                [](Told& t, Draw&) { return scale(t.at("bound"), 1.0001); }),
      with_plan("bound_of_the_plan_alone",
                [](Told& t, Draw&) { return scale(t.plan_bound(), 0.9999); }),
      with_plan("bound_negative", [](Told& t, Draw&) { t.at("bound") = t.plan_bound() = -1; }),
      with_plan("bound_above_the_objective",
                [](Told& t, Draw&) { t.at("bound") = t.plan_bound() = 2 * t.objective() + 1; }),
      set("bound_by_unlike_the_plan", "bound_by", "none"),
      with_plan("bound_by_emptied",
                [](Told& t, Draw&) {
                  t.outcome["bound_by"] = "";
                  return t.plan()["bound_by"] != "";
                }),
      with_plan("gap_nothing",
                [](Told& t, Draw&) {
                  const bool open = t.open();
                  t.outcome["gap"] = 0;
                  return open;
                }),
      set("gap_negative", "gap", -0.5),
      set("gap_larger", "gap", 0.999),
      set("exit_code_refused", "exit_code", 1),
      set("exit_code_of_no_plan", "exit_code", 3),
      set("exit_code_invented", "exit_code", 42),
      set("exit_code_negative", "exit_code", -1),
      set("seconds_negative", "seconds", -0.001),
      set("seconds_a_text", "seconds", "fast"),
      set("seconds_less_than_the_story", "seconds", 0),
      set("nodes_negative", "nodes", -1),
      set("nodes_a_fraction", "nodes", 0.5),
      set("seed_negative", "seed", -7),
      set("solver_invented", "solver", "gurobi"),
      set("found_by_another", "found_by", "somebody"),
      set("an_unknown_key", "verified", true),
      set("a_misspelt_key", "objectiv_ms", 1),
      set("another_format", "format", "stowage/plan"),
      set("another_version", "version", 2),
      set("another_problem", "problem", "weaving"),
      set("another_name", "name", "somebody else's"),
      set("unplaceable_beside_a_plan", "unplaceable", json::array({0})),
      set("unplaceable_negative", "unplaceable", json::array({-1})),
      set("unplaceable_a_text", "unplaceable", "none"),
      set("violations_without_a_word", "violations",
          json::array({{{"rule", "coverage"}, {"where", "/"}, {"have", "1"}, {"need", "0"}}})),
      set("violations_of_no_form", "violations", json::array({1})),
      set("infeasibility_beside_a_plan", "infeasibility", json({{"by", "none"}})),
      with_plan("method_bound_above_the_objective",
                [](Told& t, Draw&) { t.at("method_bound") = 2 * t.objective() + 1; }),
      // The outcome's bounds.
      element("a_bound_raised", "bounds",
              [](Told& t, json& bound) {
                bound["value" + t.unit] = 2 * t.objective() + 1;
                return true;
              }),
      element("a_bound_raised_to_the_objective", "bounds",
              [](Told& t, json& bound) {
                if (!t.open() || bound["name"] == t.outcome["bound_by"]) return false;
                bound["value" + t.unit] = t.at("objective");
                return true;
              }),
      element("a_bound_negative", "bounds",
              [](Told& t, json& bound) {
                bound["value" + t.unit] = -1;
                return true;
              }),
      element("a_bound_of_an_invention", "bounds",
              [](Told& t, json& bound) {
                bound["name"] = "tea leaves";
                return bound["value" + t.unit] != 0 || t.at("bound") != 0;
              }),
      element("a_bound_with_an_unknown_key", "bounds",
              [](Told&, json& bound) {
                bound["proof"] = true;
                return true;
              }),
      with_plan("a_bound_twice",
                [](Told& t, Draw&) {
                  json& bounds = t.outcome["bounds"];
                  if (bounds.empty()) return false;
                  bounds.push_back(json(bounds[0]));
                  return true;
                }),
      with_plan("bounds_gone",
                [](Told& t, Draw&) {
                  t.outcome["bounds"] = json::array();
                  return t.at("bound") != 0;
                }),
      // The outcome's history.
      set("improvements_gone", "improvements", json::array()),
      with_plan("improvements_without_the_last",
                [](Told& t, Draw&) {
                  json& story = t.outcome["improvements"];
                  const json last = story.back();
                  story.erase(story.size() - 1);
                  if (story.empty()) return true;
                  // A bound that rose only by rounding, without a better plan, is not recorded as
                  // an improvement.
                  const std::string bound = "bound" + t.unit;
                  const std::string objective = "objective" + t.unit;
                  const bool same_plan = story.back()[objective] == last[objective];
                  const double before = story.back()[bound];
                  return !same_plan || double(last[bound]) > before * (1 + 1e-12);
                }),
      with_plan("improvements_backwards",
                [](Told& t, Draw&) {
                  json& story = t.outcome["improvements"];
                  const json before = story;
                  std::reverse(story.begin(), story.end());
                  for (json& step : story) step.erase("seconds");
                  for (std::size_t k = 0; k < story.size(); ++k) {
                    const std::string key = "objective" + t.unit;
                    if (story[k][key] != before[k][key]) return true;
                  }
                  return false;
                }),
      element("an_improvement_below_the_objective", "improvements",
              [](Told& t, json& step) { return scale(step["objective" + t.unit], 0.5); }),
      element("an_improvement_above_the_bound", "improvements",
              [](Told& t, json& step) {
                step["bound" + t.unit] = 2 * t.objective() + 1;
                return true;
              }),
      element("an_improvement_before_its_time", "improvements",
              [](Told&, json& step) {
                step["seconds"] = -1;
                return true;
              }),
      element("an_improvement_after_the_end", "improvements",
              [](Told& t, json& step) {
                step["seconds"] = t.outcome["seconds"].get<double>() + 1000;
                return true;
              }),
      element("an_improvement_of_too_many_nodes", "improvements",
              [](Told& t, json& step) {
                step["nodes"] = t.outcome["nodes"].get<std::int64_t>() + 1;
                return true;
              }),
      element("an_improvement_of_no_nodes", "improvements",
              [](Told&, json& step) {
                step["nodes"] = -1;
                return true;
              }),
      element("an_improvement_of_no_source", "improvements",
              [](Told&, json& step) {
                step["source"] = "X";
                return true;
              }),
  };
}

}  // namespace stowage::families_lies_test
