// The classes of C++ values that Python objects hold: variants of all families, each in a class of
// its own, and vectors that become arrays. All these values are immutable, so threads may share
// them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "instances/families.h"
#include "instances/trainer/step.h"
#include "solvers/outcome.h"

namespace stowage::python {

namespace nb = nanobind;

struct InstanceBox {
  Instance value;
};

struct PlanBox {
  Plan value;
};

struct OutcomeBox {
  Outcome value;
};

struct TrainerBox {
  TrainerStep value;
};

template <class T>
using Array = nb::ndarray<nb::numpy, const T>;

// Returns a read-only array that owns the values. `shape` is the shape of a matrix in row-major
// order, or empty for a vector.
template <class T>
Array<T> array_of(std::vector<T> values, std::initializer_list<std::size_t> shape = {}) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* all) noexcept { delete static_cast<std::vector<T>*>(all); });
  if (shape.size() == 0) return Array<T>(owned->data(), {owned->size()}, owner);
  return Array<T>(owned->data(), shape, owner);
}

// Each function adds the names of one source to the module.
void bind_instances(nb::module_& module);
void bind_solves(nb::module_& module);
void bind_explanations(nb::module_& module);
void bind_arrangements(nb::module_& module);
void bind_order_rows(nb::module_& module);
void bind_parameters(nb::module_& module);
void bind_trainer_steps(nb::module_& module);
void bind_partitions(nb::module_& module);
void bind_audits(nb::module_& module);
void bind_fits(nb::module_& module);
void bind_lengths(nb::module_& module);
void bind_windows(nb::module_& module);
void bind_command(nb::module_& module);

}  // namespace stowage::python
