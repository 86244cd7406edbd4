// A lower bound on the objective and the name of its certificate.
//
// Thread safety: plain data.
#pragma once

#include <string>

namespace stowage {

struct NamedBound {
  std::string name;  // as listed in formulations/README.md
  double value = 0;
};

}  // namespace stowage
