// The facade: bounds -> heuristics -> exact -> verify -> Outcome.
//
//   Budget budget({.time_limit_s = 2});
//   Outcome outcome = solve(instance, {.method = "auto"}, budget);
//   if (outcome.plan) use(std::get<ScatterPlan>(*outcome.plan));
//
// Heuristics run first, so that a plan exists within milliseconds under any limit. Every candidate
// must pass the independent verifier. A start plan is never made worse. A backend that fails or
// returns a false result only costs time and is named in Outcome::detail.
//
// Thread safety: any number of threads may call solve() at once, and several calls may share a
// Budget. Backends run in threads of their own. CBC sets OpenBLAS to one thread, if OpenBLAS is the
// process's BLAS.
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

// A parameter of a solve and its value in place of the default.
struct ParameterValue {
  std::string name;
  double value = 0;
};

struct SolveOptions {
  std::string method = "auto";         // a name from methods()
  std::optional<MilpBackend> backend;  // nullopt: the first of built_backends()
  double gap = 0;  // relative gap at which the solve stops with status `feasible`
  std::uint64_t seed = 0;
  std::optional<Plan> start;  // a start plan; if invalid, ignored with a remark
  // Wall-clock limit of each MILP of a baseline. If not given, it is kMilpSeconds for a baseline
  // that solves many MILPs, and the remaining budget for a baseline that solves one.
  std::optional<double> milp_seconds;
  std::vector<std::string> without = {};    // names from stages() that the solve leaves out
  std::vector<ParameterValue> params = {};  // of parameters(); each name at most once
};

inline constexpr double kMilpSeconds = 10;

// Returns the requested backend, or the first that was built. Requires that one was built.
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

// A callback that receives each improvement.
using Progress = FunctionRef<void(const Improvement&)>;

// In Outcome::errors: the method is not in methods(instance).
inline constexpr char kUnknownMethod[] = "E701";

// Returns all methods of the instance's family that this build can run: the default `auto`, then
// baselines, then our methods. Methods that depend on the instance (one homogeneous degree) are
// listed for its degrees. Methods that need a MILP backend are left out if none was built.
std::vector<Method> methods(const InstanceView& instance);

// A named part of a solve.
struct StageInfo {
  std::string name;
  std::string summary;  // one line
};

// In Outcome::errors: a name in SolveOptions::without is not in stages(instance).
inline constexpr char kUnknownStage[] = "E702";

// Returns all stages of the instance's family: first those of `auto` in their order, then those
// that only other methods run. Empty if the family's solve has no named stages.
std::vector<StageInfo> stages(const InstanceView& instance);

// A numeric parameter of a solve.
struct ParameterInfo {
  std::string name;  // "lns.moves"
  std::string unit;
  double value = 0;  // the default
  double least = 0;  // the range, ends included
  double most = 0;
  bool integral = false;
  std::string effect;    // one sentence: the effect of a larger value
  std::string evidence;  // the source of the default
};

// In Outcome::errors: SolveOptions::params contains a name that is not in parameters(instance), a
// name twice, or a value out of range.
inline constexpr char kBadParameter[] = "E703";

// Returns all parameters of the instance's family. Empty if the family has no list.
std::vector<ParameterInfo> parameters(const InstanceView& instance);

// Returns an error for each invalid value in `given`.
std::vector<InputError> check_parameters(const InstanceView& instance,
                                         const std::vector<ParameterValue>& given);

// Solves `instance`. The status is `error`, and Outcome::errors holds the codes that a file would
// get, in four cases: check() of instances/check.h has errors, the method is not in
// methods(instance), a stage is not in stages(instance), or the start plan belongs to another
// family. No instance and no backend causes an exception. `progress` is called from the calling
// thread or from a thread that it waits for.
Outcome solve(const InstanceView& instance, const SolveOptions& options, Budget& budget,
              const Progress& progress = {});

}  // namespace stowage
