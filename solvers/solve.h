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

struct SolveOptions {
  std::string method = "auto";         // a name from methods()
  std::optional<MilpBackend> backend;  // nothing: the first of built_backends()
  double gap = 0;                      // relative gap that is good enough; status is `feasible`
  std::uint64_t seed = 0;
  std::optional<Plan> start;  // a plan to begin with; ignored, and said, if invalid
  // Wall-clock limit of each MILP of a baseline. Not given: kMilpSeconds for a baseline that solves
  // many MILPs, and all that is left of the budget for a baseline that solves one.
  std::optional<double> milp_seconds;
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

// Solves `instance`. If check() of instances/check.h has errors for it, if the method is none of
// methods(instance) or the start is a plan of another family, the status is `error` and
// Outcome::errors says why, with the codes that a file would get. No instance and no backend makes
// it throw. `progress` is called from the calling thread or one it waits for.
Outcome solve(const InstanceView& instance, const SolveOptions& options, Budget& budget,
              const Progress& progress = {});

}  // namespace stowage
