// Reads and writes tables of measured times in scatter instances.
#pragma once

#include <map>

#include "instances/json/reader.h"
#include "instances/json/writer.h"
#include "instances/scatter/instance.h"

namespace stowage {

// Reads one grid of a table. Any error is E310, except wrong types and ranges.
TimeGrid read_time_grid(const JsonValue& value, const JsonPath& path, ErrorList& errors);

// Checks the table of the cost, if there is one. Every allowed degree needs a grid that covers all
// its groups, and the instance must not use features that tables exclude. Lengths do not matter.
// Adds the errors. Requires the degrees of a cluster that was read without errors.
void check_table(const ScatterInstance& instance, const JsonPath& cost, ErrorList& errors);

void write_json(JsonWriter& json, const TimeGrid& grid);

}  // namespace stowage
