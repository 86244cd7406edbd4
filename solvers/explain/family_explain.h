// The functions that the families share in explanations: the trial of an instance, and numbers in
// texts. The conflicts, bottlenecks and changes of a family are in its explain.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "instances/families.h"
#include "solvers/outcome.h"

namespace stowage {

// Solves an instance within the limits of the explanation.
using Trial = std::function<Outcome(const Instance&)>;

// Returns a number for texts, e.g. "15310.4", without exponents or trailing zeros if possible.
std::string plain_number(double value);

// Returns a count with its noun: "1 byte", "3 bytes". `plural` is needed if the plural is not the
// noun and an s.
std::string plain_count(std::int64_t count, const std::string& noun,
                        const std::string& plural = "");

// Returns a power of two between 1/32 and 1/16 of `whole`, as a small increase to try. Returns 0 if
// `whole` is 0.
double a_little_of(double whole);

// Returns a list such as "1, 4, 7 and 12 more".
std::string listed(const std::vector<std::int64_t>& ids);

}  // namespace stowage
