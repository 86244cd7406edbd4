// Writes the layout documents inside other documents; see scatter/json/json.h.
//
//   json.key("plan");
//   write_json(json, plan);  // a whole stowage/plan, head included
#pragma once

#include "instances/json/writer.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"

namespace stowage {

void write_json(JsonWriter& json, const LayoutPlan& plan);

// Writes the instance's members without the braces, so that x- members may follow.
void write_json_members(JsonWriter& json, const LayoutInstance& instance);

}  // namespace stowage
