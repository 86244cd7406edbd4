#include "cli/terminal/version.h"

#include "kernels/ranks/mpi_ranks.h"
#include "solvers/milp/solver.h"

#ifndef STOWAGE_VERSION
#error "STOWAGE_VERSION comes from the build"
#endif

namespace stowage {
namespace {

#include "description.inc"

std::string_view licence(MilpBackend backend) {
  switch (backend) {
    case MilpBackend::cbc:
      return "EPL-2.0";
    case MilpBackend::glpk:
      return "GPL-3.0-or-later";
    case MilpBackend::highs:
      return "MIT";
  }
  return "unknown licence";
}

}  // namespace

std::string version_text() {
  std::string text = "stowage " STOWAGE_VERSION "\n";
  if (!kDescription.empty() && kDescription != "v" STOWAGE_VERSION) {
    text += "commit: " + std::string(kDescription) + '\n';
  }
  text += "MILP backends: ";
  const std::vector<MilpBackend> built = built_backends();
  if (built.empty()) text += "none";
  for (std::size_t i = 0; i < built.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::string(name(built[i])) + " (" +
            std::string(licence(built[i])) + ')';
  }
  text += "\nlibraries: CLI11 (BSD-3-Clause), nlohmann-json (MIT), Eigen (MPL-2.0)";
  if (kernels::mpi_built_in()) text += ", Open MPI (BSD-3-Clause)";
  text += '\n';
  for (const MilpBackend backend : built) {
    if (backend == MilpBackend::glpk) {
      text += "This binary contains GLPK: passed on, it is under the GPL, version 3 or later.\n";
    }
  }
  return text;
}

}  // namespace stowage
