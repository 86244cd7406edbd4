#include "instances/scatter/json/device_types.h"

#include <cstdint>
#include <string>

#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/scatter/table/device_pools.h"

namespace stowage {
namespace {

constexpr NumberRange kSpeed = {.least = 1e-6, .most = 1e6};

// Checks that the kinds cover all nodes, and that no block of ranks begins inside a kind that it
// fits into.
void check_kinds(const Cluster& cluster, const JsonPath& path, ErrorList& errors) {
  const auto must = [&](const std::string& text) {
    errors.add(code::kDeviceKinds, path.pointer(), "must " + text);
  };
  std::int64_t devices = 0;
  for (const DeviceKind& kind : cluster.kinds) {
    devices += std::int64_t{kind.nodes} * cluster.devices_per_node;
  }
  if (devices != cluster.devices) {
    return must("be of " + std::to_string(cluster.devices) + " devices, is of " +
                std::to_string(devices));
  }
  if (!cluster.aligned)
    return must("stand in an aligned cluster, is in one with \"aligned\": false");
  for (std::size_t k = 0; k < cluster.kinds.size(); ++k) {
    const int first = first_rank_of_kind(cluster, static_cast<int>(k));
    const int end = first_rank_of_kind(cluster, static_cast<int>(k) + 1);
    for (const int degree : cluster.degrees) {
      if (degree > end - first || first % degree == 0) continue;
      errors.add(code::kDeviceKinds, path.index(static_cast<std::int64_t>(k)).pointer(),
                 "must start at a multiple of degree " + std::to_string(degree) +
                     ", which fits into it, starts at rank " + std::to_string(first));
      break;
    }
  }
}

}  // namespace

// A missing memory is the cluster's.
template <class Visitor, Of<DeviceKind> Kind>
void fields(Visitor& v, Kind& kind) {
  v.one_line();
  v.omit_if(kind.name.empty(), "name", kind.name);
  v.required("nodes", kind.nodes, {1, kMaxDevices});
  v.omit_if(kind.speed == 1, "speed", kind.speed, kSpeed);
  v.optional("memory_mib", kind.memory_mib, kQuantity);
}

void read_device_kinds(const ObjectReader& reader, Cluster& cluster) {
  const JsonValue* const listed = reader.find("kinds");
  if (listed == nullptr) return;
  ErrorList& errors = reader.errors();
  const JsonPath path = reader.at("kinds");
  const std::int64_t before = errors.found();
  FieldReader(reader).optional("kinds", cluster.kinds);
  if (std::ssize(cluster.kinds) > kMaxDeviceKinds) {
    errors.add(code::kDeviceKinds, path.pointer(),
               "must have at most " + std::to_string(kMaxDeviceKinds) + " entries, has " +
                   std::to_string(cluster.kinds.size()));
  }
  for (std::size_t k = 0; k < cluster.kinds.size(); ++k) {
    const auto stated =
        listed->array() == nullptr ? nullptr : (*listed->array())[k].find("memory_mib");
    if (stated == nullptr) cluster.kinds[k].memory_mib = cluster.memory_mib;
  }
  // An empty list means the same as no list.
  if (errors.found() == before && !cluster.kinds.empty()) check_kinds(cluster, path, errors);
}

void check_rules_of_device_kinds(const ScatterInstance& instance, const ObjectReader& reader) {
  if (instance.cluster.kinds.empty()) return;
  const ScatterRules& rules = instance.rules;
  const auto refuse = [&](bool asked, const char* key) {
    if (!asked) return;
    reader.errors().add(code::kDeviceKinds, reader.at("rules").key(key).pointer(),
                        "must be false beside cluster.kinds, is true");
  };
  refuse(rules.no_idle_ranks, "no_idle_ranks");
  refuse(rules.sorted_groups, "sorted_groups");
  refuse(rules.equal_sequences, "equal_sequences");
}

void write_device_kinds(JsonWriter& json, const Cluster& cluster) {
  if (cluster.kinds.empty()) return;
  json.key("kinds");
  json.begin_array();
  for (const DeviceKind& kind : cluster.kinds) write_fields(json, kind);
  json.end_array();
}

}  // namespace stowage
