// Writes layout documents and takes the fingerprint of an instance.
#include <string>

#include "instances/fingerprint.h"
#include "instances/layout/json.h"
#include "instances/layout/json_members.h"

namespace stowage {
namespace {

// On one line, without what has its default: there may be a million of them.
void write_buffer(JsonWriter& json, const Buffer& buffer) {
  json.begin_object(JsonWriter::Layout::line);
  if (!buffer.id.empty()) json.text("id", buffer.id);
  json.integer("lower", buffer.lower);
  json.integer("upper", buffer.upper);
  json.integer("size_bytes", buffer.size);
  if (buffer.alignment != 1) json.integer("alignment", buffer.alignment);
  if (buffer.offset) json.integer("offset_bytes", *buffer.offset);
  if (!buffer.gaps.empty()) {
    json.key("gaps");
    json.begin_array();
    for (const Lifetime& gap : buffer.gaps) json.integers({gap.lower, gap.upper});
    json.end_array();
  }
  json.end_object();
}

void write_block(JsonWriter& json, const RepeatedBlock& block) {
  json.begin_object();
  json.text("name", block.name);
  json.key("occurrences");
  json.begin_array();
  for (const std::vector<std::int64_t>& occurrence : block.occurrences) json.integers(occurrence);
  json.end_array();
  json.end_object();
}

void write_recorded(JsonWriter& json, const RecordedBlock& block) {
  json.key("recorded_from");
  json.begin_object();
  json.integer("hidden", block.hidden);
  json.integer("heads", block.heads);
  json.integer("kv_heads", block.kv_heads);
  json.integer("head_dim", block.head_dim);
  json.integer("ffn", block.ffn);
  json.integer("layers", block.layers);
  json.key("lengths");
  json.integers(block.lengths);
  json.end_object();
}

}  // namespace

void write_json_members(JsonWriter& json, const LayoutInstance& instance) {
  write_head(json, "stowage/instance", "layout", instance.name);
  if (instance.capacity) json.integer("capacity_bytes", *instance.capacity);
  json.integer("alignment", instance.alignment);
  json.key("buffers");
  json.begin_array();
  for (const Buffer& buffer : instance.buffers) write_buffer(json, buffer);
  json.end_array();
  if (!instance.layers.empty()) {
    json.key("layers");
    json.begin_array();
    for (const RepeatedBlock& block : instance.layers) write_block(json, block);
    json.end_array();
  }
  if (instance.recorded_from) write_recorded(json, *instance.recorded_from);
}

void write_json(JsonWriter& json, const LayoutPlan& plan) {
  json.begin_object();
  write_head(json, "stowage/plan", "layout", plan.name);
  json.text("instance_hash", plan.instance_hash);
  json.integer("peak_bytes", plan.peak_bytes);
  json.integer("bound_bytes", plan.bound_bytes);
  json.text("bound_by", plan.bound_by);
  json.key("offsets");
  json.integers(plan.offsets);
  json.end_object();
}

std::string write_layout_instance(const LayoutInstance& instance) {
  JsonWriter json;
  json.begin_object();
  write_json_members(json, instance);
  json.end_object();
  return json.take();
}

std::string write_layout_plan(const LayoutPlan& plan) {
  JsonWriter json;
  write_json(json, plan);
  return json.take();
}

// Ids name, layers and recorded_from explain: none changes which plans are valid.
std::string instance_hash(const LayoutInstance& instance) {
  Fingerprint fingerprint;
  const auto add_optional = [&](const std::optional<Bytes>& value) {
    fingerprint.add(std::int64_t{value ? 1 : 0});
    fingerprint.add(value.value_or(0));
  };
  add_optional(instance.capacity);
  fingerprint.add(instance.alignment);
  fingerprint.add(static_cast<std::int64_t>(instance.buffers.size()));
  for (const Buffer& buffer : instance.buffers) {
    fingerprint.add(buffer.lower);
    fingerprint.add(buffer.upper);
    fingerprint.add(buffer.size);
    fingerprint.add(buffer.alignment);
    add_optional(buffer.offset);
    fingerprint.add(static_cast<std::int64_t>(buffer.gaps.size()));
    for (const Lifetime& gap : buffer.gaps) {
      fingerprint.add(gap.lower);
      fingerprint.add(gap.upper);
    }
  }
  return fingerprint.text();
}

}  // namespace stowage
