// The facade: bounds -> heuristics -> exact -> verify -> Outcome.
//
//   Budget budget({.time_limit_s = 2});
//   Outcome outcome = solve(instance, {.method = "auto"}, budget);
//   if (outcome.plan) use(std::get<ScatterPlan>(*outcome.plan));
//
// Heuristics run first, so that a plan exists within milliseconds whatever the limit. Every
// candidate passes the independent verifier before it counts; a start plan is never made worse; a
// backend that fails or lies costs nothing but its time and is named in Outcome::detail.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/budget.h"
#include "instances/instance.h"
#include "solvers/milp_solver.h"
#include "solvers/outcome.h"

namespace stowage {

struct SolveOptions {
  std::string method = "auto";          // a name from methods()
  std::optional<MilpBackend> backend;   // nothing: the first of built_backends()
  double gap = 0;                       // relative gap that is good enough; status is `feasible`
  std::uint64_t seed = 0;
  std::optional<Plan> start;            // a plan to begin with; ignored, and said, if invalid
  double milp_seconds = 10;             // baselines that solve many MILPs: limit of each
};

enum class MethodKind { ours, baseline };

// One value of SolveOptions::method.
struct Method {
  std::string_view name;
  MethodKind kind;
  std::string_view summary;  // one line
  std::string_view source;   // paper and section, or empty
  bool needs_backend;        // false: works with neither GLPK nor CBC
};

// All methods of the instance's family that this build can run, the default `auto` first.
// Methods that depend on the instance (one homogeneous degree) are listed for its degrees.
std::vector<Method> methods(const Instance& instance);

using Progress = std::function<void(const Improvement&)>;

// Solves `instance`. Requires the method to be one of methods(instance). Never throws for reasons
// of the instance or a backend. `progress` is called from the calling thread.
Outcome solve(const Instance& instance, const SolveOptions& options, Budget& budget,
              const Progress& progress = {});

}  // namespace stowage
