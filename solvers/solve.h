// The facade: bounds -> heuristics -> exact -> verify -> Outcome.
//
//   Budget budget({.time_limit_s = 2});
//   Outcome outcome = solve(instance, {.method = "auto"}, budget);
//   if (outcome.plan) use(std::get<ScatterPlan>(*outcome.plan));
//
// Heuristics run first, so that a plan exists within milliseconds whatever the limit. Every
// candidate passes the independent verifier before it counts; a start plan is never made worse; a
// backend that fails or lies costs nothing but its time and is named in Outcome::detail.
//
// Thread safety: any number of threads may call solve() at once, and several calls may share a
// Budget. Backends run in threads of their own. CBC sets OpenBLAS, where that is the process's
// BLAS, to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/budget.h"
#include "instances/instance.h"
#include "solvers/function_ref.h"
#include "solvers/milp/backends.h"
#include "solvers/outcome.h"

namespace stowage {

// A parameter of a solve and the value that this solve has instead of the default.
struct ParameterValue {
  std::string name;
  double value = 0;
};

struct SolveOptions {
  std::string method = "auto";         // a name from methods()
  std::optional<MilpBackend> backend;  // nothing: the first of built_backends()
  double gap = 0;                      // relative gap that is good enough; status is `feasible`
  std::uint64_t seed = 0;
  std::optional<Plan> start;  // a plan to begin with; ignored, and said, if invalid
  // Wall-clock limit of each MILP of a baseline. Not given: kMilpSeconds for a baseline that solves
  // many MILPs, and all that is left of the budget for a baseline that solves one.
  std::optional<double> milp_seconds;
  std::vector<std::string> without = {};    // names from stages() that the solve leaves out
  std::vector<ParameterValue> params = {};  // of parameters(); each name at most once
};

inline constexpr double kMilpSeconds = 10;

// The backend that was asked for, or the first that was built; there must be one.
inline MilpBackend backend_of(const SolveOptions& options) {
  return options.backend ? *options.backend : built_backends().front();
}

enum class MethodKind { ours, baseline };

// One value of SolveOptions::method.
struct Method {
  std::string name;
  MethodKind kind = MethodKind::ours;
  std::string summary;  // one line
  std::string source;   // paper and section, or empty
};

// What hears of each improvement.
using Progress = FunctionRef<void(const Improvement&)>;

// In Outcome::errors: the method is none of methods(instance).
inline constexpr char kUnknownMethod[] = "E701";

// All methods of the instance's family that this build can run: the default `auto` first, then
// baselines, then ours. Methods that depend on the instance (one homogeneous degree) are listed for
// its degrees; those that need a MILP backend are missing if none was built.
std::vector<Method> methods(const InstanceView& instance);

// A named part of a solve.
struct StageInfo {
  std::string name;
  std::string summary;  // one line
};

// In Outcome::errors: a name in SolveOptions::without is none of stages(instance).
inline constexpr char kUnknownStage[] = "E702";

// All stages of the instance's family, in the order in which `auto` runs them, then those of other
// methods alone. Empty for a family whose solve has no named stages.
std::vector<StageInfo> stages(const InstanceView& instance);

// A number that a solve goes by.
struct ParameterInfo {
  std::string name;  // "lns.moves"
  std::string unit;
  double value = 0;  // the default
  double least = 0;  // the range, ends included
  double most = 0;
  bool integral = false;
  std::string effect;    // one sentence: what more of it does
  std::string evidence;  // where the default comes from
};

// In Outcome::errors: SolveOptions::params has a name that is none of parameters(instance), a name
// twice, or a value out of range.
inline constexpr char kBadParameter[] = "E703";

// All parameters of the instance's family; none for a family that has no list yet.
std::vector<ParameterInfo> parameters(const InstanceView& instance);

// What is wrong with `given` for the instance's family: an error for each value.
std::vector<InputError> check_parameters(const InstanceView& instance,
                                         const std::vector<ParameterValue>& given);

// Solves `instance`. If check() of instances/check.h has errors for it, if the method is none of
// methods(instance), a stage is none of stages(instance) or the start is a plan of another family,
// the status is `error` and Outcome::errors says why, with the codes that a file would get. No
// instance and no backend makes it throw. `progress` is called from the calling thread or one it
// waits for.
Outcome solve(const InstanceView& instance, const SolveOptions& options, Budget& budget,
              const Progress& progress = {});

}  // namespace stowage
