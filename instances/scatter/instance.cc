#include "instances/scatter/instance.h"

#include <algorithm>
#include <cmath>

namespace stowage {

std::vector<Tokens> padded_lengths(const ScatterInstance& instance) {
  std::vector<Tokens> padded;
  padded.reserve(instance.lengths.size());
  for (const Tokens length : instance.lengths) padded.push_back(padded_length(instance, length));
  return padded;
}

Tokens tokens_per_device(const ScatterInstance& instance) {
  const double tokens = std::floor((instance.cluster.memory_mib - instance.model.states_mib) /
                                   instance.model.activation_mib_per_token);
  if (!(tokens > 0)) return 0;
  return tokens >= static_cast<double>(kMaxExact) ? kMaxExact : static_cast<Tokens>(tokens);
}

Tokens group_capacity(const ScatterInstance& instance, int degree) {
  return std::min(checked_mul(tokens_per_device(instance), degree).value_or(kMaxExact), kMaxExact);
}

std::vector<std::int64_t> unplaceable_sequences(const ScatterInstance& instance) {
  Tokens largest = 0;
  for (const int degree : instance.cluster.degrees) {
    largest = std::max(largest, group_capacity(instance, degree));
  }
  std::vector<std::int64_t> ids;
  for (std::size_t id = 0; id < instance.lengths.size(); ++id) {
    if (padded_length(instance, instance.lengths[id]) > largest) {
      ids.push_back(static_cast<std::int64_t>(id));
    }
  }
  return ids;
}

}  // namespace stowage
