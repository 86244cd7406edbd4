// Length sources as JSON members, for the generators of the families. Not installed.
#pragma once

#include "instances/json/reader.h"
#include "instances/json/writer.h"
#include "instances/lengths/source.h"

namespace stowage {

// The members of a length source: "source" and what that kind needs.
void write_source(JsonWriter& json, const LengthSource& source);
LengthSource read_source(const ObjectReader& reader);

// "above_limit": "drop" or "clip".
void write_above(JsonWriter& json, AboveLimit above_limit);
AboveLimit read_above(const ObjectReader& reader);

}  // namespace stowage
