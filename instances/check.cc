#include "instances/check.h"

#include "instances/families.h"

namespace stowage {
namespace {

template <class InstanceT>
std::vector<InputError> errors_of(const InstanceT& instance) {
  using Family = FamilyOf<InstanceT>;
  std::vector<InputError> hidden = Family::hidden_errors(instance);
  if (!hidden.empty()) return hidden;
  if (is_well_formed(instance)) return {};
  const auto read = Family::read_instance(Family::write_instance(instance), {});
  return read ? std::vector<InputError>() : read.errors();
}

}  // namespace

std::vector<InputError> check(const InstanceView& instance) {
  return instance.visit([](const auto& any) { return errors_of(any); });
}

}  // namespace stowage
