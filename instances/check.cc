#include "instances/check.h"

#include <algorithm>
#include <string>
#include <variant>

#include "instances/json/document.h"
#include "instances/json/errors.h"

namespace stowage {
namespace {

template <class T>
std::vector<InputError> errors_in(const Result<T>& read) {
  return read ? std::vector<InputError>() : read.errors();
}

std::vector<InputError> errors_of(const ScatterInstance& instance) {
  return errors_in(read_scatter_instance(write_scatter_instance(instance)));
}

std::vector<InputError> errors_of(const LayoutInstance& instance) {
  return errors_in(read_layout_instance(write_layout_instance(instance)));
}

std::vector<InputError> errors_of(const AssignInstance& instance) {
  // The document names schemes and leaves out those without replicas: it cannot show these.
  std::vector<InputError> errors;
  for (const Strategy& strategy : instance.strategies) {
    if (strategy.replicas.size() == instance.schemes.size() &&
        std::ranges::all_of(strategy.replicas, [](int count) { return count >= 0; })) {
      continue;
    }
    errors.push_back({code::kIntegerRange, "/strategies/" + strategy.name,
                      "must be a number of replicas from 0 for each of the " +
                          std::to_string(instance.schemes.size()) + " schemes"});
  }
  if (!errors.empty()) return errors;
  return errors_in(read_assign_instance(write_assign_instance(instance)));
}

}  // namespace

std::vector<InputError> check(const Instance& instance) {
  return std::visit([](const auto& any) { return errors_of(any); }, instance);
}

}  // namespace stowage
