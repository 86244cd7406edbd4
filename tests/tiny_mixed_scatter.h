// Random scatter instances whose micro-batches may be mixed, small enough for brute force.
#pragma once

#include <algorithm>
#include <random>
#include <string>

#include "instances/numeric/random.h"
#include "tests/tiny_scatter.h"

namespace stowage {

// Instances of tiny_timed_scatter() and tiny_padded_scatter() on 2 to `most_devices` devices, in
// which groups are of one device or of all. The hidden share is 0, 1 or between.
inline ScatterInstance tiny_mixed_scatter(std::uint64_t seed, std::uint64_t most_sequences = 6,
                                          int most_devices = 4) {
  ScatterInstance instance = seed % 2 == 0
                                 ? tiny_timed_scatter(seed, most_sequences, most_devices)
                                 : tiny_padded_scatter(seed, most_sequences, most_devices);
  std::mt19937_64 random(seed + 7'000'000);
  const auto up_to = [&](std::uint64_t bound) { return static_cast<int>(draw(random, bound + 1)); };
  instance.name = "mixed-" + std::to_string(seed);
  Cluster& cluster = instance.cluster;
  cluster.devices = std::max(cluster.devices, 2);
  cluster.degrees = {1, cluster.devices};
  cluster.aligned = up_to(3) > 0;
  instance.pipeline_stages = 1;
  instance.rules = {};
  if (up_to(5) == 0) instance.rules.max_tokens_per_rank = 5 + up_to(40);
  instance.model.sequence_mib = 0;
  ScatterCost& cost = instance.cost;
  if (auto& exchange = cost.exchange) {
    exchange->kinds = {{cluster.devices, {ExchangeKind::all_to_all}}};
    exchange->all_to_all_mib_per_token = 0.5 * (1 + up_to(8));
    exchange->overlap = 0;
  } else {
    cost.all_to_all.mib_per_token = 0.5 * up_to(4);
    cost.all_to_all.mib_per_ms = {{cluster.devices, 0.25 + 0.25 * up_to(10)}};
    cost.all_to_all.latency_ms = {};
    if (up_to(2) == 0) cost.all_to_all.latency_ms = {{cluster.devices, 0.5 * up_to(8)}};
  }
  instance.mixed = MixedMicroBatches{.hidden_share = up_to(1) == 0 ? 1 : 0.25 * up_to(3)};
  return instance;
}

}  // namespace stowage
