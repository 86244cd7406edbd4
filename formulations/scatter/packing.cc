#include "formulations/scatter/packing.h"

#include <algorithm>
#include <cmath>

namespace stowage {
namespace {

// Amounts are reduced by this factor, so that rounding errs on the safe side. The margin is twice
// that of the certificate checker.
constexpr double kShorter = 1 - 2e-9;

}  // namespace

double packing_value(const PackingPrice& what, double amount, double room) {
  if (what.resource == Resource::time) amount *= kShorter;
  if (what.threshold > 0) {
    if (amount > room - what.threshold) return 1;
    return amount >= what.threshold ? amount / room : 0;
  }
  const auto steps = static_cast<double>(what.steps);
  return std::max(0.0, std::ceil((steps + 1) * amount / room * kShorter) - 1) / steps;
}

}  // namespace stowage
