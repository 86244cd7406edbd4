// Generators as JSON objects inside other documents. Not installed: the public faces are
// scatter/generate.h and assign/generate.h.
#pragma once

#include "instances/assign/generate.h"
#include "instances/json/reader.h"
#include "instances/json/writer.h"
#include "instances/lengths/source.h"
#include "instances/scatter/generate.h"

namespace stowage {

// The members of a length source: "source" and what that kind needs.
void write_source(JsonWriter& json, const LengthSource& source);
LengthSource read_source(const ObjectReader& reader);

// "above_limit": "drop" or "clip".
void write_above(JsonWriter& json, AboveLimit above_limit);
AboveLimit read_above(const ObjectReader& reader);

// What an `x-generator` object says. On errors the result is incomplete.
ScatterGenerator generator_from(const JsonValue& value, const JsonPath& path, ErrorList& errors);
AssignGenerator assign_generator_from(const JsonValue& value, const JsonPath& path,
                                      ErrorList& errors);

}  // namespace stowage
