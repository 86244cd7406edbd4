// stowage run, for layouts: executes the blocks of a recorded instance, or a memory exercise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/terminal/console.h"
#include "instances/budget.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"

namespace stowage {

struct LayoutRun {
  std::string instance_path;  // used in errors of recorded_from
  std::optional<std::int64_t> scale;
  std::uint64_t seed = 0;
};

// Executes a verified plan and writes the report and the answer. Returns the exit code.
ExitCode run_layout(Console& console, const LayoutInstance& instance, const LayoutPlan& plan,
                    const LayoutRun& run, Budget& budget);

}  // namespace stowage
