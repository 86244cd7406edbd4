#include "instances/scatter/instance.h"

#include <algorithm>
#include <numeric>

namespace stowage {

Tokens common_multiple(const ScatterInstance& instance) {
  if (!instance.padding) return instance.pad_multiple;
  const Padding& padding = *instance.padding;
  if (!padding.per_degree || padding.device_multiple == 0) return padding.sequence_multiple;
  int shared = 0;  // largest divisor of all degrees
  for (const int degree : instance.cluster.degrees) {
    if (degree >= instance.rules.min_degree) shared = std::gcd(shared, degree);
  }
  return std::lcm(padding.sequence_multiple, Tokens{padding.device_multiple} * std::max(1, shared));
}

std::vector<Tokens> padded_lengths(const ScatterInstance& instance) {
  const Tokens multiple = common_multiple(instance);
  std::vector<Tokens> padded;
  padded.reserve(instance.lengths.size());
  for (const Tokens length : instance.lengths) padded.push_back(round_up(length, multiple));
  return padded;
}

}  // namespace stowage
