// How methods compare over many instances: a performance profile.
//
// For each method the share of all instances on which its plan is within a gap of the bound, for
// every gap: a curve further up is better everywhere, and its left end is how much was (nearly)
// proven optimal. Instances without a plan are within no gap. After Dolan and More (Mathematical
// Programming 91, 2002), with the gap to a proven bound in place of the ratio to the best method.
//
//   performance_profile("scatter", 44, {{"fast", {0.004, 0.01}, 0}, {"auto 10 s", {0.0, 0.002},
//   1}});
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "instances/pictures/drawing/panel.h"

namespace stowage {

struct ProfiledMethod {
  std::string name;
  std::vector<double> gaps;  // of the instances with a plan, as shares, in any order
  std::size_t style = 0;     // how its line is drawn: the same for a method in all pictures
};

// The gap is logarithmic from 0.01 %; smaller ones are drawn there. Requires no more gaps than
// instances.
Picture performance_profile(const std::string& heading, std::size_t instances,
                            const std::vector<ProfiledMethod>& methods);

}  // namespace stowage
