// Reads and writes the key `mixed` of scatter instances.
#pragma once

#include "instances/json/reader.h"
#include "instances/json/writer.h"
#include "instances/scatter/instance.h"

namespace stowage {

// Reads the optional key `mixed`. Adds E313 if it stands beside members that it does not know.
// `degrees_known` is false if the cluster has errors; degrees are then not checked. Reads after all
// other members but padding and lengths.
void read_mixed(const ObjectReader& reader, bool degrees_known, ScatterInstance& instance);

// Writes `mixed` if the instance has it.
void write_mixed(JsonWriter& json, const ScatterInstance& instance);

}  // namespace stowage
