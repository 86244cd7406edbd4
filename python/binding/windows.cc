// plan_window(): plans the steps of a window together.
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "python/binding/boxes.h"
#include "python/binding/errors.h"
#include "python/binding/interrupt.h"
#include "python/binding/solve_options.h"
#include "solvers/scatter/window/window_plan.h"

namespace stowage::python {
namespace {

// Returns, for each step, its instance, its outcome, and the step and the index that each of its
// sequences was drawn with. Requires instances of the family scatter.
nb::list window_planned(const std::vector<const InstanceBox*>& drawn, std::int64_t delay,
                        double token_spread, const SolveArguments& arguments, Interrupt& interrupt,
                        bool watch) {
  std::vector<ScatterInstance> steps;
  for (const InstanceBox* step : drawn) steps.push_back(std::get<ScatterInstance>(step->value));
  const SolveOptions options = options_of(arguments);
  WindowPlan window;
  run_unlocked(interrupt, watch, [&] {
    window = plan_window(std::move(steps), {.delay = delay, .token_spread = token_spread}, options,
                         limits_of(arguments, interrupt));
  });
  std::vector<InputError> errors;
  for (std::size_t s = 0; s < window.outcomes.size(); ++s) {
    for (InputError error : window.outcomes[s].errors) {
      error.pointer.insert(0, "/batches/" + std::to_string(s));
      errors.push_back(std::move(error));
    }
  }
  if (!errors.empty()) throw CodedErrors(std::move(errors));
  nb::list planned;
  for (std::size_t s = 0; s < window.steps.size(); ++s) {
    std::vector<std::int64_t> from;
    std::vector<std::int64_t> index;
    for (const DrawnSequence& sequence : window.deal[s]) {
      from.push_back(sequence.step);
      index.push_back(sequence.index);
    }
    planned.append(nb::make_tuple(InstanceBox{std::move(window.steps[s])},
                                  OutcomeBox{std::move(window.outcomes[s])},
                                  array_of(std::move(from)), array_of(std::move(index))));
  }
  return planned;
}

}  // namespace

void bind_windows(nb::module_& module) {
  module.def("plan_window", &window_planned, nb::arg("steps"), nb::arg("delay"),
             nb::arg("token_spread"), nb::arg("arguments"), nb::arg("interrupt"), nb::arg("watch"),
             nb::sig("def plan_window(steps: collections.abc.Sequence[Instance], delay: int, "
                     "token_spread: float, arguments: SolveArguments, interrupt: Interrupt, watch: "
                     "bool) -> list[tuple[Instance, Outcome, numpy.typing.NDArray[numpy.int64], "
                     "numpy.typing.NDArray[numpy.int64]]]"));
}

}  // namespace stowage::python
