// The parameters and the stages of a family's solve, for Python.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "instances/families.h"
#include "python/binding/boxes.h"
#include "python/binding/solve_options.h"
#include "solvers/solve.h"

namespace stowage::python {
namespace {

// Calls `visitor` with an empty instance of the family. Raises ValueError for an unknown family.
template <class Visitor>
void with_family(const std::string& name, Visitor&& visitor) {
  std::string known;
  for (const std::string_view each : Families::names) {
    known += (known.empty() ? "" : ", ") + std::string(each);
    if (each == name) {
      Families::with_name(name, [&](auto family) {
        const typename decltype(family)::Instance instance{};
        visitor(instance);
      });
      return;
    }
  }
  throw nb::value_error(("family: must be one of " + known + ", is " + name).c_str());
}

nb::list parameter_rows(const InstanceView& instance) {
  nb::list all;
  for (const ParameterInfo& each : parameters(instance)) {
    all.append(nb::make_tuple(each.name, each.value, each.least, each.most, each.integral,
                              each.unit, each.effect, each.evidence));
  }
  return all;
}

nb::list stage_rows(const InstanceView& instance) {
  nb::list all;
  for (const StageInfo& each : stages(instance)) {
    all.append(nb::make_tuple(each.name, each.summary));
  }
  return all;
}

nb::list family_parameters(const std::string& family) {
  nb::list all;
  with_family(family, [&](const auto& instance) { all = parameter_rows(instance); });
  return all;
}

nb::list family_stages(const std::string& family) {
  nb::list all;
  with_family(family, [&](const auto& instance) { all = stage_rows(instance); });
  return all;
}

nb::list parameter_errors(const InstanceBox& instance,
                          const std::map<std::string, double>& values) {
  nb::list errors;
  for (const InputError& error : check_parameters(instance.value, parameter_values(values))) {
    errors.append(nb::make_tuple(error.code, error.pointer, error.message));
  }
  return errors;
}

}  // namespace

void bind_parameters(nb::module_& module) {
  module.def("parameters", &family_parameters, nb::arg("family"),
             nb::sig("def parameters(family: str) -> "
                     "list[tuple[str, float, float, float, bool, str, str, str]]"));
  module.def("stages", &family_stages, nb::arg("family"),
             nb::sig("def stages(family: str) -> list[tuple[str, str]]"));
  module.def("parameter_errors", &parameter_errors, nb::arg("instance"), nb::arg("values"),
             nb::sig("def parameter_errors(instance: Instance, values: "
                     "collections.abc.Mapping[str, float]) -> list[tuple[str, str, str]]"));
}

}  // namespace stowage::python
