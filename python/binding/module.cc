// The extension module stowage._core. Its names are private; the Python package adds types,
// defaults and exceptions.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <tuple>

#include "python/binding/boxes.h"
#include "python/binding/errors.h"
#include "solvers/milp/backends.h"

namespace stowage::python {
namespace {

// Raises stowage._errors.InputError, which lists (code, pointer, message).
void raise_coded_errors(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const CodedErrors& errors) {
    nb::list entries;
    for (const InputError& entry : errors.entries()) {
      entries.append(nb::make_tuple(entry.code, entry.pointer, entry.message));
    }
    const nb::object type = nb::module_::import_("stowage._errors").attr("InputError");
    PyErr_SetObject(type.ptr(), type(entries).ptr());
  }
}

nb::list backend_names() {
  nb::list names;
  for (const MilpBackend backend : built_backends()) names.append(std::string(name(backend)));
  return names;
}

}  // namespace
}  // namespace stowage::python

NB_MODULE(_core, module) {
  using namespace stowage::python;
#ifdef NDEBUG
  nb::set_leak_warnings(false);  // no warning about objects that exist when Python ends
#endif
  module.doc() = "The compiled part of stowage; its names are private.";
  module.attr("version") = STOWAGE_VERSION;
  module.def("backend_names", &backend_names, nb::sig("def backend_names() -> list[str]"));
  nb::register_exception_translator(raise_coded_errors);
  bind_instances(module);
  bind_solves(module);
  bind_explanations(module);
  bind_arrangements(module);
  bind_order_rows(module);
  bind_parameters(module);
  bind_trainer_steps(module);
  bind_partitions(module);
  bind_audits(module);
  bind_fits(module);
  bind_lengths(module);
  bind_windows(module);
  bind_command(module);
}
