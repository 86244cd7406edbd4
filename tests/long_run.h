// The size of a test: a small part in usual runs, all of it in a long run on request.
//
//   STOWAGE_LONG=1 build/dev/tests/solvers/test_solvers --gtest_filter='Differential*'
#pragma once

#include <cstdlib>

namespace stowage {

// Returns `lengthy` if the environment variable STOWAGE_LONG is set and not empty, otherwise
// `usual`.
inline int in_long_run(int usual, int lengthy) {
  const char* wanted = std::getenv("STOWAGE_LONG");
  return wanted != nullptr && *wanted != '\0' ? lengthy : usual;
}

}  // namespace stowage
