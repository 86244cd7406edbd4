// How much of a test to do: a little each time, all of it when somebody asks for the long run.
//
//   STOWAGE_LONG=1 build/dev/tests/solvers/test_solvers --gtest_filter='Differential*'
#pragma once

#include <cstdlib>

namespace stowage {

// `usual`, or `lengthy` if the environment variable STOWAGE_LONG is set and not empty.
inline int in_long_run(int usual, int lengthy) {
  const char* wanted = std::getenv("STOWAGE_LONG");
  return wanted != nullptr && *wanted != '\0' ? lengthy : usual;
}

}  // namespace stowage
