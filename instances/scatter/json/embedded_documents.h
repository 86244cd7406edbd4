// Reads and writes the scatter documents inside other documents.
//
//   JsonWriter json;
//   json.begin_object();
//   json.key("plan");
//   write_json(json, plan);  // a whole stowage/plan, so that `jq .plan` cuts it out
//   json.end_object();
#pragma once

#include "instances/json/reader.h"
#include "instances/json/writer.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

void write_json(JsonWriter& json, const ScatterCost& cost);
void write_json(JsonWriter& json, const ScatterPlan& plan);
void write_json(JsonWriter& json, const ScatterCertificate& certificate);

// Reads the `rules` of an instance, checked against the degrees of `cluster`; null if these are
// unknown.
ScatterRules read_scatter_rules(const JsonValue& value, const JsonPath& path,
                                const Cluster* cluster, ErrorList& errors);

// Reads a cost, or {"file": ...} that names one, relative to `base_dir`, checked against the
// degrees of `cluster`; null if these are unknown. Errors of a file name the file.
ScatterCost read_scatter_cost(const JsonValue& value, const JsonPath& path,
                              const std::string& base_dir, const Cluster* cluster,
                              ErrorList& errors);

// Writes the instance's members without the braces, so that x- members may follow.
void write_json_members(JsonWriter& json, const ScatterInstance& instance);

}  // namespace stowage
