#include "cli/answers/page/drawn_plan.h"

#include <algorithm>
#include <utility>

#include "cli/families/families.h"
#include "cli/families/outcome/answer_reader.h"
#include "cli/terminal/unit.h"
#include "instances/numeric/numbers.h"
#include "solvers/outcome.h"

namespace stowage {
namespace {

Fact gap_fact(const std::string& label, const DrawnPlan& plan, double bound) {
  const double gap = relative_gap(plan_objective(plan.both.plan), bound);
  return {label, percent_text(gap), gap * 100};
}

}  // namespace

Result<std::optional<SearchRecord>> read_search_record(std::string_view text, const Unit& unit) {
  ErrorList errors;
  const std::optional<JsonValue> document = parse_json(text, errors);
  if (!document) return std::move(errors).take();
  const JsonPath root;
  const AnswerReader outcome(*document, root, errors);
  if (outcome.text("format") != "stowage/outcome") return std::optional<SearchRecord>();
  SearchRecord record{.status = outcome.text("status"),
                      .stopped_by = outcome.text("stopped_by"),
                      .method = outcome.text("method"),
                      .found_by = outcome.text("found_by")};
  record.progress.end_seconds = outcome.number("seconds");
  const std::string in_unit = '_' + std::string(unit.name);
  outcome.each("improvements", [&](const AnswerReader& step) {
    record.progress.points.push_back({.seconds = step.number("seconds"),
                                      .bound = step.number("bound" + in_unit).value_or(0),
                                      .objective = step.number("objective" + in_unit),
                                      .by = step.text("by")});
  });
  if (!errors.empty()) return std::move(errors).take();
  return std::optional(std::move(record));
}

std::optional<Picture> part_picture(const DrawnPlan& plan, std::string_view part) {
  const InstanceAndPlan& both = plan.both;
  if (part == "plan") return plan_picture(both.instance, both.plan, plan.judgement.shown);
  if (part == "lengths") return lengths_picture(both.instance, both.plan);
  if (part == "exchange") return exchange_picture(both.instance);
  if (!plan.search) return std::nullopt;
  const bool integral = objective_unit(both.instance).integral;
  return progress_curve(plan.search->progress, integral ? Quantity::bytes : Quantity::time_ms);
}

std::vector<Fact> facts_of(const DrawnPlan& plan) {
  const InstanceAndPlan& both = plan.both;
  const Unit unit = objective_unit(both.instance);
  const double objective = plan_objective(both.plan);
  std::vector<Fact> facts = {{"instance", instance_size(both.instance)},
                             {"objective", with_unit(objective, unit) + ", verified", objective}};
  if (const auto& proven = plan.judgement.shown.proven) {
    facts.push_back(
        {"proven bound",
         with_unit(proven->value, unit) + " (" + proven->name + "), computed again for this page",
         proven->value});
    facts.push_back(gap_fact("gap", plan, proven->value));
  }
  if (const auto& claimed = plan.judgement.shown.claimed) {
    facts.push_back({"bound as claimed",
                     with_unit(claimed->value, unit) + " (" + claimed->name +
                         "), not proven: no certificate of it is at hand; gap " +
                         percent_text(relative_gap(objective, claimed->value)),
                     claimed->value});
  }
  for (auto& [label, text] : plan_facts(both.instance, both.plan)) {
    facts.push_back({std::move(label), std::move(text)});
  }
  if (plan.search && !plan.search->method.empty()) {
    facts.push_back({"search", "method " + plan.search->method + ", plan by " +
                                   plan.search->found_by + ", " + plan.search->status +
                                   (plan.judgement.is_proven() ? "" : " as claimed, not proven") +
                                   ", stopped by " + plan.search->stopped_by});
  }
  return facts;
}

SideBySide side_by_side(const DrawnPlan& one, const DrawnPlan& other,
                        const std::array<std::string, 2>& names) {
  std::array<std::vector<Fact>, 2> facts = {facts_of(one), facts_of(other)};
  const std::optional<ShownBound>& first = one.judgement.shown.proven;
  const std::optional<ShownBound>& second = other.judgement.shown.proven;
  if (first && second && first->value != second->value) {
    const double higher = std::max(first->value, second->value);
    facts[0].push_back(gap_fact("gap to the higher bound", one, higher));
    facts[1].push_back(gap_fact("gap to the higher bound", other, higher));
  }
  return {.names = names, .facts = compare_facts(facts[0], facts[1]), .pictures = {}};
}

}  // namespace stowage
