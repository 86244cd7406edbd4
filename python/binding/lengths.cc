// Files of sequence lengths: read_lengths().
#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "instances/json/document.h"
#include "instances/lengths/length_file.h"
#include "python/binding/boxes.h"
#include "python/binding/errors.h"

namespace stowage::python {
namespace {

// Returns (lengths, remark); other Python threads run meanwhile.
nb::tuple lengths_in(const std::string& path, const std::string& column) {
  LengthFile read;
  {
    const nb::gil_scoped_release unlocked;
    const std::string bytes = value_of(read_text_file(path));
    read = value_of(read_any_lengths(bytes, path, {.column = column, .selection = {}}));
  }
  return nb::make_tuple(array_of(std::move(read.lengths)), read.remark);
}

}  // namespace

void bind_lengths(nb::module_& module) {
  module.def("lengths_in", &lengths_in,
             nb::sig("def lengths_in(path: str, column: str) -> "
                     "tuple[numpy.typing.NDArray[numpy.int64], str]"));
}

}  // namespace stowage::python
