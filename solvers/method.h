// The words of a solve: methods, options and progress. Every family's solve speaks them.
//
// Thread safety: its function reads its arguments and nothing else; any number of threads may call
// it at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "instances/families.h"
#include "solvers/milp/backends.h"
#include "solvers/outcome.h"

namespace stowage {

struct SolveOptions {
  std::string method = "auto";         // a name from methods()
  std::optional<MilpBackend> backend;  // nothing: the first of built_backends()
  double gap = 0;                      // relative gap that is good enough; status is `feasible`
  std::uint64_t seed = 0;
  std::optional<Plan> start;  // a plan to begin with; ignored, and said, if invalid
  double milp_seconds = 10;   // baselines that solve many MILPs: limit of each
};

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

using Progress = std::function<void(const Improvement&)>;

}  // namespace stowage
