#include "cli/answers/outcome_json.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "cli/families/families.h"
#include "cli/terminal/error/error_answer.h"
#include "instances/strategy/json/rates.h"

namespace stowage {
namespace {

void write_improvements(JsonWriter& json, const std::vector<Improvement>& improvements,
                        bool timeless, const Unit& unit) {
  json.key("improvements");
  json.begin_array();
  for (const Improvement& step : improvements) {
    json.begin_object(kOneLine);
    if (!timeless) json.number("seconds", step.seconds);
    write_amount(json, "bound", step.bound, unit);
    write_amount(json, "objective", step.objective, unit);
    json.integer("nodes", step.nodes);
    json.text("source", std::string_view(&step.source, 1));
    json.text("by", step.by);
    json.end_object();
  }
  json.end_array();
}

void write_stages(JsonWriter& json, const std::vector<StageReport>& stages, bool timeless,
                  const Unit& unit) {
  json.key("stages");
  json.begin_array();
  for (const StageReport& stage : stages) {
    json.begin_object(kOneLine);
    json.text("name", stage.name);
    json.integer("runs", stage.runs);
    if (!timeless) json.number("seconds", stage.seconds);
    json.integer("nodes", stage.nodes);
    write_amount(json, "plan_gained", stage.plan_gained, unit);
    if (stage.first_plan) json.boolean("first_plan", true);
    write_amount(json, "bound_gained", stage.bound_gained, unit);
    json.end_object();
  }
  json.end_array();
}

void write_infeasibility(JsonWriter& json, const InfeasibilityProof& proof) {
  json.key("infeasibility");
  json.begin_object(kOneLine);
  json.text("by", proof.by);
  json.key("witnesses");
  json.integers(proof.witnesses);
  if (proof.step) json.integer("step", *proof.step);
  json.end_object();
}

// Writes the end of the 1F1B schedule of the plan, its bound and their gap.
void write_simulated(JsonWriter& json, const Outcome& outcome) {
  const std::optional<double> end = plan_simulated(*outcome.plan);
  json.number("simulated_1f1b_ms", *end);
  // Rounding may put a bound that equals the end slightly above it.
  const double bound = std::min(*outcome.simulated_bound, *end);
  json.number("simulated_bound_ms", bound);
  json.number("simulated_gap", relative_gap(*end, bound));
}

void write_arrangement(JsonWriter& json, const Arrangement& arrangement) {
  json.key("layout");
  json.begin_object();
  json.key("needed_bytes");
  arrangement.needed_bytes ? json.integer(*arrangement.needed_bytes) : json.null();
  json.integer("orders", arrangement.orders);
  json.text("stopped_by", to_string(arrangement.stopped_by));
  json.text("detail", arrangement.detail);
  json.key("plan");
  arrangement.layout ? write_plan(json, Plan(*arrangement.layout)) : json.null();
  json.end_object();
}

}  // namespace

void write_bounds(JsonWriter& json, const std::vector<NamedBound>& bounds, const Unit& unit) {
  json.key("bounds");
  json.begin_array();
  for (const NamedBound& bound : bounds) {
    json.begin_object(kOneLine);
    json.text("name", bound.name);
    write_amount(json, "value", bound.value, unit);
    json.end_object();
  }
  json.end_array();
}

void write_violations(JsonWriter& json, const std::vector<Violation>& violations) {
  json.key("violations");
  json.begin_array();
  for (const Violation& violation : violations) {
    json.begin_object(kOneLine);
    json.text("rule", violation.rule);
    json.text("where", violation.where);
    json.text("have", violation.have);
    json.text("need", violation.need);
    json.end_object();
  }
  json.end_array();
}

std::string outcome_json(const Outcome& outcome, const OutcomeFrame& frame) {
  const Unit unit = objective_unit(*frame.instance);
  JsonWriter json;
  json.begin_object();
  write_head(json, "stowage/outcome", family_name(*frame.instance), instance_name(*frame.instance));
  json.text("status", to_string(outcome.status));
  json.text("stopped_by", to_string(outcome.stopped_by));
  json.integer("exit_code", to_int(frame.exit_code));
  write_amount(json, "objective", outcome.objective, unit);
  write_amount(json, "bound", outcome.bound, unit);
  json.text("bound_by", outcome.bound_by);
  write_number(json, "gap", outcome.gap());
  if (outcome.simulated_bound) write_simulated(json, outcome);
  if (const auto* strategy = std::get_if<StrategyInstance>(frame.instance)) {
    write_rates(json, rate_report(*strategy));
  }
  json.text("method", outcome.method);
  if (outcome.method_bound) write_amount(json, "method_bound", outcome.method_bound, unit);
  json.text("found_by", outcome.found_by);
  json.text("solver", frame.solver);
  json.key("seed");
  json.integer(static_cast<std::int64_t>(frame.seed));
  if (!frame.timeless) json.number("seconds", outcome.seconds);
  json.integer("nodes", outcome.nodes);
  json.text("detail", outcome.detail);
  if (!outcome.remedy.empty()) json.text("remedy", outcome.remedy);
  if (!frame.errors.empty()) write_errors(json, frame.errors);
  write_bounds(json, outcome.bounds, unit);
  json.key("unplaceable");
  json.integers(outcome.unplaceable);
  if (outcome.infeasibility) write_infeasibility(json, *outcome.infeasibility);
  write_violations(json, outcome.violations);
  write_improvements(json, outcome.improvements, frame.timeless, unit);
  if (!frame.params.empty()) {
    json.key("parameters");
    json.begin_object(kOneLine);
    for (const ParameterValue& param : frame.params) json.number(param.name, param.value);
    json.end_object();
  }
  if (!frame.without.empty()) {
    json.key("without");
    json.begin_array(kOneLine);
    for (const std::string& stage : frame.without) json.text(stage);
    json.end_array();
  }
  if (frame.stages) write_stages(json, outcome.stages, frame.timeless, unit);
  if (frame.arrangement != nullptr) write_arrangement(json, *frame.arrangement);
  if (outcome.certificate) {
    json.key("certificate");
    std::visit(
        [&json](const auto& own) {
          if constexpr (requires { write_json(json, own); }) write_json(json, own);
        },
        outcome.certificate->any());
  }
  json.key("plan");
  outcome.plan ? write_plan(json, *outcome.plan) : json.null();
  json.end_object();
  return json.take();
}

ExitCode exit_code(const Outcome& outcome) {
  switch (outcome.status) {
    case Status::optimal:
    case Status::feasible:
      return ExitCode::ok;
    case Status::infeasible:
      return ExitCode::refused;
    case Status::unknown:
      return ExitCode::unknown;
    case Status::error:
      if (!outcome.errors.empty()) return ExitCode::bad_input;
      return outcome.plan ? ExitCode::ok : ExitCode::internal;
  }
  return ExitCode::internal;
}

}  // namespace stowage
