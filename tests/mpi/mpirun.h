// Programs as several processes on this machine.
//
//   const Finished run = mpirun(4, {kStowagePath, "run", "instance.json", "plan.json"});
#pragma once

#include <string>
#include <vector>

#include "tests/cli/process.h"

namespace stowage {

// Runs a job. It may have more processes than cores, run as any user, and its processes are not
// bound to cores. A job that hangs is killed after two minutes and counts as failed. Each job has a
// session directory of its own: two jobs that start in one directory at a time fail with "mkdir:
// File exists".
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
  const TempDir session;
  if (options.unprivileged) session.open_to_all();
  options.environment.insert(options.environment.end(),
                             {{"TMPDIR", session.path()},
                              {"OMPI_MCA_orte_tmpdir_base", session.path()},
                              {"PRTE_MCA_prte_tmpdir_base", session.path()},
                              {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                              {"OMPI_MCA_btl", "self,vader"},
                              {"OMPI_MCA_plm", "isolated"}});
  return run_stowage(words, options);
}

}  // namespace stowage
