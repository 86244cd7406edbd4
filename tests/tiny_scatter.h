// Random scatter instances small enough for brute force, with every odd feature switched on now
// and then: odd device counts, degrees that do not divide each other, latencies, free exchange,
// padding, tight memory.
#pragma once

#include <algorithm>
#include <random>
#include <string>

#include "instances/random.h"
#include "instances/scatter/instance.h"

namespace stowage {

// At most so many sequences and devices. Some instances hold sequences that fit nowhere.
inline ScatterInstance tiny_scatter(std::uint64_t seed, std::uint64_t most_sequences = 6,
                                    int most_devices = 8) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::uint64_t bound) { return static_cast<int>(draw(random, bound + 1)); };
  ScatterInstance instance{.name = "tiny-" + std::to_string(seed)};
  Cluster& cluster = instance.cluster;
  cluster.devices = 1 + up_to(static_cast<std::uint64_t>(most_devices) - 1);
  switch (up_to(3)) {
    case 0:  // one device or all of them
      cluster.degrees = {1, cluster.devices};
      break;
    case 1:  // any degrees
      cluster.aligned = false;
      for (int d = 1; d <= cluster.devices; ++d) {
        if (up_to(1) == 0) cluster.degrees.push_back(d);
      }
      break;
    default:
      for (int d = 1; d <= cluster.devices; d *= 2) cluster.degrees.push_back(d);
  }
  if (cluster.degrees.empty()) cluster.degrees.push_back(cluster.devices);
  cluster.degrees.erase(std::unique(cluster.degrees.begin(), cluster.degrees.end()),
                        cluster.degrees.end());
  cluster.memory_mib = 20 + up_to(60);
  instance.model = {.states_mib = 10, .activation_mib_per_token = 1};
  instance.cost = {.quadratic_ms = 0.001 * up_to(30),
                   .linear_ms = 0.05 * up_to(20),
                   .fixed_ms = up_to(7) == 0 ? 0.0 : 0.5 * up_to(80)};
  AllToAll& exchange = instance.cost.all_to_all;
  exchange.mib_per_token = up_to(2) == 0 ? 0 : 1;
  for (const int d : cluster.degrees) {
    if (d == 1) continue;
    exchange.mib_per_ms[d] = 0.5 + 0.5 * up_to(20);
    if (up_to(3) == 0) exchange.latency_ms[d] = up_to(5);
  }
  instance.pad_multiple = up_to(3) == 0 ? 4 : 1;
  const int most = 10 + up_to(3) * 40;
  const int count = up_to(most_sequences);
  for (int k = 0; k < count; ++k) {
    const bool repeat = k > 0 && up_to(3) == 0;
    instance.lengths.push_back(
        repeat ? instance.lengths.back()
               : 1 + static_cast<Tokens>(up_to(static_cast<std::uint64_t>(most) - 1)));
  }
  return instance;
}

}  // namespace stowage
