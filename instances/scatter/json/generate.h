// A scatter generator as a JSON object inside other documents.
#pragma once

#include "instances/json/reader.h"
#include "instances/scatter/generate/generate.h"

namespace stowage {

// Reads an `x-generator` object. On errors the result is incomplete.
ScatterGenerator scatter_generator_from(const JsonValue& value, const JsonPath& path,
                                        ErrorList& errors);

}  // namespace stowage
