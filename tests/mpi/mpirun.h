// Programs as several processes on this machine.
//
//   const Finished run = mpirun(4, {kStowagePath, "run", "instance.json", "plan.json"});
#pragma once

#include <string>
#include <vector>

#include "tests/cli/process.h"

namespace stowage {

// Runs a job. It may have more processes than cores, run as any user, and its processes are not
// bound to cores. A job that hangs is killed after two minutes and counts as failed.
inline Finished mpirun(int processes, const std::vector<std::string>& words,
                       RunOptions options = {}) {
  options.command = {STOWAGE_MPIRUN,
                     "--allow-run-as-root",
                     "--oversubscribe",
                     "--bind-to",
                     "none",
                     "--timeout",
                     "120",
                     "-n",
                     std::to_string(processes)};
  options.environment.insert(options.environment.end(), {{"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                                         {"OMPI_MCA_btl", "self,vader"},
                                                         {"OMPI_MCA_plm", "isolated"}});
  return run_stowage(words, options);
}

}  // namespace stowage
