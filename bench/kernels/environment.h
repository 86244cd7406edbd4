// What around a run of the benchmark may change its figures.
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

// Variables that change what a linear algebra library or a thread pool does.
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

// Load averages of 1, 5 and 15 minutes, "1.0 0.8 0.5".
inline std::string load() {
  double average[3] = {};
  if (getloadavg(average, 3) != 3) return "unknown";
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << average[0] << ' ' << average[1] << ' '
       << average[2];
  return text.str();
}

}  // namespace stowage::bench
