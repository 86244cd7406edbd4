// Writes the order documents inside other documents; see scatter/json/json.h.
//
//   json.key("plan");
//   write_json(json, plan);  // a whole stowage/plan, head included
#pragma once

#include "instances/json/writer.h"
#include "instances/order/certificate.h"
#include "instances/order/plan.h"

namespace stowage {

void write_json(JsonWriter& json, const OrderPlan& plan);
void write_json(JsonWriter& json, const OrderCertificate& certificate);

}  // namespace stowage
