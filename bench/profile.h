// Results as performance profiles (instances/pictures/performance_profile.h), one for each suite.
//
//   write(path, profile_svg(results));
#pragma once

#include <string>

#include "bench/record.h"

namespace stowage::bench {

// An SVG file. Gaps are those of the verified objectives to the best bound that any of the results
// proved for the instance. The same results give the same bytes.
std::string profile_svg(const Results& results);

}  // namespace stowage::bench
