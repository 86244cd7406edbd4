#include "cli/answers/explanation_json.h"

#include <optional>
#include <vector>

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "cli/terminal/unit.h"
#include "instances/families.h"

namespace stowage {
namespace {

void write_findings(JsonWriter& json, std::string_view key, const std::vector<Finding>& findings) {
  json.key(key);
  json.begin_array();
  for (const Finding& finding : findings) {
    json.begin_object(kOneLine);
    json.text("where", finding.where);
    json.text("text", finding.text);
    json.end_object();
  }
  json.end_array();
}

void write_conflict(JsonWriter& json, const Explanation& explanation, const Unit& unit) {
  write_findings(json, "causes", explanation.conflict.causes);
  json.boolean("irreducible", explanation.conflict.irreducible);
  json.key("remedies");
  json.begin_array();
  for (const Remedy& remedy : explanation.remedies) {
    json.begin_object(kOneLine);
    json.text("where", remedy.change.where);
    json.text("text", remedy.change.text);
    write_amount(json, "objective", remedy.objective, unit);
    json.end_object();
  }
  json.end_array();
}

void write_binding(JsonWriter& json, const Explanation& explanation, const Unit& unit) {
  const Moves& moves = explanation.binding.moves;
  write_findings(json, "binds", explanation.binding.parts);
  json.key("moves");
  json.begin_object(kOneLine);
  json.integer("tried", moves.tried);
  json.boolean("all", moves.all);
  write_amount(json, "best_gain", moves.best_gain, unit);
  json.text("best", moves.best_text);
  json.end_object();
  if (!explanation.binding.assumptions.empty()) {
    write_findings(json, "assumptions", explanation.binding.assumptions);
  }
  json.key("what_if");
  json.begin_array();
  for (const WhatIf& what : explanation.what_if) {
    json.begin_object(kOneLine);
    json.text("where", what.where);
    json.text("text", what.text);
    write_amount(json, "objective", what.objective, unit);
    write_amount(json, "bound", what.bound, unit);
    json.text("status", to_string(what.status));
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string explanation_json(const Instance& instance, const Explanation& explanation,
                             const std::vector<Violation>& violations, ExitCode code) {
  const Unit unit = objective_unit(instance);
  const Outcome& outcome = explanation.outcome;
  JsonWriter json;
  json.begin_object();
  write_head(json, "stowage/explanation", family_name(instance), instance_name(instance));
  json.integer("exit_code", to_int(code));
  const bool valid = violations.empty();
  json.text("status", valid ? to_string(explanation.status) : "invalid");
  write_amount(json, "objective", explanation.objective, unit);
  write_amount(json, "bound", outcome.bound, unit);
  json.text("bound_by", outcome.bound_by);
  json.key("gap");
  explanation.objective&& valid ? json.number(relative_gap(*explanation.objective, outcome.bound))
                                : json.null();
  write_bounds(json, outcome.bounds, unit);
  if (!valid) write_violations(json, violations);
  if (outcome.status == Status::infeasible) {
    write_conflict(json, explanation, unit);
  } else if (explanation.objective) {
    write_binding(json, explanation, unit);
  }
  json.end_object();
  return json.take();
}

}  // namespace stowage
