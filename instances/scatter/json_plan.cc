// Reads a scatter plan: types and ranges only, so that verify() can judge what a planner wrote.
#include <string>

#include "instances/json/limits.h"
#include "instances/scatter/json.h"
#include "instances/scatter/json_members.h"

namespace stowage {
namespace {

constexpr IntegerRange kId = {0, kMaxExact};
constexpr IntegerRange kRank = {0, kMaxDevices};

std::vector<std::int64_t> required_integers(const ObjectReader& reader, std::string_view key) {
  const JsonValue* value = reader.require(key);
  if (value == nullptr) return {};
  return read_integers(*value, reader.at(key), kId, reader.errors());
}

ScatterGroup read_group(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(
      value, path, errors,
      {"degree", "first_rank", "sequences", "tokens", "time_ms", "cu_seqlens"});
  return {.degree = static_cast<int>(reader.integer("degree", kRank)),
          .first_rank = static_cast<int>(reader.integer("first_rank", kRank)),
          .sequences = required_integers(reader, "sequences"),
          .tokens = reader.integer("tokens", kId),
          .time_ms = reader.number("time_ms", {}),
          .cu_seqlens = required_integers(reader, "cu_seqlens")};
}

ScatterMicroBatch read_micro_batch(const JsonValue& value, const JsonPath& path,
                                   ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"makespan_ms", "groups"});
  ScatterMicroBatch micro_batch{.makespan_ms = reader.number("makespan_ms", {})};
  if (const JsonValue::Array* groups = reader.array("groups")) {
    const JsonPath where = reader.at("groups");
    micro_batch.groups.reserve(groups->size());
    for (const JsonValue& group : *groups) {
      const auto index = static_cast<std::int64_t>(micro_batch.groups.size());
      micro_batch.groups.push_back(read_group(group, where.index(index), errors));
    }
  }
  return micro_batch;
}

}  // namespace

ScatterPlan scatter_plan_from(const JsonValue& document, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(document, path, errors,
                            {"format", "version", "problem", "name", "instance_hash",
                             "objective_ms", "bound_ms", "bound_by", "micro_batches"});
  ScatterPlan plan;
  if (document.object() == nullptr || !check_head(reader, "stowage/plan", "scatter")) return plan;
  plan.name = reader.text("name", "");
  plan.instance_hash = reader.text("instance_hash");
  plan.objective_ms = reader.number("objective_ms", {});
  plan.bound_ms = reader.number("bound_ms", {}, 0);
  plan.bound_by = reader.text("bound_by", "");
  if (const JsonValue::Array* micro_batches = reader.array("micro_batches")) {
    const JsonPath where = reader.at("micro_batches");
    plan.micro_batches.reserve(micro_batches->size());
    for (const JsonValue& micro_batch : *micro_batches) {
      const auto index = static_cast<std::int64_t>(plan.micro_batches.size());
      plan.micro_batches.push_back(read_micro_batch(micro_batch, where.index(index), errors));
    }
  }
  return plan;
}

Result<ScatterPlan> read_scatter_plan(std::string_view text) {
  ErrorList errors;
  ScatterPlan plan;
  const JsonPath root;
  if (const std::optional<JsonValue> document = parse_json(text, errors)) {
    const PlanPlace place = plan_in(*document, root, errors);
    if (place.plan != nullptr) plan = scatter_plan_from(*place.plan, place.path, errors);
  }
  if (!errors.empty()) return std::move(errors).take();
  return plan;
}

}  // namespace stowage
