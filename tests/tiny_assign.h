// Random assign instances small enough for brute force, with every special feature enabled in some
// of them: pipelines, tight caps, schemes of equal cost, costs of zero, padding, row constraints,
// strategies that cannot hold the longest sequence, more replicas than sequences.
#pragma once

#include <algorithm>
#include <random>
#include <string>

#include "instances/assign/instance.h"
#include "instances/numeric/random.h"

namespace stowage {

// At most `most_sequences` sequences, 3 replicas per strategy and 3 stages.
inline AssignInstance tiny_assign(std::uint64_t seed, std::uint64_t most_sequences = 6) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](int bound) {
    return static_cast<int>(draw(random, static_cast<std::uint64_t>(bound) + 1));
  };
  AssignInstance instance{.name = "tiny-" + std::to_string(seed)};
  const int schemes = 1 + up_to(2);
  for (int g = 0; g < schemes; ++g) {
    Scheme scheme{.name = "g" + std::to_string(g), .tp = 1 + up_to(1), .pp = 1 + up_to(2)};
    scheme.quadratic_ms = 0.001 * up_to(20);
    scheme.linear_ms = 0.05 * up_to(20);
    scheme.fixed_ms = up_to(4) == 0 ? 0 : 0.5 * up_to(40);
    scheme.max_tokens = 15 + up_to(60);
    if (g > 0 && up_to(5) == 0) {  // an equal scheme with another name
      const std::string name = scheme.name;
      scheme = instance.schemes.front();
      scheme.name = name;
    }
    instance.schemes.push_back(scheme);
  }
  const int strategies = 1 + up_to(2);
  for (int k = 0; k < strategies; ++k) {
    Strategy strategy{.name = "S" + std::to_string(k),
                      .replicas = std::vector<int>(instance.schemes.size(), 0)};
    const int replicas = 1 + up_to(2);
    int devices = 0;
    for (int r = 0; r < replicas; ++r) {
      const auto g = static_cast<std::size_t>(up_to(schemes - 1));
      ++strategy.replicas[g];
      devices += instance.schemes[g].tp * instance.schemes[g].pp;
    }
    instance.devices = std::max(instance.devices, devices);
    instance.strategies.push_back(std::move(strategy));
  }
  if (up_to(2) == 0) {
    instance.constraints = {.rows_multiple_of = 1 + up_to(1),
                            .equal_rows = up_to(1) == 0,
                            .allow_empty = up_to(1) == 0};
  }
  instance.pad_multiple = up_to(3) == 0 ? 4 : 1;
  const int longest = 10 + up_to(2) * 20;
  const int count = up_to(static_cast<int>(most_sequences));
  for (int k = 0; k < count; ++k) {
    const bool repeat = k > 0 && up_to(3) == 0;
    instance.lengths.push_back(repeat ? instance.lengths.back() : 1 + up_to(longest - 1));
  }
  return instance;
}

}  // namespace stowage
