#include "solvers/each.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instances/check.h"
#include "instances/json/errors.h"
#include "solvers/parameters.h"
#include "solvers/solve.h"

namespace stowage {

std::vector<Method> methods(const InstanceView& instance) {
  return instance.visit([](const auto& family) { return methods_of(family); });
}

std::vector<StageInfo> stages(const InstanceView& instance) {
  return instance.visit([](const auto& family) { return stages_of(family); });
}

std::vector<ParameterInfo> parameters(const InstanceView& instance) {
  return instance.visit([](const auto& family) { return parameters_of(family); });
}

std::vector<InputError> check_parameters(const InstanceView& instance,
                                         const std::vector<ParameterValue>& given) {
  std::vector<InputError> errors;
  if (given.empty()) return errors;
  const std::vector<ParameterInfo> known = parameters(instance);
  for (auto value = given.begin(); value != given.end(); ++value) {
    const auto complain = [&](const std::string& why) {
      errors.push_back({kBadParameter, "params/" + value->name, why});
    };
    const auto parameter = std::ranges::find(known, value->name, &ParameterInfo::name);
    if (parameter == known.end()) {
      complain("is no parameter of " + std::string(family_name(instance)) +
               "; `stowage params` lists them");
    } else if (std::ranges::count(given.begin(), value, value->name, &ParameterValue::name) > 0) {
      complain("must be given once");
    } else if (const auto problem = parameter_error(*parameter, value->value)) {
      complain(*problem);
    }
  }
  return errors;
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

// Appends an error for each name in `without` that is no stage.
void unknown_stages(const InstanceView& instance, const SolveOptions& options,
                    std::vector<InputError>& errors) {
  if (options.without.empty()) return;
  const std::vector<StageInfo> known = stages(instance);
  std::string names;
  for (const StageInfo& stage : known) names += (names.empty() ? "" : ", ") + stage.name;
  for (const std::string& name : options.without) {
    if (std::ranges::find(known, name, &StageInfo::name) != known.end()) continue;
    errors.push_back({kUnknownStage, "without",
                      names.empty()
                          ? "must be empty: a solve of " + std::string(family_name(instance)) +
                                " has no stages that can be left out"
                          : "must be one of " + names + ", is \"" + name + '"'});
  }
}

// Returns the errors of the instance and the options, with the codes that a file would get.
std::vector<InputError> mistakes(const InstanceView& instance, const SolveOptions& options) {
  std::vector<InputError> errors = check(instance);
  if (!errors.empty()) return errors;
  if (auto error = unknown_method(instance, options.method)) errors.push_back(*std::move(error));
  unknown_stages(instance, options, errors);
  for (InputError& error : check_parameters(instance, options.params)) {
    errors.push_back(std::move(error));
  }
  if (options.backend && name(*options.backend).empty()) {
    errors.push_back({kUnknownMethod, "backend",
                      "must be cbc, glpk or highs, is the number " +
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
