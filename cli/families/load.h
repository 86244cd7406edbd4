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

#include "cli/families/claims.h"
#include "cli/terminal/cli_error.h"
#include "instances/families.h"
#include "instances/result.h"

namespace stowage {

// A value, or errors that already name their file.
template <class T>
struct Loaded {
  std::optional<T> value;
  std::vector<CliError> errors;         // non-empty if there is no value
  std::vector<std::string> files = {};  // of an instance: its own ("-": stdin) and those it names
};

// The instance in the file at `path`, or on stdin for "-".
Loaded<Instance> load_instance(const std::string& path);

// The plan in the file at `path`, or the one inside an outcome; a bare one is completed from the
// instance. Error E209 unless it is of the instance's problem.
Loaded<Plan> load_plan(const std::string& path, const Instance& instance);

struct InstanceAndPlan {
  Instance instance;
  Plan plan;
  std::optional<Certificate> certificate;  // of an outcome that has one
  std::optional<OutcomeClaims> claims;     // of an outcome
  std::string plan_document;               // the bytes that the plan was read from
};

// Both, with the errors of both files in one pass, and the files of both. Only one of the paths may
// be "-".
Loaded<InstanceAndPlan> load_both(const std::string& instance_path, const std::string& plan_path);

// The instance with the plan of a strategy that is stated in a flag's value, "pp=4,tp=8,...", whose
// errors are at `flag`. E209 for an instance of another problem.
Loaded<InstanceAndPlan> with_stated(Loaded<Instance> instance, const std::string& instance_path,
                                    const std::string& flag, const std::string& stated);

// Adds the values of a strategy's plan without a bound to the options of the instance if the plan
// has others; the plan is then of this instance. True if it did.
bool allow_stated(InstanceAndPlan& both);

// An outcome that says there is no plan.
struct InfeasibleAnswer {
  Instance instance;
  std::optional<Certificate> certificate;
  OutcomeClaims claims;
};

// As load_both(), or an outcome of status infeasible, which has no plan.
using Answer = std::variant<InstanceAndPlan, InfeasibleAnswer>;
Loaded<Answer> load_answer(const std::string& instance_path, const std::string& plan_path);

// Error E209 unless the instance is of `problem`.
std::optional<InputError> not_of(const Instance& instance, std::string_view problem);

}  // namespace stowage
