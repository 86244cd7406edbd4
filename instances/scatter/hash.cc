// The fingerprint of a scatter instance.
#include "instances/document/fingerprint.h"
#include "instances/scatter/json/json.h"

namespace stowage {

namespace {

// Adds fields that older versions did not have: if used, after their names, and otherwise not at
// all.
void add_terms(Fingerprint& fingerprint, const ScatterInstance& instance) {
  const ModelMemory& model = instance.model;
  if (model.sequence_mib != 0) {
    fingerprint.add("sequence_mib");
    fingerprint.add(model.sequence_mib);
  }
  if (model.logits_mib_per_token != 0) {
    fingerprint.add("logits");
    fingerprint.add(model.logits_mib_per_token);
    fingerprint.add(model.logits_chunk_tokens);
  }
  if (model.keys_values_mib_per_token != 0) {
    fingerprint.add("keys_values_mib_per_token");
    fingerprint.add(model.keys_values_mib_per_token);
  }
  if (!model.recomputation.empty()) {
    fingerprint.add("recomputation");
    fingerprint.add(static_cast<std::int64_t>(model.recomputation.size()));
    for (const Recomputation& own : model.recomputation) {
      fingerprint.add(std::string_view(own.name));
      fingerprint.add(own.activation_mib_per_token);
      fingerprint.add(own.quadratic_factor);
      fingerprint.add(own.linear_factor);
      fingerprint.add(own.exchange_factor);
    }
  }
  if (model.offload) {
    fingerprint.add("offload");
    fingerprint.add(model.offload->mib_per_token);
    fingerprint.add(model.offload->out_mib_per_ms);
    fingerprint.add(model.offload->in_mib_per_ms);
    fingerprint.add(std::int64_t{model.offload->host_mib ? 1 : 0});
    fingerprint.add(model.offload->host_mib.value_or(0));
    fingerprint.add(model.offload->forward_share);
  }
  const ScatterCost& cost = instance.cost;
  if (!cost.table.empty()) {
    fingerprint.add("table");
    fingerprint.add(static_cast<std::int64_t>(cost.table.size()));
    for (const auto& [degree, grid] : cost.table) {
      fingerprint.add(std::int64_t{degree});
      for (const std::vector<double>* numbers : {&grid.tokens, &grid.squares, &grid.ms}) {
        fingerprint.add(static_cast<std::int64_t>(numbers->size()));
        for (const double number : *numbers) fingerprint.add(number);
      }
    }
  }
  if (cost.sequence_fixed_ms != 0) {
    fingerprint.add("sequence_fixed_ms");
    fingerprint.add(cost.sequence_fixed_ms);
  }
  if (cost.split_ms != 0) {
    fingerprint.add("split_ms");
    fingerprint.add(cost.split_ms);
  }
  if (cost.tile_tokens != 1) {
    fingerprint.add("tile_tokens");
    fingerprint.add(cost.tile_tokens);
  }
  if (cost.window.share != 0) {
    fingerprint.add("window");
    fingerprint.add(cost.window.tokens);
    fingerprint.add(cost.window.share);
  }
  if (!cost.exchange) return;
  const Exchange& exchange = *cost.exchange;
  fingerprint.add("exchange");
  fingerprint.add(std::int64_t{instance.cluster.devices_per_node});
  fingerprint.add(static_cast<std::int64_t>(exchange.kinds.size()));
  for (const auto& [degree, kinds] : exchange.kinds) {
    fingerprint.add(std::int64_t{degree});
    fingerprint.add(static_cast<std::int64_t>(kinds.size()));
    for (const ExchangeKind kind : kinds) fingerprint.add(static_cast<std::int64_t>(kind));
  }
  fingerprint.add(exchange.all_to_all_mib_per_token);
  if (!exchange.all_to_all_by_devices.empty()) {
    fingerprint.add(std::string_view("all_to_all_by_devices"));
    fingerprint.add(exchange.all_to_all_by_devices);
  }
  fingerprint.add(exchange.keys_values_mib_per_token);
  fingerprint.add(exchange.inside_mib_per_ms);
  fingerprint.add(exchange.across_mib_per_ms);
  fingerprint.add(exchange.inside_latency_ms);
  fingerprint.add(exchange.across_latency_ms);
  fingerprint.add(exchange.overlap);
}

}  // namespace

std::string instance_hash(const ScatterInstance& instance) {
  Fingerprint fingerprint;
  const Cluster& cluster = instance.cluster;
  fingerprint.add(std::int64_t{cluster.devices});
  fingerprint.add(cluster.memory_mib);
  fingerprint.add(static_cast<std::int64_t>(cluster.degrees.size()));
  for (const int degree : cluster.degrees) fingerprint.add(std::int64_t{degree});
  fingerprint.add(std::int64_t{cluster.aligned ? 1 : 0});
  for (const DeviceKind& kind : cluster.kinds) {
    fingerprint.add(std::string_view("kind"));
    fingerprint.add(std::int64_t{kind.nodes} * cluster.devices_per_node);
    fingerprint.add(kind.speed);
    fingerprint.add(kind.memory_mib);
  }
  fingerprint.add(instance.model.states_mib);
  fingerprint.add(instance.model.activation_mib_per_token);
  fingerprint.add(instance.cost.quadratic_ms);
  fingerprint.add(instance.cost.linear_ms);
  fingerprint.add(instance.cost.fixed_ms);
  fingerprint.add(instance.cost.all_to_all.mib_per_token);
  fingerprint.add(instance.cost.all_to_all.mib_per_ms);
  fingerprint.add(instance.cost.all_to_all.latency_ms);
  add_terms(fingerprint, instance);
  fingerprint.add(instance.pad_multiple);
  if (instance.padding) {
    fingerprint.add(std::string_view("padding"));
    fingerprint.add(instance.padding->sequence_multiple);
    fingerprint.add(instance.padding->row_multiple);
    fingerprint.add(std::int64_t{instance.padding->per_degree ? 1 : 0});
    fingerprint.add(std::int64_t{instance.padding->device_multiple});
  }
  fingerprint.add(static_cast<std::int64_t>(instance.lengths.size()));
  for (const Tokens length : instance.lengths) fingerprint.add(length);
  if (!instance.loss_tokens.empty()) {
    fingerprint.add(std::string_view("loss_tokens"));
    for (const Tokens targets : instance.loss_tokens) fingerprint.add(targets);
  }
  if (instance.mixed) {
    fingerprint.add(std::string_view("mixed"));
    fingerprint.add(instance.mixed->hidden_share);
  }
  if (instance.pipeline_stages != 1) {
    fingerprint.add(std::string_view("pipeline_stages"));
    fingerprint.add(std::int64_t{instance.pipeline_stages});
  }
  // Default rules are left out of the hash.
  if (const ScatterRules& rules = instance.rules; rules != ScatterRules{}) {
    fingerprint.add(std::string_view("rules"));
    fingerprint.add(std::int64_t{rules.no_idle_ranks ? 1 : 0});
    fingerprint.add(std::int64_t{rules.sorted_groups ? 1 : 0});
    fingerprint.add(rules.micro_batches_multiple_of);
    fingerprint.add(std::int64_t{rules.min_degree});
    fingerprint.add(rules.max_tokens_per_rank);
    fingerprint.add(rules.max_sequences_per_group);
    fingerprint.add(std::int64_t{rules.packed ? 1 : 0});
    if (rules.equal_sequences) fingerprint.add(std::string_view("equal_sequences"));
  }
  return fingerprint.text();
}

}  // namespace stowage
