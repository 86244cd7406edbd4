// The fingerprint of an assign instance.
#include "instances/assign/json/json.h"
#include "instances/document/fingerprint.h"

namespace stowage {

// The names of schemes and strategies enter the hash, because a plan refers to them.
std::string instance_hash(const AssignInstance& instance) {
  Fingerprint fingerprint;
  fingerprint.add(std::int64_t{instance.devices});
  fingerprint.add(static_cast<std::int64_t>(instance.schemes.size()));
  for (const Scheme& scheme : instance.schemes) {
    fingerprint.add(scheme.name);
    fingerprint.add(std::int64_t{scheme.tp});
    fingerprint.add(std::int64_t{scheme.pp});
    fingerprint.add(scheme.quadratic_ms);
    fingerprint.add(scheme.linear_ms);
    fingerprint.add(scheme.fixed_ms);
    fingerprint.add(scheme.max_tokens);
  }
  fingerprint.add(static_cast<std::int64_t>(instance.strategies.size()));
  for (const Strategy& strategy : instance.strategies) {
    fingerprint.add(strategy.name);
    for (const int count : strategy.replicas) fingerprint.add(std::int64_t{count});
  }
  fingerprint.add(std::int64_t{instance.constraints.rows_multiple_of});
  fingerprint.add(std::int64_t{instance.constraints.equal_rows ? 1 : 0});
  fingerprint.add(std::int64_t{instance.constraints.allow_empty ? 1 : 0});
  fingerprint.add(instance.pad_multiple);
  fingerprint.add(static_cast<std::int64_t>(instance.lengths.size()));
  for (const Tokens length : instance.lengths) fingerprint.add(length);
  if (const std::optional<ChunkRule>& chunks = instance.constraints.chunks) {
    fingerprint.add(chunks->size);
    fingerprint.add(std::int64_t{chunks->retained});
    fingerprint.add(chunks->activation_bytes);
    fingerprint.add(chunks->key_value_bytes);
    if (chunks->boundaries != ChunkBoundaries::fixed) {
      const auto index = static_cast<std::size_t>(chunks->boundaries);
      fingerprint.add(index < kChunkBoundaries.size() ? kChunkBoundaries[index]
                                                      : std::string_view());
    }
  }
  if (!instance.loss_tokens.empty()) {
    fingerprint.add(std::string_view("loss_tokens"));
    for (const Tokens targets : instance.loss_tokens) fingerprint.add(targets);
  }
  return fingerprint.text();
}

}  // namespace stowage
