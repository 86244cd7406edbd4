// Reads an assign plan: types and ranges only, so that verify() can judge what a planner wrote.
#include <string>

#include "instances/assign/json.h"
#include "instances/assign/json_members.h"

namespace stowage {
namespace {

constexpr IntegerRange kId = {0, kMaxExact};

std::vector<std::int64_t> required_integers(const ObjectReader& reader, std::string_view key) {
  const JsonValue* value = reader.require(key);
  if (value == nullptr) return {};
  return read_integers(*value, reader.at(key), kId, reader.errors());
}

std::optional<TokenRange> read_range(const ObjectReader& reader) {
  const JsonValue* value = reader.find("token_range");
  if (value == nullptr) return std::nullopt;
  const JsonPath where = reader.at("token_range");
  const std::vector<std::int64_t> ends = read_integers(*value, where, kId, reader.errors());
  if (value->array() != nullptr && ends.size() != 2) {
    reader.errors().add(
        code::kWrongType, where.pointer(),
        "must be two integers, first token and end, is " + std::to_string(ends.size()) + " values");
  }
  return ends.size() == 2 ? TokenRange{ends[0], ends[1]} : TokenRange{};
}

AssignRow read_row(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(
      value, path, errors,
      {"sequences", "token_range", "tokens", "loss_tokens", "time_ms", "cu_seqlens"});
  return {.sequences = required_integers(reader, "sequences"),
          .part = read_range(reader),
          .tokens = reader.integer("tokens", kId),
          .loss_tokens = reader.integer("loss_tokens", kId),
          .time_ms = reader.number("time_ms", {}),
          .cu_seqlens = required_integers(reader, "cu_seqlens")};
}

AssignReplica read_replica(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"scheme", "time_ms", "rows"});
  AssignReplica replica{.scheme = reader.text("scheme"), .time_ms = reader.number("time_ms", {})};
  if (const JsonValue::Array* rows = reader.array("rows")) {
    const JsonPath where = reader.at("rows");
    replica.rows.reserve(rows->size());
    for (const JsonValue& row : *rows) {
      const auto index = static_cast<std::int64_t>(replica.rows.size());
      replica.rows.push_back(read_row(row, where.index(index), errors));
    }
  }
  return replica;
}

}  // namespace

AssignPlan assign_plan_from(const JsonValue& document, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(
      document, path, errors,
      {"format", "version", "problem", "name", "instance_hash", "strategy", "loss_tokens",
       "objective_ms", "simulated_1f1b_ms", "bound_ms", "bound_by", "replicas"});
  AssignPlan plan;
  if (document.object() == nullptr || !check_head(reader, "stowage/plan", "assign")) return plan;
  plan.name = reader.text("name", "");
  plan.instance_hash = reader.text("instance_hash");
  plan.strategy = reader.text("strategy");
  plan.loss_tokens = reader.integer("loss_tokens", kId);
  plan.objective_ms = reader.number("objective_ms", {});
  plan.simulated_1f1b_ms = reader.number("simulated_1f1b_ms", {});
  plan.bound_ms = reader.number("bound_ms", {}, 0);
  plan.bound_by = reader.text("bound_by", "");
  if (const JsonValue::Array* replicas = reader.array("replicas")) {
    const JsonPath where = reader.at("replicas");
    plan.replicas.reserve(replicas->size());
    for (const JsonValue& replica : *replicas) {
      const auto index = static_cast<std::int64_t>(plan.replicas.size());
      plan.replicas.push_back(read_replica(replica, where.index(index), errors));
    }
  }
  return plan;
}

Result<AssignPlan> read_assign_plan(std::string_view text) {
  ErrorList errors;
  AssignPlan plan;
  const JsonPath root;
  if (const std::optional<JsonValue> document = parse_json(text, errors)) {
    const PlanPlace place = plan_in(*document, root, errors);
    if (place.plan != nullptr) plan = assign_plan_from(*place.plan, place.path, errors);
  }
  if (!errors.empty()) return std::move(errors).take();
  return plan;
}

}  // namespace stowage
