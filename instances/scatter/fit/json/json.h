// Writes a fit as members of a document.
#pragma once

#include <span>

#include "instances/json/writer.h"
#include "instances/scatter/fit/cost_fit.h"
#include "instances/scatter/fit/sample.h"
#include "instances/scatter/fit/time_table.h"

namespace stowage {

// Writes the members of a stowage/fit without its head, so that others may follow. The keys are
// those of docs/reference/commands.md. `rows` are the fitted rows.
void write_json_members(JsonWriter& json, const CostFit& fit, std::span<const TimedRow> rows);

// Writes the member "table": its cost, and its errors on held-out rows.
void write_json_member(JsonWriter& json, const TableFit& fit);

}  // namespace stowage
