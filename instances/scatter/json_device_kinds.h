// Kinds of nodes in scatter instances.
#pragma once

#include "instances/json/reader.h"
#include "instances/json/writer.h"
#include "instances/scatter/instance.h"

namespace stowage {

// The key `kinds` of a cluster whose other keys were read without errors; there may be none. E309
// for what kinds may not be.
void read_device_kinds(const ObjectReader& reader, Cluster& cluster);

// E309 for rules that plans on different devices do not keep.
void check_rules_of_device_kinds(const ScatterInstance& instance, const ObjectReader& reader);

// The key and its value, or nothing.
void write_device_kinds(JsonWriter& json, const Cluster& cluster);

}  // namespace stowage
