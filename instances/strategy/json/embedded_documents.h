// Writes the strategy documents inside other documents; see scatter/json/json.h.
//
//   json.key("plan");
//   write_json(json, plan);  // a whole stowage/plan, head included
#pragma once

#include "instances/json/writer.h"
#include "instances/strategy/certificate.h"
#include "instances/strategy/plan.h"

namespace stowage {

void write_json(JsonWriter& json, const StrategyPlan& plan);
void write_json(JsonWriter& json, const StrategyCertificate& certificate);

}  // namespace stowage
