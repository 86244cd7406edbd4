// The scatter documents inside other documents. Not installed: the public face is json.h.
//
//   JsonWriter json;
//   json.begin_object();
//   json.key("plan");
//   write_json(json, plan);  // a whole stowage/plan, so that `jq .plan` cuts it out
//   json.end_object();
#pragma once

#include <filesystem>
#include <optional>

#include "instances/json/reader.h"
#include "instances/json/value.h"
#include "instances/json/writer.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

void write_json(JsonWriter& json, const ScatterCost& cost);
void write_json(JsonWriter& json, const ScatterPlan& plan);
void write_json(JsonWriter& json, const ScatterCertificate& certificate);

// The instance's members without the braces, so that x- members may follow.
void write_json_members(JsonWriter& json, const ScatterInstance& instance);

// What a parsed document says. On errors the result is incomplete and `errors` is not empty.
ScatterInstance scatter_instance_from(const JsonValue& document, const JsonPath& path,
                                      const std::filesystem::path& base_dir, ErrorList& errors);
ScatterPlan scatter_plan_from(const JsonValue& document, const JsonPath& path, ErrorList& errors);
ScatterCertificate scatter_certificate_from(const JsonValue& value, const JsonPath& path,
                                            ErrorList& errors);

}  // namespace stowage
