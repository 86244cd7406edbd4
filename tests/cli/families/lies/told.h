// What solve told of an instance, and the kinds of false changes to it.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/families/outcome/check_outcome.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/order/planning_table.h"
#include "solvers/solve.h"
#include "tests/cli/process.h"
#include "tests/instances/draw.h"
#include "tests/tiny_strategy.h"

namespace stowage::families_lies_test {

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

inline Told told(const Instance& instance, const SolveOptions& options, std::int64_t nodes = 200) {
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

inline Verdict verdict_of(const TempDir& dir, const Told& told) {
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

inline void write_instance(const TempDir& dir, const Instance& instance) {
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

inline bool exchange(json& a, json& b) {
  if (a == b) return false;
  std::swap(a, b);
  return true;
}

inline std::int64_t whole(const json& number) { return number.get<std::int64_t>(); }

// Returns the bytes of all inputs of a graph at a length.
inline Bytes inputs_at(const Instance& instance, Tokens length) {
  const auto& graph = std::get<OrderInstance>(instance);
  Bytes sum = 0;
  for (const OrderTensor& tensor : graph.tensors) {
    if (tensor.input) sum += size_at(graph, tensor.size, tensor.size_per_token, length);
  }
  return sum;
}

// Sets the bound equal to the objective in all places of the document.
inline void close_the_gap(Told& t, const json& by) {
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

inline Lie closed_by(const char* name, const char* by) {
  return with_plan(name, [by](Told& t, Draw&) {
    if (!t.open()) return false;
    close_the_gap(t, by);
    return true;
  });
}

// A claim that a feasible instance is infeasible.
inline Lie denied(const char* name, json proof) {
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
inline bool has_witnesses(const json& proof) {
  return proof["by"] != "rows" && proof["by"] != "micro_batches" && proof["by"] != "configurations";
}

inline bool scale(json& number, double factor) {
  if (!number.is_number() || number == 0) return false;
  if (number.is_number_integer()) {
    number = number.get<std::int64_t>() + (factor > 1 ? 1 : -1);
  } else {
    number = number.get<double>() * factor;
  }
  return true;
}

// Returns all numbers inside a value.
inline std::vector<json*> numbers_in(json& value) {
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

}  // namespace stowage::families_lies_test
