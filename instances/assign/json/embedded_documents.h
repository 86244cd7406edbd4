// Writes the assign documents inside other documents; see scatter/json/json.h.
//
//   json.key("plan");
//   write_json(json, plan);  // a whole stowage/plan, head included
#pragma once

#include "instances/assign/certificate.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/json/writer.h"

namespace stowage {

void write_json(JsonWriter& json, const AssignPlan& plan);
void write_json(JsonWriter& json, const AssignCertificate& certificate);

// Writes the instance's members without the braces, so that x- members may follow.
void write_json_members(JsonWriter& json, const AssignInstance& instance);

}  // namespace stowage
