#include "cli/models/exported_model.h"

#include "cli/families/families.h"
#include "cli/terminal/error/error_codes.h"
#include "solvers/solve.h"

namespace stowage {

ModelAnswer exported_model(const Instance& instance, const ModelFlags& flags) {
  Budget budget;
  const Outcome known = solve(instance, {.method = "fast"}, budget);
  if (!known.unplaceable.empty()) {
    ModelRefusal refusal{{}, ExitCode::refused};
    for (const std::string& line : infeasibility_report(instance, known)) {
      if (line.starts_with("remedy: ") && !refusal.errors.empty()) {
        refusal.errors.back().error.message += "; " + line;
      } else {
        refusal.errors.push_back({"", {kUsage, "INSTANCE", line}});
      }
    }
    return refusal;
  }
  ModelAnswer answer = std::visit(
      [&](const auto& own) -> ModelAnswer {
        using OwnPlan = typename PlanOf<std::remove_cvref_t<decltype(own)>>::type;
        return exported_model_of(own, known.plan ? &std::get<OwnPlan>(*known.plan) : nullptr,
                                 flags);
      },
      instance);
  if (auto* exported = std::get_if<ExportedModel>(&answer);
      exported != nullptr && !known.bound_by.empty() && known.status != Status::infeasible) {
    exported->bound = {known.bound_by, known.bound};
  }
  return answer;
}

ModelRefusal refused(const std::string& flag, const std::string& message, ExitCode code) {
  return {{{"", {kUsage, flag, message}}}, code};
}

}  // namespace stowage
