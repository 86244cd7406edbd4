// Normal noise that is the same on every machine.
#pragma once

#include <cmath>
#include <numbers>
#include <random>

#include "instances/numeric/random.h"

namespace stowage {

// Mean 0, standard deviation 1 (Box and Muller).
inline double draw_normal(std::mt19937_64& random) {
  const double radius = std::sqrt(-2 * std::log(1 - draw_unit(random)));
  return radius * std::cos(2 * std::numbers::pi * draw_unit(random));
}

}  // namespace stowage
