// Reads instances and plans of any family from files or stdin, for the commands.
//
//   Loaded<Instance> instance = load_instance(path);
//   if (!instance.value) return console.refuse(instance.errors);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/families/outcome/stated_outcome.h"
#include "cli/terminal/error/cli_error.h"
#include "instances/families.h"
#include "instances/result.h"

namespace stowage {

// A value, or errors that name their file.
template <class T>
struct Loaded {
  std::optional<T> value;
  std::vector<CliError> errors;  // non-empty if `value` is empty
  // for an instance: its own path ("-": stdin) and the files that it names
  std::vector<std::string> files = {};
};

// Loads the instance in the file at `path`, or from stdin for "-".
Loaded<Instance> load_instance(const std::string& path);

// Loads the plan in the file at `path`, or the plan inside an outcome. A partial plan is completed
// from the instance. Error: E209 unless the plan is of the instance's problem.
Loaded<Plan> load_plan(const std::string& path, const Instance& instance);

struct InstanceAndPlan {
  Instance instance;
  Plan plan;
  std::optional<Certificate> certificate;  // set for an outcome with a certificate
  std::optional<StatedOutcome> claims;     // set for an outcome
  std::string plan_document;               // bytes of the plan's document
};

// Loads both and returns the errors and the paths of both files. At most one of the paths may be
// "-".
Loaded<InstanceAndPlan> load_both(const std::string& instance_path, const std::string& plan_path);

// Loads a plan or an outcome of an instance that is loaded already. Error: E209 also for a plan of
// another instance.
Loaded<InstanceAndPlan> load_beside(const Instance& instance, const std::string& plan_path);

// Adds the strategy plan that a flag's value states, "pp=4,tp=8,...", to the instance. Errors are
// reported at `flag`; E209 for an instance of another problem.
Loaded<InstanceAndPlan> with_stated(Loaded<Instance> instance, const std::string& instance_path,
                                    const std::string& flag, const std::string& stated);

// If the values of a strategy's plan without a bound are not in the instance's options, adds them.
// The plan then belongs to the changed instance. Returns whether it did.
bool allow_stated(InstanceAndPlan& both);

// An outcome that claims infeasibility.
struct InfeasibleAnswer {
  Instance instance;
  std::optional<Certificate> certificate;
  StatedOutcome claims;
};

// Loads an instance and its plan, or an outcome of status infeasible without a plan.
using Answer = std::variant<InstanceAndPlan, InfeasibleAnswer>;
Loaded<Answer> load_answer(const std::string& instance_path, const std::string& plan_path);

// Returns E209 unless the instance is of `problem`.
std::optional<InputError> not_of(const Instance& instance, std::string_view problem);

}  // namespace stowage
