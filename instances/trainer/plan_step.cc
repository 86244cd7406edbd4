// Makes the steps of plans of any family: each family that has rows makes its own.
#include <string>
#include <string_view>

#include "instances/families.h"
#include "instances/json/errors.h"
#include "instances/trainer/step.h"

namespace stowage {

bool has_trainer_steps(const InstanceView& instance) {
  return instance.visit([]<class I>(const I&) {
    return requires { FamilyOf<I>::trainer_step; };
  });
}

Result<TrainerStep> trainer_step(const InstanceView& instance, const PlanView& plan) {
  const auto refuse = [](std::string_view must, std::string_view is) -> Result<TrainerStep> {
    return InputError{code::kProblem, "/problem",
                      "must be " + std::string(must) + ", is \"" + std::string(is) + '"'};
  };
  if (instance.index() != plan.index()) {
    return refuse('"' + std::string(family_name(instance)) + "\" like the instance's",
                  family_name(plan));
  }
  return visit_both(
      [&]<class I>(const I& own, const auto& its) -> Result<TrainerStep> {
        if constexpr (requires { FamilyOf<I>::trainer_step; }) {
          return FamilyOf<I>::trainer_step(own, its);
        } else {
          return refuse("of a family whose plans have rows", family_name(instance));
        }
      },
      instance, plan);
}

}  // namespace stowage
