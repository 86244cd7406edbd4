#include "solvers/milp/backends.h"

namespace stowage {

std::string_view name(MilpBackend backend) {
  switch (backend) {
    case MilpBackend::cbc:
      return "cbc";
    case MilpBackend::glpk:
      return "glpk";
    case MilpBackend::highs:
      return "highs";
  }
  return "";
}

std::vector<MilpBackend> built_backends() {
  std::vector<MilpBackend> built;
#ifdef STOWAGE_WITH_CBC
  built.push_back(MilpBackend::cbc);
#endif
#ifdef STOWAGE_WITH_HIGHS
  built.push_back(MilpBackend::highs);
#endif
#ifdef STOWAGE_WITH_GLPK
  built.push_back(MilpBackend::glpk);
#endif
  return built;
}

}  // namespace stowage
