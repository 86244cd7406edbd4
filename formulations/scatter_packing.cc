#include "formulations/scatter_packing.h"

#include <algorithm>
#include <cmath>

namespace stowage {
namespace {

// Times are taken this much shorter, so that their rounding errs on the safe side.
constexpr double kShorter = 1 - 1e-9;

}  // namespace

double packing_value(const PackingPrice& what, double amount, double room) {
  if (what.resource == Resource::time) amount *= kShorter;
  if (what.threshold > 0) {
    if (amount > room - what.threshold) return 1;
    return amount >= what.threshold ? amount / room : 0;
  }
  const auto steps = static_cast<double>(what.steps);
  // Tokens are integers: exact below 2^53.
  return std::max(0.0, std::ceil((steps + 1) * amount / room) - 1) / steps;
}

}  // namespace stowage
