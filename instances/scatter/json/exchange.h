// Reads and writes the exchanges of a scatter cost: `exchange` and `all_to_all`.
#pragma once

#include "instances/json/reader.h"
#include "instances/json/writer.h"
#include "instances/scatter/instance.h"

namespace stowage {

// Read the value of the key. What depends on the degrees of the cluster is checked unless `cluster`
// is null, because its degrees are unknown.
Exchange read_exchange(const JsonValue& value, const JsonPath& path, const Cluster* cluster,
                       ErrorList& errors);
AllToAll read_all_to_all(const JsonValue& value, const JsonPath& path, const Cluster* cluster,
                         ErrorList& errors);

void write_exchange(JsonWriter& json, const Exchange& exchange);

}  // namespace stowage
