// A thousand false changes of outcomes: `verify` must refuse each, or mark it as not proven. The
// outcomes of `solve` itself must pass. Longer than 300 lines because it is one table.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/families/outcome/check_outcome.h"
#include "formulations/order/bounds.h"
#include "instances/order/generate/generate.h"
#include "instances/order/json/json.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/exhaustive_check.h"
#include "solvers/milp/solver.h"
#include "solvers/solve.h"
#include "tests/cli/process.h"
#include "tests/instances/draw.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_host.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_order.h"
#include "tests/tiny_scatter.h"
#include "tests/tiny_strategy.h"

namespace stowage::families_lies_test {
namespace {

using nlohmann::json;

// An outcome of `solve` and its instance.
struct Told {
  Instance instance;
  json outcome;
  std::string unit;  // "_ms"

  json& at(const std::string& stem) { return outcome[stem + unit]; }
  json& plan() { return outcome["plan"]; }
  bool has_plan() const { return outcome["plan"].is_object(); }
  double objective() { return at("objective").get<double>(); }
  // The objective in the plan: the peak of a layout.
  json& plan_objective() { return plan()[unit == "_bytes" ? "peak_bytes" : "objective_ms"]; }
  json& plan_bound() { return plan()["bound" + unit]; }
  bool open() { return has_plan() && outcome["gap"].get<double>() > 1e-3; }
  bool certified() const { return outcome.contains("certificate"); }
};

Told told(const Instance& instance, const SolveOptions& options, std::int64_t nodes = 200) {
  Budget budget({.time_limit_s = 0.2, .node_limit = nodes});
  const Outcome outcome = solve(instance, options, budget);
  const OutcomeFrame frame{.instance = &instance, .exit_code = exit_code(outcome)};
  return {instance, json::parse(outcome_json(outcome, frame)),
          '_' + std::string(objective_unit(instance).name)};
}

// The result of `verify`.
struct Verdict {
  bool refused = false;
  bool proven = false;
  std::string words;
};

Verdict verdict_of(const TempDir& dir, const Told& told) {
  dir.write("outcome.json", told.outcome.dump());
  const Loaded<Answer> answer =
      load_answer((dir / "instance.json").string(), (dir / "outcome.json").string());
  if (!answer.value) return {.refused = true, .words = to_string(answer.errors.front().error)};
  return std::visit(
      [](const auto& any) {
        const auto judgement = judge(any);
        Verdict verdict{.refused = !judgement.violations.empty()};
        if constexpr (requires { judgement.is_proven(); }) {
          verdict.proven = judgement.is_proven();
        } else {
          verdict.proven = judgement.proven;
        }
        for (const Violation& v : judgement.violations) verdict.words += to_string(v) + '\n';
        return verdict;
      },
      *answer.value);
}

void write_instance(const TempDir& dir, const Instance& instance) {
  dir.write("instance.json",
            std::visit([](const auto& any) { return FamilyOf<decltype(any)>::write_instance(any); },
                       instance));
}

struct Lie {
  std::string name;
  std::function<bool(Told&, Draw&)> tell;  // returns false if the change would not be false here
};

// A false change of an outcome with a plan.
template <class Change>
Lie with_plan(const char* name, Change change) {
  return {name, [change](Told& t, Draw& draw) {
            if (!t.has_plan()) return false;
            if constexpr (requires { bool(change(t, draw)); }) {
              return change(t, draw);
            } else {
              change(t, draw);
              return true;
            }
          }};
}

template <class Change>
Lie without_plan(const char* name, Change change) {
  return {name, [change](Told& t, Draw& draw) {
            return t.outcome["status"] == "infeasible" && change(t, draw);
          }};
}

template <class Value>
Lie set(const char* name, const char* key, Value value) {
  return with_plan(name, [key, value](Told& t, Draw&) { t.outcome[key] = value; });
}

// A false change of one element of a list of the outcome.
template <class Change>
Lie element(const char* name, const char* key, Change change) {
  return with_plan(name, [key, change](Told& t, Draw& draw) {
    json& list = t.outcome[key];
    if (list.empty()) return false;
    return change(t, list[draw.below(list.size())]);
  });
}

// A false change of one row of an order for lengths that are known at run time only.
template <class Change>
Lie of_row(const char* name, Change change) {
  return with_plan(name, [change](Told& t, Draw& draw) {
    if (!t.plan().contains("rows")) return false;
    json& rows = t.plan()["rows"];
    const std::size_t k = draw.below(rows.size());
    return change(t, rows, k);
  });
}

// A false change at one of the two ends of a row: "peak_bytes_at_from".
template <class Change>
Lie of_row_end(const char* name, Change change) {
  return with_plan(name, [change](Told& t, Draw& draw) {
    if (!t.plan().contains("rows")) return false;
    json& row = t.plan()["rows"][draw.below(t.plan()["rows"].size())];
    const std::string end = draw.coin() ? "from" : "to";
    return change(row, row["peak_bytes_at_" + end], row["bound_bytes_at_" + end]);
  });
}

// A false change of one transfer of an order with a host.
template <class Change>
Lie of_transfer(const char* name, Change change) {
  return with_plan(name, [change](Told& t, Draw& draw) {
    if (!t.plan().contains("transfers")) return false;
    json& transfers = t.plan()["transfers"];
    const std::size_t k = draw.below(transfers.size());
    return change(t, transfers, transfers[k]);
  });
}

bool exchange(json& a, json& b) {
  if (a == b) return false;
  std::swap(a, b);
  return true;
}

std::int64_t whole(const json& number) { return number.get<std::int64_t>(); }

// Returns the bytes of all inputs of a graph at a length.
Bytes inputs_at(const Instance& instance, Tokens length) {
  const auto& graph = std::get<OrderInstance>(instance);
  Bytes sum = 0;
  for (const OrderTensor& tensor : graph.tensors) {
    if (tensor.input) sum += size_at(graph, tensor.size, tensor.size_per_token, length);
  }
  return sum;
}

// Sets the bound equal to the objective in all places of the document.
void close_the_gap(Told& t, const json& by) {
  const json objective = t.at("objective");
  t.at("bound") = objective;
  t.plan_bound() = objective;
  t.outcome["bound_by"] = by;
  t.plan()["bound_by"] = by;
  t.outcome["gap"] = 0;
  t.outcome["status"] = "optimal";
  t.outcome["stopped_by"] = "proof";
  bool listed = false;
  for (json& bound : t.outcome["bounds"]) {
    if (bound["name"] != by) continue;
    bound["value" + t.unit] = objective;
    listed = true;
  }
  if (!listed) t.outcome["bounds"].push_back({{"name", by}, {"value" + t.unit, objective}});
  json last = t.outcome["improvements"].back();
  last["bound" + t.unit] = objective;
  last["source"] = "B";
  last["by"] = by;
  t.outcome["improvements"].push_back(last);
}

Lie closed_by(const char* name, const char* by) {
  return with_plan(name, [by](Told& t, Draw&) {
    if (!t.open()) return false;
    close_the_gap(t, by);
    return true;
  });
}

// A claim that a feasible instance is infeasible.
Lie denied(const char* name, json proof) {
  return with_plan(name, [proof](Told& t, Draw&) {
    t.outcome["status"] = "infeasible";
    t.outcome["stopped_by"] = "proof";
    t.outcome["exit_code"] = 1;
    t.outcome["plan"] = nullptr;
    t.at("objective") = nullptr;
    t.outcome["gap"] = nullptr;
    if (!proof.is_null()) t.outcome["infeasibility"] = proof;
    if (!proof.is_null() && proof["by"] == "sequences") {
      t.outcome["unplaceable"] = proof["witnesses"];
    }
    return true;
  });
}

// A proof by counting has no witnesses.
bool has_witnesses(const json& proof) {
  return proof["by"] != "rows" && proof["by"] != "micro_batches" && proof["by"] != "configurations";
}

bool scale(json& number, double factor) {
  if (!number.is_number() || number == 0) return false;
  if (number.is_number_integer()) {
    number = number.get<std::int64_t>() + (factor > 1 ? 1 : -1);
  } else {
    number = number.get<double>() * factor;
  }
  return true;
}

// Returns all numbers inside a value.
std::vector<json*> numbers_in(json& value) {
  if (value.is_number() && value != 0) return {&value};
  std::vector<json*> all;
  if (value.is_structured()) {
    for (json& inner : value) {
      const std::vector<json*> some = numbers_in(inner);
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  return all;
}

const std::vector<Lie>& lies() {
  static const std::vector<Lie> kLies = {
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
      // The exchange of a group: one that its degree may not use.
      with_plan("another_exchange",
                [](Told& t, Draw& draw) {
                  if (!t.plan().contains("micro_batches")) return false;
                  json& batches = t.plan()["micro_batches"];
                  if (batches.empty()) return false;
                  json& groups = batches[draw.below(batches.size())]["groups"];
                  json& group = groups[draw.below(groups.size())];
                  if (group.erase("exchange") == 0) group["exchange"] = "ring";
                  return true;
                }),
      // Less on the host than memory needs, or a share of what cannot leave.
      with_plan("another_share_on_the_host",
                [](Told& t, Draw& draw) {
                  if (!t.plan().contains("micro_batches")) return false;
                  json& batches = t.plan()["micro_batches"];
                  if (batches.empty()) return false;
                  json& groups = batches[draw.below(batches.size())]["groups"];
                  json& group = groups[draw.below(groups.size())];
                  const double share = group.value("offload", 0.0);
                  if (group.contains("offload")) {
                    group["offload"] = 0.99 * share;
                  } else {
                    group["offload"] = -0.01;
                  }
                  return true;
                }),
      // The recomputation mode of a micro-batch: one that the instance does not list, or none where
      // it needs one.
      with_plan("another_recomputation",
                [](Told& t, Draw& draw) {
                  if (!t.plan().contains("micro_batches")) return false;
                  json& batches = t.plan()["micro_batches"];
                  if (batches.empty()) return false;
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
      with_plan("plan_without_its_first_part",
                [](Told& t, Draw&) {
                  for (const char* key :
                       {"micro_batches", "replicas", "offsets", "order", "stages"}) {
                    if (!t.plan().contains(key) || t.plan()[key].empty()) continue;
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
      // The plan's rows, if it has rows.
      of_row("rows_gone", [](Told& t, json&, std::size_t) { return t.plan().erase("rows") > 0; }),
      of_row("row_gone",
             [](Told&, json& rows, std::size_t k) {
               rows.erase(k);
               return true;
             }),
      of_row("row_twice",
             [](Told&, json& rows, std::size_t k) {
               rows.insert(rows.begin() + std::ptrdiff_t(k), json(rows[k]));
               return true;
             }),
      of_row("rows_the_other_way_around",
             [](Told&, json& rows, std::size_t) {
               std::reverse(rows.begin(), rows.end());
               return rows.size() > 1;
             }),
      of_row("row_that_leaves_a_length_out",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["from"] = whole(rows[k]["from"]) + 1;
               return true;
             }),
      of_row("row_that_ends_too_early",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["to"] = whole(rows[k]["to"]) - 1;
               return true;
             }),
      of_row("row_with_a_length_of_the_next",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["to"] = whole(rows[k]["to"]) + 1;
               return true;
             }),
      of_row("row_with_a_length_of_the_one_before",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["from"] = whole(rows[k]["from"]) - 1;
               return true;
             }),
      of_row("rows_made_one",
             [](Told&, json& rows, std::size_t) {
               if (rows.size() < 2) return false;
               rows[0]["to"] = rows[1]["to"];
               const bool other = rows[0]["peak_bytes_at_to"] != rows[1]["peak_bytes_at_to"];
               rows.erase(1);
               return other;
             }),
      of_row("row_of_a_fraction",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["from"] = whole(rows[k]["from"]) + 0.5;
               return true;
             }),
      of_row("row_with_an_unknown_key",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["proof"] = true;
               return true;
             }),
      of_row_end("row_peak_less", [](json&, json& peak, json&) { return scale(peak, 0.99); }),
      of_row_end("row_peak_more", [](json&, json& peak, json&) { return scale(peak, 1.01); }),
      of_row_end(
          "row_peak_and_bound_less",
          [](json&, json& peak, json& bound) { return scale(peak, 0.99) && scale(bound, 0.99); }),
      of_row_end("row_bound_above_the_peak",
                 [](json&, json& peak, json& bound) {
                   bound = whole(peak) + 1;
                   return true;
                 }),
      of_row_end("row_bound_of_the_peak",
                 [](json&, json& peak, json& bound) {
                   if (whole(peak) <= whole(bound)) return false;
                   bound = peak;
                   return true;
                 }),
      of_row_end("row_bound_a_byte_higher",
                 [](json&, json& peak, json& bound) {
                   return whole(peak) > whole(bound) && scale(bound, 2);
                 }),
      of_row_end("row_bound_negative",
                 [](json&, json&, json& bound) {
                   bound = -1;
                   return true;
                 }),
      of_row_end("row_without_a_bound_operator",
                 [](json& row, json&, json&) { return row.erase("bound_operator") > 0; }),
      of_row("row_peaks_exchanged",
             [](Told&, json& rows, std::size_t k) {
               return exchange(rows[k]["peak_bytes_at_from"], rows[k]["peak_bytes_at_to"]);
             }),
      of_row("row_bounds_exchanged",
             [](Told&, json& rows, std::size_t k) {
               return exchange(rows[k]["bound_bytes_at_from"], rows[k]["bound_bytes_at_to"]);
             }),
      of_row("row_bound_of_the_inputs",
             [](Told& t, json& rows, std::size_t k) {
               json& row = rows[k];
               row["bound_operator"] = OrderRow::kInputs;
               return inputs_at(t.instance, row["to"]) < whole(row["bound_bytes_at_to"]);
             }),
      of_row("row_bound_of_nobody",
             [](Told& t, json& rows, std::size_t k) {
               const auto& graph = std::get<OrderInstance>(t.instance);
               rows[k]["bound_operator"] = graph.operators.size();
               return true;
             }),
      of_row("row_orders_exchanged",
             [](Told&, json& rows, std::size_t) {
               if (rows.size() < 2) return false;
               return exchange(rows.front()["order"], rows.back()["order"]);
             }),
      of_row("row_order_backwards",
             [](Told&, json& rows, std::size_t) {
               json& order = rows.front()["order"];
               std::reverse(order.begin(), order.end());
               return order.size() > 1;
             }),
      of_row("row_without_an_operator",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["order"].erase(0);
               return true;
             }),
      of_row("order_of_no_row",
             [](Told& t, json& rows, std::size_t) {
               if (rows.size() < 2 || rows.front()["order"] == rows.back()["order"]) return false;
               t.plan()["order"] = rows.front()["order"];
               return true;
             }),
      with_plan("rows_of_a_graph_of_one_length",
                [](Told& t, Draw&) {
                  if (!t.plan().contains("order") || t.plan().contains("rows")) return false;
                  const json peak = t.plan()["peak_bytes"];
                  t.plan()["rows"] = json::array({{{"from", 1},
                                                   {"to", 1},
                                                   {"peak_bytes_at_from", peak},
                                                   {"peak_bytes_at_to", peak},
                                                   {"bound_bytes_at_from", 0},
                                                   {"bound_bytes_at_to", 0},
                                                   {"bound_operator", -1},
                                                   {"order", t.plan()["order"]}}});
                  return true;
                }),
      of_transfer("transfers_gone",
                  [](Told& t, json&, json&) { return t.plan().erase("transfers") > 0; }),
      of_transfer("transfer_twice",
                  [](Told&, json& transfers, json& its) {
                    transfers.push_back(json(its));
                    return true;
                  }),
      of_transfer("transfer_of_nothing",
                  [](Told& t, json&, json& its) {
                    its["tensor"] = std::get<OrderInstance>(t.instance).tensors.size();
                    return true;
                  }),
      of_transfer("transfer_without_its_way_out",
                  [](Told&, json&, json& its) { return its.erase("out") > 0; }),
      of_transfer("transfer_back_too_late",
                  [](Told& t, json&, json& its) {
                    its["in"] = t.plan()["order"].size();
                    return true;
                  }),
      of_transfer("transfer_back_before_it_left",
                  [](Told&, json&, json& its) {
                    its["in"] = its["freed"];
                    return true;
                  }),
      with_plan("transfer_where_there_is_no_host",
                [](Told& t, Draw&) {
                  if (!t.plan().contains("order") || t.plan().contains("transfers")) return false;
                  if (std::get<OrderInstance>(t.instance).host) return false;
                  t.plan()["transfers"] =
                      json::array({{{"tensor", 0}, {"out", 0}, {"freed", 1}, {"in", 2}}});
                  return true;
                }),
      with_plan("cut_without_its_certificate",
                [](Told& t, Draw&) {
                  if (t.outcome["bound_by"] != "cut") return false;
                  // For few operators, verify enumerates and finds that the bound is true.
                  const auto& graph = std::get<OrderInstance>(t.instance);
                  if (graph.operators.size() <= kMaxOperatorsTriedAgain) return false;
                  // bounds that are proven without it
                  for (const json& bound : t.outcome["bounds"]) {
                    if (bound["name"] == "operator" && bound["value_bytes"] == t.at("bound")) {
                      return false;
                    }
                  }
                  return t.outcome.erase("certificate") > 0;
                }),
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
  return kLies;
}

// Two buffers pinned to the same offset, and a buffer pinned beyond the capacity.
std::vector<Instance> impossible_layouts() {
  const LayoutInstance pins{
      .name = "pins",
      .buffers = {{.id = "a", .lower = 0, .upper = 2, .size = 8, .offset = 0},
                  {.id = "b", .lower = 1, .upper = 3, .size = 8, .offset = 4}}};
  LayoutInstance beyond = pins;
  beyond.capacity = 8;
  beyond.buffers[0].upper = 1;
  LayoutInstance full = beyond;
  for (Buffer& buffer : full.buffers) buffer.offset.reset();
  full.buffers[0].upper = 2;
  full.buffers[0].alignment = full.buffers[1].alignment = 16;
  // Three buffers of 4 bytes and the pinned one need 13 bytes, and end at 12 or 15.
  LayoutInstance gap{.name = "gap",
                     .capacity = 14,
                     .buffers = {{.lower = 0, .upper = 1, .size = 1, .offset = 10}}};
  for (int k = 0; k < 3; ++k) gap.buffers.push_back({.lower = 0, .upper = 1, .size = 4});
  return {pins, beyond, full, gap};
}

std::vector<Instance> impossible_steps() {
  ScatterInstance scatter = tiny_scatter(1);
  scatter.lengths = {1, 100'000};
  ScatterInstance workspace = tiny_scatter(1);
  workspace.lengths = {1, 2};
  workspace.model.sequence_mib = 1000;
  AssignInstance longer = tiny_assign(1);
  longer.lengths = {1, 1'000'000};
  AssignInstance starving{.name = "starving",
                          .devices = 2,
                          .schemes = {{.name = "1x1", .linear_ms = 1, .max_tokens = 10},
                                      {.name = "short", .linear_ms = 1, .max_tokens = 2}},
                          .strategies = {{.name = "both", .replicas = {1, 1}}},
                          .constraints = {.allow_empty = false},
                          .lengths = {5, 6, 7}};
  ScatterInstance odd = tiny_scatter(1);
  odd.rules.micro_batches_multiple_of = 2;
  odd.lengths = {1, 1, 1};
  odd.cost.all_to_all = {};
  odd.cluster.degrees = {odd.cluster.devices};
  odd.rules.max_sequences_per_group = 1;
  ScatterInstance idle{.name = "idle",
                       .cluster = {.devices = 4, .memory_mib = 10, .degrees = {1, 2}},
                       .model = {.activation_mib_per_token = 1},
                       .cost = {.linear_ms = 1},
                       .rules = {.no_idle_ranks = true},
                       .lengths = {5}};
  return {scatter, workspace, longer, starving, odd, idle};
}

// An operator that needs more than the capacity, and inputs that do.
std::vector<Instance> impossible_orders() {
  const OrderInstance alone{.name = "alone",
                            .capacity = 10,
                            .tensors = {{.size = 4, .input = true}, {.size = 4, .output = true}},
                            .operators = {{.reads = {0}, .writes = {1}, .workspace = 3}}};
  OrderInstance crowded = alone;
  crowded.name = "crowded";
  crowded.tensors.push_back({.size = 20, .input = true, .output = true});
  crowded.operators.clear();
  crowded.tensors[1].input = true;
  return {alone, crowded};
}

// Options without a valid combination, and layers that fit on no stage.
std::vector<Instance> impossible_strategies() {
  StrategyInstance crowded = tiny_strategy(0);
  crowded.name = "crowded";
  crowded.cluster.memory_mib = 0.5;
  StrategyInstance odd = crowded;
  odd.name = "odd";
  odd.options.tp = {7};
  return {crowded, odd};
}

// Returns instances of all families, some of them infeasible; `of_each_family` steps and layouts
// each.
std::vector<Instance> instances(std::uint64_t of_each_family, std::uint64_t most_items) {
  std::vector<Instance> all = impossible_layouts();
  for (Instance& step : impossible_steps()) all.push_back(std::move(step));
  for (Instance& graph : impossible_orders()) all.push_back(std::move(graph));
  for (Instance& wanted : impossible_strategies()) all.push_back(std::move(wanted));
  for (std::uint64_t seed = 0; seed < of_each_family; ++seed) {
    all.emplace_back(tiny_scatter(seed, most_items));
    all.emplace_back(tiny_ruled_scatter(seed, most_items));
    all.emplace_back(tiny_timed_scatter(seed, most_items));
    all.emplace_back(tiny_memory_scatter(seed, most_items));
    all.emplace_back(tiny_pipeline_scatter(seed, most_items));
    all.emplace_back(tiny_recomputing_scatter(seed, most_items));
    all.emplace_back(tiny_padded_scatter(seed, most_items));
    all.emplace_back(tiny_offload_scatter(seed, most_items));
    all.emplace_back(tiny_kinds_scatter(seed, most_items));
    all.emplace_back(tiny_measured_scatter(seed, most_items));
    all.emplace_back(tiny_assign(seed, most_items));
    all.emplace_back(tiny_layout(seed, most_items));
    all.emplace_back(tiny_order(seed, most_items));
    all.emplace_back(tiny_growing_order(seed, most_items));
    all.emplace_back(tiny_host(seed, most_items));
    all.emplace_back(tiny_strategy(seed, most_items));
  }
  return all;
}

// Returns larger instances, for which verify does not find the optimum itself. A claim about the
// optimum is then false or undecided.
std::vector<Instance> larger_instances() {
  constexpr std::size_t kSearched = 12;  // sequences of a scatter step
  std::vector<Instance> all = instances(4, 30);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    all.emplace_back(
        *generate_order({.kind = OrderGenerator::Kind::layered, .operators = 40, .seed = seed}));
    if (seed % 2 == 0) all.emplace_back(tiny_growing_order(seed, 60));
  }
  all.emplace_back(*generate_order({.kind = OrderGenerator::Kind::chunked,
                                    .operators = 48,
                                    .tokens = 65536,
                                    .tokens_from = 256}));
  std::erase_if(all, [](const Instance& instance) {
    const auto* graph = std::get_if<OrderInstance>(&instance);
    if (graph != nullptr) return graph->operators.size() <= kMaxOperatorsTriedAgain;
    const auto* step = std::get_if<ScatterInstance>(&instance);
    return step != nullptr && step->lengths.size() > 2 && step->lengths.size() <= kSearched;
  });
  // A small instance with three rows and two orders. Its optimum is found, so its gap is 0.
  all.emplace_back(
      *read_order_instance(read_text(std::filesystem::path(STOWAGE_SOURCE_DIR) /
                                     "instances/data/order/tiny/another-order-when-long.json")));
  // A small instance with a transfer.
  all.emplace_back(*read_order_instance(read_text(std::filesystem::path(STOWAGE_SOURCE_DIR) /
                                                  "instances/data/order/tiny/on-the-host.json")));
  return all;
}

TEST(HonestOutcomes, AreNotRefusedWhateverTheMethod) {
  const TempDir dir;
  int infeasible = 0;
  for (const Instance& instance : instances(3, 6)) {
    write_instance(dir, instance);
    for (const Method& method : methods(instance)) {
      const Told honest = told(instance, {.method = method.name, .milp_seconds = 0.01}, 20);
      if (!honest.has_plan() && honest.outcome["status"] != "infeasible") continue;
      const Verdict verdict = verdict_of(dir, honest);
      ASSERT_FALSE(verdict.refused) << family_name(instance) << ' ' << instance_name(instance)
                                    << ' ' << method.name << ": " << verdict.words;
      // A bound by a closed form, or with its certificate, is proven.
      const BoundNames names = bound_names(instance);
      const std::string by = honest.outcome["bound_by"];
      const bool searched = std::ranges::find(names.searched, by) != names.searched.end();
      if (honest.has_plan() && !searched) {
        EXPECT_TRUE(verdict.proven) << instance_name(instance) << ' ' << method.name;
      }
      infeasible += honest.has_plan() ? 0 : 1;
    }
  }
  EXPECT_GT(infeasible, 10);
}

TEST(Infeasibility, IsProvenByWhatTheOutcomeCarries) {
  const TempDir dir;
  std::vector<Instance> all = impossible_layouts();
  for (Instance& step : impossible_steps()) all.push_back(std::move(step));
  for (Instance& graph : impossible_orders()) all.push_back(std::move(graph));
  for (Instance& wanted : impossible_strategies()) all.push_back(std::move(wanted));
  std::set<std::string> proofs;
  for (const Instance& instance : all) {
    write_instance(dir, instance);
    const Told honest = told(instance, {.method = "fast"});
    ASSERT_EQ(honest.outcome["status"], "infeasible") << instance_name(instance);
    const Verdict verdict = verdict_of(dir, honest);
    EXPECT_FALSE(verdict.refused) << verdict.words;
    EXPECT_TRUE(verdict.proven) << instance_name(instance);
    proofs.insert(honest.outcome["infeasibility"]["by"]);
  }
  EXPECT_EQ(proofs,
            (std::set<std::string>{"pins", "capacity", "load", "heights", "sequences",
                                   "micro_batches", "rows", "operator", "ends", "configurations"}));
}

// No order of these graphs fits in the capacity, though each operator does.
TEST(Infeasibility, OfAnOrderIsProvenByItsCertificate) {
  const TempDir dir;
  std::map<std::string, int> names;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    OrderInstance graph = tiny_order(seed, 9, false);
    if (graph.operators.empty()) continue;
    const Bytes least = *least_peak(graph);
    graph.capacity = least - 1;
    if (operator_bound(OrderTable(graph)).bytes >= least) continue;
    write_instance(dir, graph);
    Told honest = told(graph, {.method = "exact"}, 100'000);
    ASSERT_EQ(honest.outcome["status"], "infeasible") << seed;
    ASSERT_EQ(honest.outcome["infeasibility"]["by"], "certificate") << seed;
    const Verdict verdict = verdict_of(dir, honest);
    EXPECT_FALSE(verdict.refused) << seed << ' ' << verdict.words;
    EXPECT_TRUE(verdict.proven) << seed;
    ++names[honest.outcome["bound_by"]];
    json& certificate = honest.outcome["certificate"];
    certificate["bound_bytes"] = least - 1;
    // the changed value does not exceed the capacity
    EXPECT_TRUE(verdict_of(dir, honest).refused) << seed;
    honest.outcome.erase("certificate");
    EXPECT_TRUE(verdict_of(dir, honest).refused) << seed;
  }
  EXPECT_GT(names["cut"], 5);
  EXPECT_GT(names["search"], 5);
}

TEST(Lies, AThousandAreRefusedOrMarkedAsNotProven) {
  constexpr int kEnough = 1000;
  const TempDir dir;
  std::set<std::string> kinds;
  std::set<std::string_view> families;
  int count = 0;
  int marked = 0;
  const auto tell_all = [&](const Told& honest, Draw& draw) {
    for (const Lie& lie : lies()) {
      Told lying = honest;
      if (!lie.tell(lying, draw)) continue;
      const Verdict verdict = verdict_of(dir, lying);
      EXPECT_TRUE(verdict.refused || !verdict.proven)
          << lie.name << " about " << family_name(honest.instance) << ' '
          << instance_name(honest.instance);
      kinds.insert(lie.name);
      families.insert(family_name(honest.instance));
      ++count;
      marked += verdict.refused ? 0 : 1;
    }
  };
  // The instances have more sequences and buffers than a search solves at once, and a baseline also
  // runs, so that most changes are about gaps.
  for (const Instance& instance : larger_instances()) {
    write_instance(dir, instance);
    Draw draw(1);
    tell_all(told(instance, {.method = "fast"}, 40), draw);
    tell_all(told(instance, {.method = methods(instance)[1].name}, 40), draw);
  }
  RecordProperty("lies", count);
  RecordProperty("kinds", static_cast<int>(kinds.size()));
  EXPECT_GE(count, kEnough);
  for (const Lie& lie : lies()) {
    // Without a backend no certificate has a gap.
    if (built_backends().empty() && lie.name == "certificate_raised_as_well") continue;
    EXPECT_TRUE(kinds.contains(lie.name)) << lie.name << " is not told";
  }
  EXPECT_GE(kinds.size(), 60U);
  EXPECT_EQ(families.size(), Families::names.size());
  EXPECT_LT(marked, count / 10) << "most lies are to be refused";
}

}  // namespace
}  // namespace stowage::families_lies_test
