// The MILP of an instance for other solvers, and the conversion of their solutions to plans. A new
// family adds its overload of exported_model_of() and a line to exported_model.cc.
//
//   const ModelAnswer answer = exported_model(instance, flags);
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/models/model_flags.h"
#include "cli/terminal/error/cli_error.h"
#include "cli/terminal/error/exit_codes.h"
#include "formulations/milp/model.h"
#include "instances/families.h"
#include "instances/json/writer.h"
#include "instances/proof.h"

namespace stowage {

struct ExportedModel {
  milp::Model model;
  std::string what;                 // summary for people: "at most 3 micro-batches"
  std::vector<std::string> legend;  // meaning of the names of columns and rows
  std::function<void(JsonWriter&)> facts;
  // Converts a solution (values_of() of read_solution.h) to a plan without hash and bound. Empty
  // for a relaxation, whose solutions are not plans.
  std::function<Plan(const std::vector<double>& values)> plan;
  std::optional<NamedBound> bound;  // bound that method fast proves for all plans of the instance
};

// The reasons why the model was not built.
struct ModelRefusal {
  std::vector<CliError> errors;
  ExitCode code = ExitCode::bad_input;
};

ModelRefusal refused(const std::string& flag, const std::string& message,
                     ExitCode code = ExitCode::bad_input);

using ModelAnswer = std::variant<ExportedModel, ModelRefusal>;

// Limit on variables; larger models would make files of gigabytes.
inline constexpr std::size_t kMaxVariables = 5'000'000;

// Requires flags that misplaced() accepts and an instance that outlives the answer. Limits that the
// flags do not set come from the plan of method fast, so that two calls give the same model.
ModelAnswer exported_model(const Instance& instance, const ModelFlags& flags);

// `known` is the plan of method fast, or null if it found no plan.
ModelAnswer exported_model_of(const ScatterInstance& instance, const ScatterPlan* known,
                              const ModelFlags& flags);
ModelAnswer exported_model_of(const AssignInstance& instance, const AssignPlan* known,
                              const ModelFlags& flags);
ModelAnswer exported_model_of(const LayoutInstance& instance, const LayoutPlan* known,
                              const ModelFlags& flags);
ModelAnswer exported_model_of(const OrderInstance& instance, const OrderPlan* known,
                              const ModelFlags& flags);
ModelAnswer exported_model_of(const StrategyInstance& instance, const StrategyPlan* known,
                              const ModelFlags& flags);

}  // namespace stowage
