#include "instances/families.h"

#include <utility>
#include <variant>

namespace stowage {

template <class... Own>
FamilyView<std::variant<Own...>>::FamilyView(const std::variant<Own...>& any)
    : own_(std::visit([](const auto& own) { return std::variant<const Own*...>(&own); }, any)) {}

template class FamilyView<Instance>;
template class FamilyView<Plan>;

std::string_view family_name(const InstanceView& instance) {
  return Families::names[instance.index()];
}
std::string_view family_name(const PlanView& plan) { return Families::names[plan.index()]; }

Certificate::Certificate(Any any) : any_(new Any(std::move(any))) {}
Certificate::Certificate(const Certificate& other)
    : any_(other.any_ == nullptr ? nullptr : new Any(*other.any_)) {}
Certificate::Certificate(Certificate&& other) noexcept : any_(std::exchange(other.any_, nullptr)) {}
Certificate& Certificate::operator=(Certificate other) noexcept {
  std::swap(any_, other.any_);
  return *this;
}
Certificate::~Certificate() { delete any_; }

}  // namespace stowage
