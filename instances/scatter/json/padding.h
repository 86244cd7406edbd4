// Reads and writes the key `padding` of scatter instances.
#pragma once

#include "instances/json/reader.h"
#include "instances/json/writer.h"
#include "instances/scatter/instance.h"

namespace stowage {

// Reads the optional key `padding`, and `pad_multiple`, which must be absent beside it. Adds E311
// if a group would pad to a multiple above kMaxPadMultiple, or if device_multiple stands without
// per_degree. `degrees_known` is false if the cluster has errors; multiples are then not checked.
void read_padding(const ObjectReader& reader, bool degrees_known, ScatterInstance& instance);

// Writes `padding`, or `pad_multiple` if the instance has no `padding`.
void write_padding(JsonWriter& json, const ScatterInstance& instance);

// Returns the largest multiple that some group pads its sequences or its row to; at most
// kMaxPadMultiple for an instance that was read.
Tokens largest_multiple(const ScatterInstance& instance);

}  // namespace stowage
