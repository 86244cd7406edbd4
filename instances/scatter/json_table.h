// Tables of measured times in scatter instances.
#pragma once

#include <map>

#include "instances/json/reader.h"
#include "instances/json/writer.h"
#include "instances/scatter/instance.h"

namespace stowage {

// One grid of a table; any of its errors is E310, besides wrong types and ranges.
TimeGrid read_time_grid(const JsonValue& value, const JsonPath& path, ErrorList& errors);

// Whether the instance can be planned by the table of its cost, if it has one: a grid for every
// allowed degree that covers whatever groups of it may hold, and nothing that the table does not
// know. Lengths do not matter. Adds the errors. Requires the degrees of a cluster that was read
// without errors.
void check_table(const ScatterInstance& instance, const JsonPath& cost, ErrorList& errors);

void write_json(JsonWriter& json, const TimeGrid& grid);

}  // namespace stowage
