// An assign generator as a JSON object inside other documents.
#pragma once

#include "instances/assign/generate/generate.h"
#include "instances/json/reader.h"

namespace stowage {

// Reads an `x-generator` object. On errors the result is incomplete.
AssignGenerator assign_generator_from(const JsonValue& value, const JsonPath& path,
                                      ErrorList& errors);

}  // namespace stowage
