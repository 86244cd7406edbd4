// The layout documents inside other documents; see scatter/json.h. Not installed: the public face
// is json.h.
//
//   json.key("plan");
//   write_json(json, plan);  // a whole stowage/plan, head included
#pragma once

#include "instances/json/reader.h"
#include "instances/json/value.h"
#include "instances/json/writer.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"

namespace stowage {

void write_json(JsonWriter& json, const LayoutPlan& plan);

// The instance's members without the braces, so that x- members may follow.
void write_json_members(JsonWriter& json, const LayoutInstance& instance);

// What a parsed document says. On errors the result is incomplete and `errors` is not empty.
LayoutInstance layout_instance_from(const JsonValue& document, const JsonPath& path,
                                    ErrorList& errors);
LayoutPlan layout_plan_from(const JsonValue& document, const JsonPath& path, ErrorList& errors);

}  // namespace stowage
