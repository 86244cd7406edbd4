// Reads, writes, checks and draws instances and plans.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "instances/documents.h"
#include "instances/json/document.h"
#include "instances/json/errors.h"
#include "instances/numeric/numbers.h"
#include "instances/pictures/assign/pipelines.h"
#include "instances/pictures/drawing/panel.h"
#include "instances/pictures/layout/map.h"
#include "instances/pictures/order/memory.h"
#include "instances/pictures/scatter/gantt.h"
#include "instances/pictures/strategy/stages.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/presets.h"
#include "instances/verify.h"
#include "python/binding/boxes.h"
#include "python/binding/errors.h"

namespace stowage::python {
namespace {

using Lengths = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

InstanceBox read_instance(std::string_view text, const std::string& base_dir) {
  const nb::gil_scoped_release unlocked;
  return {value_of(stowage::read_instance(text, base_dir))};
}

// Reads a plan. A partial plan is completed from `instance`, unless it is null.
PlanBox read_plan(std::string_view text, const InstanceBox* instance) {
  const nb::gil_scoped_release unlocked;
  return {value_of(instance == nullptr ? stowage::read_plan(text)
                                       : stowage::read_plan(text, instance->value))};
}

std::string read_file(const std::string& path) {
  const nb::gil_scoped_release unlocked;
  return value_of(read_text_file(path));
}

std::string instance_json(const InstanceBox& box) {
  const nb::gil_scoped_release unlocked;
  return write_instance(box.value);
}

std::string plan_json(const PlanBox& box) {
  const nb::gil_scoped_release unlocked;
  return write_plan(box.value);
}

std::string hash_of(const InstanceBox& box) {
  const nb::gil_scoped_release unlocked;
  return instance_hash(box.value);
}

const ScatterInstance& scatter_step(const InstanceBox& box) {
  const auto* step = std::get_if<ScatterInstance>(&box.value);
  if (step == nullptr) throw nb::type_error("an instance of the problem scatter is needed");
  return *step;
}

// Returns a step with the same cluster, model and cost and other sequences, of which `targets` are
// the loss tokens (default: all tokens). The function does not check the step, since solve() does.
InstanceBox with_lengths(const InstanceBox& box, const Lengths& lengths,
                         const std::optional<Lengths>& targets, const std::string& name) {
  ScatterInstance step = scatter_step(box);  // a Cluster, which has no sequences
  step.name = name;
  step.lengths.assign(lengths.data(), lengths.data() + lengths.size());
  if (targets) step.loss_tokens.assign(targets->data(), targets->data() + targets->size());
  return {std::move(step)};
}

InstanceBox preset(const std::string& model, const std::string& machine, int devices,
                   std::int64_t limit, std::optional<double> memory_mib) {
  return {value_of(scatter_preset({.model = model,
                                   .devices = devices,
                                   .limit_tokens = limit,
                                   .memory_mib = memory_mib,
                                   .machine = machine}))};
}

// Returns the longest sequence, in tokens, for groups of the degree with the exchange of the
// largest capacity.
Tokens longest_of_degree(const InstanceBox& box, int degree) {
  const ScatterInstance& step = scatter_step(box);
  Tokens most = 0;
  for (const GroupForm form : group_forms(step)) {
    if (form.degree == degree) most = std::max(most, longest_in_group(step, form));
  }
  return most;
}

// Returns the time in ms with the fastest exchange that groups of the degree may use.
double group_ms(const InstanceBox& box, int degree, const Lengths& lengths) {
  const ScatterInstance& step = scatter_step(box);
  Ms fastest = kInfinity;
  for (const GroupForm form : group_forms(step)) {
    if (form.degree != degree) continue;
    Load load = empty_load(step, form);
    Tokens tokens = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const Tokens length = padded_length(step, lengths.data()[i], form);
      load += sequence_load(step, length, form);
      tokens += length;
    }
    load += row_padding_load(step, tokens, form);
    fastest = std::min(fastest, stowage::group_ms(step, form, load));
  }
  return fastest;
}

nb::list violations_of(const std::vector<Violation>& violations) {
  nb::list all;
  for (const Violation& violation : violations) {
    all.append(nb::make_tuple(violation.rule, violation.where, violation.have, violation.need));
  }
  return all;
}

nb::list verified(const InstanceBox& instance, const PlanBox& plan) {
  std::vector<Violation> violations;
  {
    const nb::gil_scoped_release unlocked;
    violations = verify(instance.value, plan.value);
  }
  return violations_of(violations);
}

Picture picture_of(const ScatterInstance& step, const ScatterPlan& plan,
                   const ShownBounds& bounds) {
  return scatter_gantt(step, plan, bounds);
}
Picture picture_of(const AssignInstance& step, const AssignPlan& plan, const ShownBounds& bounds) {
  return assign_pipelines(step, plan, bounds);
}
Picture picture_of(const LayoutInstance& layout, const LayoutPlan& plan,
                   const ShownBounds& bounds) {
  return layout_map(layout, plan, bounds);
}
Picture picture_of(const OrderInstance& graph, const OrderPlan& plan, const ShownBounds& bounds) {
  return order_memory(graph, plan, bounds);
}
Picture picture_of(const StrategyInstance& wanted, const StrategyPlan& plan,
                   const ShownBounds& bounds) {
  return strategy_stages(wanted, plan, bounds);
}

// `proven` states that the plan's bound was proven in this process; otherwise the picture shows the
// bound as a claim. Requires a plan that verify() accepts.
std::string svg_of(const InstanceBox& instance, const PlanBox& plan, bool proven) {
  const nb::gil_scoped_release unlocked;
  return visit_both(
      [&](const auto& own, const auto& its) {
        ShownBounds bounds;
        (proven ? bounds.proven : bounds.claimed) = ShownBound{bound_of(its), its.bound_by};
        return svg_document({picture_of(own, its, bounds)}, own.name);
      },
      instance.value, plan.value);
}

}  // namespace

void bind_instances(nb::module_& module) {
  nb::class_<InstanceBox>(module, "Instance")
      .def_prop_ro("family", [](const InstanceBox& box) { return family_name(box.value); })
      .def_prop_ro("unit",
                   [](const InstanceBox& box) {
                     return std::visit([](const auto& own) { return unit_of(own).name; },
                                       box.value);
                   })
      .def_prop_ro("name",
                   [](const InstanceBox& box) {
                     return std::visit([](const auto& own) { return own.name; }, box.value);
                   })
      .def_prop_ro("tokens_per_device",
                   [](const InstanceBox& box) {
                     const ScatterInstance& step = scatter_step(box);
                     const int way = largest_form(step).recomputation;
                     return tokens_per_device(step, {1, ExchangeKind::none, way});
                   })
      .def("longest_in_group", &longest_of_degree)
      .def("group_ms", &group_ms)
      .def("with_lengths", &with_lengths, nb::arg("lengths"), nb::arg("targets").none(),
           nb::arg("name"))
      .def("hash", &hash_of)
      .def("to_json", &instance_json);
  nb::class_<PlanBox>(module, "Plan")
      .def_prop_ro("family", [](const PlanBox& box) { return family_name(box.value); })
      .def("to_json", &plan_json);
  module.def("read_instance", &read_instance);
  module.def("read_plan", &read_plan, nb::arg("text"), nb::arg("instance").none());
  module.def("read_file", &read_file);
  module.def("scatter_preset", &preset, nb::arg("model"), nb::arg("machine"), nb::arg("devices"),
             nb::arg("limit"), nb::arg("memory_mib").none());
  module.def("verify", &verified,
             nb::sig("def verify(instance: Instance, plan: Plan) -> list[tuple[str, str, str, "
                     "str]]"));
  module.def("svg", &svg_of);
}

}  // namespace stowage::python
