// arrange() and solve_with_layout(): an order and the offsets of its tensors.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <utility>
#include <variant>

#include "python/binding/boxes.h"
#include "python/binding/errors.h"
#include "python/binding/interrupt.h"
#include "python/binding/solve_options.h"
#include "solvers/memory/arrangement.h"
#include "solvers/memory/solve_with_layout.h"

namespace stowage::python {
namespace {

struct ArrangementBox {
  Arrangement value;
};

// Requires an order instance and a valid plan of it.
ArrangementBox arranged(const InstanceBox& graph, const PlanBox& plan,
                        const SolveArguments& arguments, Interrupt& interrupt, bool watch) {
  ArrangementBox box;
  run_unlocked(interrupt, watch, [&] {
    Budget budget(limits_of(arguments, interrupt));
    box.value = arrange(std::get<OrderInstance>(graph.value), std::get<OrderPlan>(plan.value),
                        {.seed = options_of(arguments).seed}, budget);
  });
  return box;
}

// Returns the outcome and its arrangement, which is None without a plan. Requires an order
// instance.
nb::tuple solved_with_layout(const InstanceBox& graph, const SolveArguments& arguments,
                             const PlanBox* start, Interrupt& interrupt, bool watch) {
  SolveOptions options = options_of(arguments);
  if (start != nullptr) options.start = start->value;
  ArrangedOutcome found;
  run_unlocked(interrupt, watch, [&] {
    found = solve_with_layout(std::get<OrderInstance>(graph.value), options,
                              limits_of(arguments, interrupt));
  });
  if (!found.outcome.errors.empty()) throw CodedErrors(found.outcome.errors);
  nb::object arrangement = nb::none();
  if (found.arrangement) arrangement = nb::cast(ArrangementBox{*std::move(found.arrangement)});
  return nb::make_tuple(OutcomeBox{std::move(found.outcome)}, arrangement);
}

}  // namespace

void bind_arrangements(nb::module_& module) {
  nb::class_<ArrangementBox>(module, "Arrangement")
      .def_prop_ro("order", [](const ArrangementBox& box) { return PlanBox{box.value.order}; })
      .def_prop_ro("buffers",
                   [](const ArrangementBox& box) { return InstanceBox{box.value.buffers}; })
      .def_prop_ro("layout",
                   [](const ArrangementBox& box) -> std::optional<PlanBox> {
                     if (!box.value.layout) return std::nullopt;
                     return PlanBox{*box.value.layout};
                   })
      .def_prop_ro("needed_bytes", [](const ArrangementBox& box) { return box.value.needed_bytes; })
      .def_prop_ro("orders", [](const ArrangementBox& box) { return box.value.orders; })
      .def_prop_ro("detail", [](const ArrangementBox& box) { return box.value.detail; })
      .def_prop_ro("stopped_by",
                   [](const ArrangementBox& box) { return to_string(box.value.stopped_by); });
  module.def("solve_with_layout", &solved_with_layout, nb::arg("graph"), nb::arg("arguments"),
             nb::arg("start").none(), nb::arg("interrupt"), nb::arg("watch"),
             nb::sig("def solve_with_layout(graph: Instance, arguments: SolveArguments, start: "
                     "Plan | None, interrupt: Interrupt, watch: bool) -> tuple[Outcome, "
                     "Arrangement | None]"));
  module.def("arrange", &arranged, nb::arg("graph"), nb::arg("plan"), nb::arg("arguments"),
             nb::arg("interrupt"), nb::arg("watch"));
}

}  // namespace stowage::python
