// Reads a layout plan: types and ranges only, so that verify() can judge what a planner wrote.
#include <string>

#include "instances/layout/json.h"
#include "instances/layout/json_members.h"

namespace stowage {

LayoutPlan layout_plan_from(const JsonValue& document, const JsonPath& path, ErrorList& errors) {
  constexpr IntegerRange kBytes = {0, kMaxExact};
  const ObjectReader reader(document, path, errors,
                            {"format", "version", "problem", "name", "instance_hash", "peak_bytes",
                             "bound_bytes", "bound_by", "offsets"});
  LayoutPlan plan;
  if (document.object() == nullptr || !check_head(reader, "stowage/plan", "layout")) return plan;
  plan.name = reader.text("name", "");
  plan.instance_hash = reader.text("instance_hash");
  plan.peak_bytes = reader.integer("peak_bytes", kBytes);
  plan.bound_bytes = reader.integer("bound_bytes", kBytes, 0);
  plan.bound_by = reader.text("bound_by", "");
  if (const JsonValue* offsets = reader.require("offsets")) {
    plan.offsets = read_integers(*offsets, reader.at("offsets"), kBytes, errors);
  }
  return plan;
}

Result<LayoutPlan> read_layout_plan(std::string_view text) {
  ErrorList errors;
  LayoutPlan plan;
  const JsonPath root;
  if (const std::optional<JsonValue> document = parse_json(text, errors)) {
    const PlanPlace place = plan_in(*document, root, errors);
    if (place.plan != nullptr) plan = layout_plan_from(*place.plan, place.path, errors);
  }
  if (!errors.empty()) return std::move(errors).take();
  return plan;
}

}  // namespace stowage
