// Reads and writes the kinds of nodes in scatter instances.
#pragma once

#include "instances/json/reader.h"
#include "instances/json/writer.h"
#include "instances/scatter/instance.h"

namespace stowage {

// Reads the optional key `kinds` of a cluster whose other keys were read without errors. Adds E309
// for invalid kinds.
void read_device_kinds(const ObjectReader& reader, Cluster& cluster);

// Adds E309 for rules that plans on unequal devices cannot satisfy.
void check_rules_of_device_kinds(const ScatterInstance& instance, const ObjectReader& reader);

// Writes the key and its value, unless all devices are alike.
void write_device_kinds(JsonWriter& json, const Cluster& cluster);

}  // namespace stowage
