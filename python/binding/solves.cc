// solve(): runs a solve and returns its outcome.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/families/families.h"
#include "instances/json/writer.h"
#include "python/binding/boxes.h"
#include "python/binding/errors.h"
#include "python/binding/interrupt.h"
#include "python/binding/solve_options.h"
#include "solvers/solve.h"

namespace stowage::python {
namespace {

OutcomeBox solved(const InstanceBox& instance, const SolveArguments& arguments,
                  const PlanBox* start, Interrupt& interrupt, bool watch) {
  SolveOptions options = options_of(arguments);
  if (start != nullptr) options.start = start->value;
  OutcomeBox box;
  run_unlocked(interrupt, watch, [&] {
    Budget budget(limits_of(arguments, interrupt));
    box.value = solve(instance.value, options, budget);
  });
  if (!box.value.errors.empty()) throw CodedErrors(box.value.errors);
  return box;
}

nb::list methods_of(const InstanceBox& instance) {
  nb::list all;
  for (const Method& method : methods(instance.value)) {
    all.append(nb::make_tuple(method.name, method.kind == MethodKind::ours ? "ours" : "baseline",
                              method.summary, method.source));
  }
  return all;
}

nb::list bounds_of(const OutcomeBox& box) {
  nb::list all;
  for (const NamedBound& bound : box.value.bounds) {
    all.append(nb::make_tuple(bound.name, bound.value));
  }
  return all;
}

nb::list improvements_of(const OutcomeBox& box) {
  nb::list all;
  for (const Improvement& step : box.value.improvements) {
    all.append(nb::make_tuple(step.seconds, step.bound, step.objective, step.nodes,
                              std::string(1, step.source), step.by));
  }
  return all;
}

nb::list stage_reports_of(const OutcomeBox& box) {
  nb::list all;
  for (const StageReport& stage : box.value.stages) {
    all.append(nb::make_tuple(stage.name, stage.runs, stage.seconds, stage.nodes, stage.plan_gained,
                              stage.first_plan, stage.bound_gained));
  }
  return all;
}

// Returns the text of the certificate's document, or nullopt without a certificate.
std::optional<std::string> certificate_json(const OutcomeBox& box) {
  if (!box.value.certificate) return std::nullopt;
  return std::visit(
      [](const auto& own) -> std::optional<std::string> {
        if constexpr (requires(JsonWriter & json) { write_json(json, own); }) {
          JsonWriter json;
          write_json(json, own);
          return json.take();
        } else {
          return std::nullopt;
        }
      },
      box.value.certificate->any());
}

std::optional<PlanBox> plan_of(const OutcomeBox& box) {
  if (!box.value.plan) return std::nullopt;
  return PlanBox{*box.value.plan};
}

// Returns the end of the 1F1B schedule of the plan and the bound on it, if the plan has one.
std::optional<std::pair<double, double>> simulated_of(const OutcomeBox& box) {
  if (!box.value.plan || !box.value.simulated_bound) return std::nullopt;
  const std::optional<double> end = plan_simulated(*box.value.plan);
  // Rounding may put a bound that equals the end slightly above it.
  return std::pair(*end, std::min(*box.value.simulated_bound, *end));
}

nb::object infeasibility_of(const OutcomeBox& box) {
  if (!box.value.infeasibility) return nb::none();
  const InfeasibilityProof& proof = *box.value.infeasibility;
  return nb::make_tuple(proof.by, array_of(proof.witnesses), proof.step);
}

}  // namespace

void bind_solves(nb::module_& module) {
  nb::class_<Interrupt>(module, "Interrupt")
      .def(nb::init<>())
      .def("set", [](Interrupt& interrupt) { interrupt.flag = true; })
      .def_prop_ro("signals", [](const Interrupt& interrupt) { return interrupt.signals.load(); });
  nb::class_<SolveArguments>(module, "SolveArguments")
      .def(nb::init<std::string, std::string, std::optional<double>, std::optional<std::int64_t>,
                    double, std::uint64_t, std::map<std::string, double>,
                    std::vector<std::string>>(),
           nb::kw_only(), nb::arg("method"), nb::arg("solver"), nb::arg("time_limit").none(),
           nb::arg("node_limit").none(), nb::arg("gap"), nb::arg("seed"), nb::arg("params"),
           nb::arg("without"));
  nb::class_<OutcomeBox>(module, "Outcome")
      .def_prop_ro("status", [](const OutcomeBox& box) { return to_string(box.value.status); })
      .def_prop_ro("stopped_by",
                   [](const OutcomeBox& box) { return to_string(box.value.stopped_by); })
      .def_prop_ro("objective", [](const OutcomeBox& box) { return box.value.objective; })
      .def_prop_ro("bound", [](const OutcomeBox& box) { return box.value.bound; })
      .def_prop_ro("bound_by", [](const OutcomeBox& box) { return box.value.bound_by; })
      .def_prop_ro("gap", [](const OutcomeBox& box) { return box.value.gap(); })
      .def_prop_ro("method", [](const OutcomeBox& box) { return box.value.method; })
      .def_prop_ro("method_bound", [](const OutcomeBox& box) { return box.value.method_bound; })
      .def_prop_ro("found_by", [](const OutcomeBox& box) { return box.value.found_by; })
      .def_prop_ro("seconds", [](const OutcomeBox& box) { return box.value.seconds; })
      .def_prop_ro("nodes", [](const OutcomeBox& box) { return box.value.nodes; })
      .def_prop_ro("detail", [](const OutcomeBox& box) { return box.value.detail; })
      .def_prop_ro("remedy", [](const OutcomeBox& box) { return box.value.remedy; })
      .def_prop_ro(
          "unplaceable", [](const OutcomeBox& box) { return array_of(box.value.unplaceable); },
          nb::rv_policy::automatic)
      .def_prop_ro("bounds", &bounds_of, nb::sig("def bounds(self) -> list[tuple[str, float]]"))
      .def_prop_ro("improvements", &improvements_of,
                   nb::sig("def improvements(self) -> list[tuple[float, float, float | None, int, "
                           "str, str]]"))
      .def_prop_ro("stages", &stage_reports_of,
                   nb::sig("def stages(self) -> list[tuple[str, int, float, int, float, bool, "
                           "float]]"))
      .def_prop_ro("infeasibility", &infeasibility_of,
                   nb::sig("def infeasibility(self) -> tuple[str, "
                           "numpy.typing.NDArray[numpy.int64], int | None] | None"))
      .def_prop_ro("simulated", &simulated_of)
      .def_prop_ro("certificate_json", &certificate_json)
      .def_prop_ro("plan", &plan_of);
  module.def("solve", &solved, nb::arg("instance"), nb::arg("arguments"), nb::arg("start").none(),
             nb::arg("interrupt"), nb::arg("watch"));
  module.def("methods", &methods_of,
             nb::sig("def methods(instance: Instance) -> list[tuple[str, str, str, str]]"));
}

}  // namespace stowage::python
