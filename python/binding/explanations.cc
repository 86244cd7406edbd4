// explain(): returns bottlenecks and remedies as dictionaries with the keys of `stowage explain`.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <string>
#include <vector>

#include "python/binding/boxes.h"
#include "python/binding/errors.h"
#include "python/binding/interrupt.h"
#include "python/binding/solve_options.h"
#include "solvers/explain/explain.h"

namespace stowage::python {
namespace {

nb::list findings(const std::vector<Finding>& all) {
  nb::list list;
  for (const Finding& finding : all) {
    nb::dict entry;
    entry["where"] = finding.where;
    entry["text"] = finding.text;
    list.append(entry);
  }
  return list;
}

void add_conflict(nb::dict& answer, const Explanation& why) {
  answer["causes"] = findings(why.conflict.causes);
  answer["irreducible"] = why.conflict.irreducible;
  nb::list remedies;
  for (const Remedy& remedy : why.remedies) {
    nb::dict entry;
    entry["where"] = remedy.change.where;
    entry["text"] = remedy.change.text;
    entry["objective"] = remedy.objective;
    remedies.append(entry);
  }
  answer["remedies"] = remedies;
}

void add_binding(nb::dict& answer, const Explanation& why) {
  answer["binds"] = findings(why.binding.parts);
  nb::dict moves;
  moves["tried"] = why.binding.moves.tried;
  moves["all"] = why.binding.moves.all;
  moves["best_gain"] = why.binding.moves.best_gain;
  moves["best"] = why.binding.moves.best_text;
  answer["moves"] = moves;
  nb::list what_if;
  for (const WhatIf& what : why.what_if) {
    nb::dict entry;
    entry["where"] = what.where;
    entry["text"] = what.text;
    entry["objective"] = what.objective;
    entry["bound"] = what.bound;
    entry["status"] = to_string(what.status);
    what_if.append(entry);
  }
  answer["what_if"] = what_if;
}

nb::dict answer_of(const Explanation& why) {
  nb::dict answer;
  answer["status"] = to_string(why.status);
  answer["objective"] = why.objective;
  answer["bound"] = why.outcome.bound;
  answer["bound_by"] = why.outcome.bound_by;
  if (why.outcome.status == Status::infeasible) {
    add_conflict(answer, why);
  } else if (why.objective) {
    add_binding(answer, why);
  }
  return answer;
}

// The limits of `arguments` apply to each solve. `plan` must be valid, or null.
nb::dict explained(const InstanceBox& instance, const PlanBox* plan,
                   const SolveArguments& arguments, Interrupt& interrupt, bool watch) {
  ExplainOptions options{.solve = options_of(arguments)};
  options.seconds = arguments.time_limit_s.value_or(options.seconds);
  options.nodes = arguments.node_limit.value_or(options.nodes);
  std::optional<Plan> given;
  if (plan != nullptr) given = plan->value;
  Explanation why;
  run_unlocked(interrupt, watch, [&] {
    Budget budget({.interrupt = &interrupt.flag});
    why = explain(instance.value, given, options, budget);
  });
  return answer_of(why);
}

}  // namespace

void bind_explanations(nb::module_& module) {
  module.def("explain", &explained, nb::arg("instance"), nb::arg("plan").none(),
             nb::arg("arguments"), nb::arg("interrupt"), nb::arg("watch"),
             nb::sig("def explain(instance: Instance, plan: Plan | None, arguments: "
                     "SolveArguments, interrupt: Interrupt, watch: bool) -> dict[str, object]"));
}

}  // namespace stowage::python
