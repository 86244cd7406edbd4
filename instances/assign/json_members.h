// The assign documents inside other documents; see scatter/json.h. Not installed: the public face
// is json.h.
//
//   json.key("plan");
//   write_json(json, plan);  // a whole stowage/plan, head included
#pragma once

#include <filesystem>

#include "instances/assign/certificate.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/json/reader.h"
#include "instances/json/value.h"
#include "instances/json/writer.h"

namespace stowage {

void write_json(JsonWriter& json, const AssignPlan& plan);
void write_json(JsonWriter& json, const AssignCertificate& certificate);

// The instance's members without the braces, so that x- members may follow.
void write_json_members(JsonWriter& json, const AssignInstance& instance);

// What a parsed document says. On errors the result is incomplete and `errors` is not empty.
AssignInstance assign_instance_from(const JsonValue& document, const JsonPath& path,
                                    const std::filesystem::path& base_dir, ErrorList& errors);
AssignPlan assign_plan_from(const JsonValue& document, const JsonPath& path, ErrorList& errors);
AssignCertificate assign_certificate_from(const JsonValue& value, const JsonPath& path,
                                          ErrorList& errors);

}  // namespace stowage
