// A generator as a JSON object inside other documents. Not installed: the public face is
// generate.h.
#pragma once

#include "instances/generate.h"
#include "instances/json_reader.h"

namespace stowage {

// What an `x-generator` object says. On errors the result is incomplete.
ScatterGenerator generator_from(const JsonValue& value, const JsonPath& path, ErrorList& errors);

}  // namespace stowage
