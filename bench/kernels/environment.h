// Conditions outside of a benchmark that may change its figures.
//
//   std::cout << load();
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

namespace stowage::bench {

// Returns the environment variables that affect linear algebra libraries or thread pools.
inline std::vector<std::string> environment() {
  std::vector<std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    for (const char* stem : {"OPENBLAS_", "OMP_", "GOMP_", "MKL_", "STOWAGE_"}) {
      if (text.starts_with(stem)) found.push_back(text);
    }
  }
  return found;
}

// Returns the load averages of 1, 5 and 15 minutes, for instance "1.0 0.8 0.5".
inline std::string load() {
  double average[3] = {};
  if (getloadavg(average, 3) != 3) return "unknown";
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << average[0] << ' ' << average[1] << ' '
       << average[2];
  return text.str();
}

}  // namespace stowage::bench
