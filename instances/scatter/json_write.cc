// Writes scatter documents and takes the fingerprint of an instance.
#include <map>
#include <string>

#include "instances/fingerprint.h"
#include "instances/scatter/json.h"
#include "instances/scatter/json_members.h"

namespace stowage {
namespace {

void write_by_degree(JsonWriter& json, std::string_view key, const std::map<int, double>& values) {
  json.key(key);
  json.begin_object(JsonWriter::Layout::line);
  for (const auto& [degree, value] : values) json.number(std::to_string(degree), value);
  json.end_object();
}

void write_group(JsonWriter& json, const ScatterGroup& group) {
  json.begin_object();
  json.integer("degree", group.degree);
  json.integer("first_rank", group.first_rank);
  json.key("sequences");
  json.integers(group.sequences);
  json.integer("tokens", group.tokens);
  json.number("time_ms", group.time_ms);
  json.key("cu_seqlens");
  json.integers(group.cu_seqlens);
  json.end_object();
}

}  // namespace

void write_json(JsonWriter& json, const ScatterCost& cost) {
  json.begin_object();
  json.number("quadratic_ms", cost.quadratic_ms);
  json.number("linear_ms", cost.linear_ms);
  json.number("fixed_ms", cost.fixed_ms);
  json.key("all_to_all");
  json.begin_object();
  json.number("mib_per_token", cost.all_to_all.mib_per_token);
  write_by_degree(json, "mib_per_ms", cost.all_to_all.mib_per_ms);
  write_by_degree(json, "latency_ms", cost.all_to_all.latency_ms);
  json.end_object();
  json.end_object();
}

void write_json_members(JsonWriter& json, const ScatterInstance& instance) {
  write_head(json, "stowage/instance", "scatter", instance.name);
  const Cluster& cluster = instance.cluster;
  json.key("cluster");
  json.begin_object();
  json.integer("devices", cluster.devices);
  json.integer("devices_per_node", cluster.devices_per_node);
  json.number("memory_mib", cluster.memory_mib);
  json.key("degrees");
  json.integers({cluster.degrees.begin(), cluster.degrees.end()});
  json.boolean("aligned", cluster.aligned);
  json.end_object();
  json.key("model");
  json.begin_object();
  json.number("states_mib", instance.model.states_mib);
  json.number("activation_mib_per_token", instance.model.activation_mib_per_token);
  json.end_object();
  json.key("cost");
  write_json(json, instance.cost);
  json.integer("pad_multiple", instance.pad_multiple);
  json.key("lengths");
  json.integers(instance.lengths);
}

void write_json(JsonWriter& json, const ScatterPlan& plan) {
  json.begin_object();
  write_head(json, "stowage/plan", "scatter", plan.name);
  json.text("instance_hash", plan.instance_hash);
  json.number("objective_ms", plan.objective_ms);
  json.number("bound_ms", plan.bound_ms);
  json.text("bound_by", plan.bound_by);
  json.key("micro_batches");
  json.begin_array();
  for (const ScatterMicroBatch& micro_batch : plan.micro_batches) {
    json.begin_object();
    json.number("makespan_ms", micro_batch.makespan_ms);
    json.key("groups");
    json.begin_array();
    for (const ScatterGroup& group : micro_batch.groups) write_group(json, group);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

std::string write_scatter_instance(const ScatterInstance& instance) {
  JsonWriter json;
  json.begin_object();
  write_json_members(json, instance);
  json.end_object();
  return json.take();
}

std::string write_scatter_plan(const ScatterPlan& plan) {
  JsonWriter json;
  write_json(json, plan);
  return json.take();
}

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
