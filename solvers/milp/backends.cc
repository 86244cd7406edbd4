#include "solvers/milp/backends.h"

namespace stowage {

std::string_view name(MilpBackend backend) { return backend == MilpBackend::cbc ? "cbc" : "glpk"; }

std::vector<MilpBackend> built_backends() {
  std::vector<MilpBackend> built;
#ifdef STOWAGE_WITH_CBC
  built.push_back(MilpBackend::cbc);
#endif
#ifdef STOWAGE_WITH_GLPK
  built.push_back(MilpBackend::glpk);
#endif
  return built;
}

}  // namespace stowage
