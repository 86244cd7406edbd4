#include "instances/assign.h"

#include <algorithm>

namespace stowage {

std::vector<Tokens> padded_lengths(const AssignInstance& instance) {
  std::vector<Tokens> padded;
  padded.reserve(instance.lengths.size());
  for (const Tokens length : instance.lengths) padded.push_back(padded_length(instance, length));
  return padded;
}

Tokens longest_allowed(const AssignInstance& instance, const Strategy& strategy) {
  Tokens longest = 0;
  for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
    if (strategy.replicas[g] > 0) longest = std::max(longest, instance.schemes[g].max_tokens);
  }
  return longest;
}

std::vector<std::size_t> usable_strategies(const AssignInstance& instance) {
  Tokens longest = 0;
  for (const Tokens length : instance.lengths) {
    longest = std::max(longest, padded_length(instance, length));
  }
  std::vector<std::size_t> usable;
  for (std::size_t k = 0; k < instance.strategies.size(); ++k) {
    if (longest_allowed(instance, instance.strategies[k]) >= longest) usable.push_back(k);
  }
  return usable;
}

std::vector<std::int64_t> unplaceable_sequences(const AssignInstance& instance) {
  Tokens longest = 0;
  for (const Strategy& strategy : instance.strategies) {
    longest = std::max(longest, longest_allowed(instance, strategy));
  }
  std::vector<std::int64_t> ids;
  for (std::size_t id = 0; id < instance.lengths.size(); ++id) {
    if (padded_length(instance, instance.lengths[id]) > longest) {
      ids.push_back(static_cast<std::int64_t>(id));
    }
  }
  return ids;
}

}  // namespace stowage
