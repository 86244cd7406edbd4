#include "solvers/each.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instances/check.h"
#include "instances/json/errors.h"
#include "solvers/solve.h"

namespace stowage {

std::vector<Method> methods(const InstanceView& instance) {
  return instance.visit([](const auto& family) { return methods_of(family); });
}

namespace {

std::optional<InputError> unknown_method(const InstanceView& instance, const std::string& method) {
  std::string names;
  for (const Method& known : methods(instance)) {
    if (known.name == method) return std::nullopt;
    names += (names.empty() ? "" : ", ") + known.name;
  }
  return InputError{kUnknownMethod, "method", "must be one of " + names + ", is \"" + method + '"'};
}

// What a caller got wrong, as a reader would put it.
std::vector<InputError> mistakes(const InstanceView& instance, const SolveOptions& options) {
  std::vector<InputError> errors = check(instance);
  if (!errors.empty()) return errors;
  if (auto error = unknown_method(instance, options.method)) errors.push_back(*std::move(error));
  if (options.backend && *options.backend != MilpBackend::cbc &&
      *options.backend != MilpBackend::glpk) {
    errors.push_back({kUnknownMethod, "backend",
                      "must be cbc or glpk, is the number " +
                          std::to_string(static_cast<int>(*options.backend))});
  }
  if (options.start && options.start->index() != instance.index()) {
    errors.push_back({code::kProblem, "start",
                      "must be a plan of " + std::string(family_name(instance)) + ", is one of " +
                          std::string(family_name(*options.start))});
  }
  return errors;
}

}  // namespace

Outcome solve(const InstanceView& instance, const SolveOptions& options, Budget& budget,
              const Progress& progress) {
  if (std::vector<InputError> errors = mistakes(instance, options); !errors.empty()) {
    Outcome outcome;
    outcome.status = Status::error;
    outcome.method = options.method;
    outcome.detail = to_string(errors.front());
    if (errors.size() > 1) {
      outcome.detail += "; and " + std::to_string(errors.size() - 1) + " more";
    }
    outcome.errors = std::move(errors);
    return outcome;
  }
  return instance.visit(
      [&](const auto& family) { return solve_family(family, options, budget, progress); });
}

}  // namespace stowage
