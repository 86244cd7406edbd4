// Writes assign documents and takes the fingerprint of an instance.
#include <algorithm>
#include <string>

#include "instances/assign/json.h"
#include "instances/assign/json_members.h"
#include "instances/fingerprint.h"

namespace stowage {
namespace {

void write_scheme(JsonWriter& json, const Scheme& scheme) {
  json.key(scheme.name);
  json.begin_object(JsonWriter::Layout::line);
  json.integer("tp", scheme.tp);
  json.integer("pp", scheme.pp);
  json.number("quadratic_ms", scheme.quadratic_ms);
  json.number("linear_ms", scheme.linear_ms);
  json.number("fixed_ms", scheme.fixed_ms);
  json.integer("max_tokens", scheme.max_tokens);
  json.end_object();
}

void write_strategy(JsonWriter& json, const AssignInstance& instance, const Strategy& strategy) {
  json.key(strategy.name);
  json.begin_object(JsonWriter::Layout::line);
  for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
    if (strategy.replicas[g] > 0) json.integer(instance.schemes[g].name, strategy.replicas[g]);
  }
  json.end_object();
}

void write_row(JsonWriter& json, const AssignRow& row) {
  json.begin_object();
  json.key("sequences");
  json.integers(row.sequences);
  if (row.part) {
    json.key("token_range");
    json.integers({row.part->begin, row.part->end});
  }
  json.integer("tokens", row.tokens);
  json.integer("loss_tokens", row.loss_tokens);
  json.number("time_ms", row.time_ms);
  json.key("cu_seqlens");
  json.integers(row.cu_seqlens);
  json.end_object();
}

}  // namespace

void write_json_members(JsonWriter& json, const AssignInstance& instance) {
  write_head(json, "stowage/instance", "assign", instance.name);
  json.integer("devices", instance.devices);
  json.key("schemes");
  json.begin_object();
  for (const Scheme& scheme : instance.schemes) write_scheme(json, scheme);
  json.end_object();
  json.key("strategies");
  json.begin_object();
  for (const Strategy& strategy : instance.strategies) write_strategy(json, instance, strategy);
  json.end_object();
  json.key("constraints");
  json.begin_object();
  json.integer("rows_multiple_of", instance.constraints.rows_multiple_of);
  json.boolean("equal_rows", instance.constraints.equal_rows);
  json.boolean("allow_empty", instance.constraints.allow_empty);
  if (const std::optional<ChunkRule>& chunks = instance.constraints.chunks) {
    json.key("chunks");
    json.begin_object(JsonWriter::Layout::line);
    json.integer("size_tokens", chunks->size);
    json.integer("retained", chunks->retained);
    json.integer("activation_bytes", chunks->activation_bytes);
    json.integer("key_value_bytes", chunks->key_value_bytes);
    json.end_object();
  }
  json.end_object();
  json.integer("pad_multiple", instance.pad_multiple);
  json.key("lengths");
  json.integers(instance.lengths);
}

void write_json(JsonWriter& json, const AssignPlan& plan) {
  json.begin_object();
  write_head(json, "stowage/plan", "assign", plan.name);
  json.text("instance_hash", plan.instance_hash);
  json.text("strategy", plan.strategy);
  json.integer("loss_tokens", plan.loss_tokens);
  json.number("objective_ms", plan.objective_ms);
  json.number("simulated_1f1b_ms", plan.simulated_1f1b_ms);
  json.number("bound_ms", plan.bound_ms);
  json.text("bound_by", plan.bound_by);
  json.key("replicas");
  json.begin_array();
  for (const AssignReplica& replica : plan.replicas) {
    json.begin_object();
    json.text("scheme", replica.scheme);
    json.number("time_ms", replica.time_ms);
    json.key("rows");
    json.begin_array();
    for (const AssignRow& row : replica.rows) write_row(json, row);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

std::string write_assign_instance(const AssignInstance& instance) {
  JsonWriter json;
  json.begin_object();
  write_json_members(json, instance);
  json.end_object();
  return json.take();
}

std::string write_assign_plan(const AssignPlan& plan) {
  JsonWriter json;
  write_json(json, plan);
  return json.take();
}

// The names of schemes and strategies enter, because a plan refers to them.
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
  }
  return fingerprint.text();
}

std::vector<InputError> hidden_assign_errors(const AssignInstance& instance) {
  std::vector<InputError> errors;
  for (const Strategy& strategy : instance.strategies) {
    if (strategy.replicas.size() == instance.schemes.size() &&
        std::ranges::all_of(strategy.replicas, [](int count) { return count >= 0; })) {
      continue;
    }
    errors.push_back({code::kIntegerRange, "/strategies/" + strategy.name,
                      "must be a number of replicas from 0 for each of the " +
                          std::to_string(instance.schemes.size()) + " schemes"});
  }
  return errors;
}

}  // namespace stowage
