#include "instances/documents.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "instances/document/header.h"
#include "instances/families.h"
#include "instances/json/errors.h"

namespace stowage {
namespace {

// Returns the result of read(family) for the family of the document. read_head() has refused all
// documents of other families.
template <class Any, class Read>
Result<Any> read_as(std::string_view text, std::initializer_list<std::string_view> formats,
                    const Read& read) {
  Result<Head> head = read_head(text);
  if (!head) return head.errors();
  if (std::ranges::find(formats, head->format) == formats.end()) {
    std::string wanted;
    for (const std::string_view format : formats) {
      wanted += (wanted.empty() ? "" : " or ") + std::string(format);
    }
    return InputError{code::kFormat, "/format",
                      "must be " + wanted + ", is \"" + head->format + '"'};
  }
  Result<Any> all = InputError{};
  Families::with_name(head->problem, [&](auto family) {
    auto one = read(family);
    all = one ? Result<Any>(*std::move(one)) : Result<Any>(one.errors());
  });
  return all;
}

template <class Read>
Result<Plan> read_plan_as(std::string_view text, const Read& read) {
  return read_as<Plan>(text, {"stowage/plan", "stowage/outcome"}, read);
}

}  // namespace

Result<Instance> read_instance(std::string_view text, const std::string& base_dir) {
  return read_as<Instance>(text, {"stowage/instance"},
                           [&](auto family) { return family.read_instance(text, base_dir); });
}

Result<Plan> read_plan(std::string_view text) {
  return read_plan_as(text, [&](auto family) { return family.read_plan(text); });
}

Result<Plan> read_plan(std::string_view text, const InstanceView& instance) {
  return read_plan_as(text, [&]<class Family>(Family family) -> Result<typename Family::Plan> {
    const auto* const own = instance.get_if<typename Family::Instance>();
    if (own == nullptr) {
      return InputError{code::kProblem, "/problem",
                        "must be \"" + std::string(family_name(instance)) +
                            "\" like the instance's, is \"" + std::string(Family::name) + '"'};
    }
    if constexpr (requires { family.complete_plan(text, *own); }) {
      return family.complete_plan(text, *own);
    } else {
      return family.read_plan(text);
    }
  });
}

std::string write_instance(const InstanceView& instance) {
  return instance.visit(
      [](const auto& own) { return FamilyOf<decltype(own)>::write_instance(own); });
}

std::string write_plan(const PlanView& plan) {
  return plan.visit([](const auto& own) { return FamilyOf<decltype(own)>::write_plan(own); });
}

std::string instance_hash(const InstanceView& instance) {
  return instance.visit([](const auto& own) { return instance_hash(own); });
}

}  // namespace stowage
