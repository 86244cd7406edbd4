// The fingerprint of a scatter instance.
#include "instances/fingerprint.h"
#include "instances/scatter/json.h"

namespace stowage {

std::string instance_hash(const ScatterInstance& instance) {
  Fingerprint fingerprint;
  const Cluster& cluster = instance.cluster;
  fingerprint.add(std::int64_t{cluster.devices});
  fingerprint.add(cluster.memory_mib);
  fingerprint.add(static_cast<std::int64_t>(cluster.degrees.size()));
  for (const int degree : cluster.degrees) fingerprint.add(std::int64_t{degree});
  fingerprint.add(std::int64_t{cluster.aligned ? 1 : 0});
  fingerprint.add(instance.model.states_mib);
  fingerprint.add(instance.model.activation_mib_per_token);
  fingerprint.add(instance.cost.quadratic_ms);
  fingerprint.add(instance.cost.linear_ms);
  fingerprint.add(instance.cost.fixed_ms);
  fingerprint.add(instance.cost.all_to_all.mib_per_token);
  fingerprint.add(instance.cost.all_to_all.mib_per_ms);
  fingerprint.add(instance.cost.all_to_all.latency_ms);
  fingerprint.add(instance.pad_multiple);
  fingerprint.add(static_cast<std::int64_t>(instance.lengths.size()));
  for (const Tokens length : instance.lengths) fingerprint.add(length);
  return fingerprint.text();
}

}  // namespace stowage
