// A fit as members of a document.
#pragma once

#include <span>

#include "instances/json/writer.h"
#include "instances/scatter/fit/cost_fit.h"
#include "instances/scatter/fit/sample.h"
#include "instances/scatter/fit/time_table.h"

namespace stowage {

// The members of a stowage/fit without its head, so that others may follow; the keys are those of
// docs/reference/commands.md. `rows` are those that were fitted.
void write_json_members(JsonWriter& json, const CostFit& fit, std::span<const TimedRow> rows);

// The member "table": its cost, and its errors on rows that were left out.
void write_json_member(JsonWriter& json, const TableFit& fit);

}  // namespace stowage
