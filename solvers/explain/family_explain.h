// What the families share when they explain: the trial of an instance, and numbers in texts. What a
// family knows of its own conflicts, bindings and changes stands in its explain.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "instances/families.h"
#include "solvers/outcome.h"

namespace stowage {

// Whether an instance has a plan, as far as the limits of the explanation allow to find out.
using Trial = std::function<Outcome(const Instance&)>;

// Numbers in texts: "15310.4", without exponents or trailing zeros where that can be avoided.
std::string plain_number(double value);

// "1 byte", "3 bytes"; `plural` where an s is not enough.
std::string plain_count(std::int64_t count, const std::string& noun,
                        const std::string& plural = "");

// A power of two between a 32nd and a 16th of it, to ask what a little more would give; 0 of 0.
double a_little_of(double whole);

// "1, 4, 7 and 12 more"
std::string listed(const std::vector<std::int64_t>& ids);

}  // namespace stowage
