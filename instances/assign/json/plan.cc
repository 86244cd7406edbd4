// Reads and writes assign plans. Reading checks types and ranges only, so that verify() can judge
// any plan.
#include "instances/assign/json/embedded_documents.h"
#include "instances/assign/json/json.h"
#include "instances/json/answer.h"

namespace stowage {
namespace {

constexpr IntegerRange kId = {0, kMaxExact};

std::optional<TokenRange> read_part(const ObjectReader& reader, std::string_view key) {
  const JsonValue* value = reader.find(key);
  if (value == nullptr) return std::nullopt;
  const JsonPath where = reader.at(key);
  const std::vector<std::int64_t> ends = read_integers(*value, where, kId, reader.errors());
  if (value->array() != nullptr && ends.size() != 2) {
    reader.errors().add(
        code::kWrongType, where.pointer(),
        "must be two integers, first token and end, is " + std::to_string(ends.size()) + " values");
  }
  return ends.size() == 2 ? TokenRange{ends[0], ends[1]} : TokenRange{};
}

void write_part(JsonWriter& json, std::string_view key, const std::optional<TokenRange>& part) {
  if (!part) return;
  json.key(key);
  json.integers({part->begin, part->end});
}

}  // namespace

template <class Visitor, Of<AssignRow> Row>
void fields(Visitor& v, Row& row) {
  v.required("sequences", row.sequences, kId);
  v.special("token_range", row.part, read_part, write_part);
  v.required("tokens", row.tokens, kId);
  v.required("loss_tokens", row.loss_tokens, kId);
  v.required("time_ms", row.time_ms);
  v.required("cu_seqlens", row.cu_seqlens, kId);
}

template <class Visitor, Of<AssignReplica> Replica>
void fields(Visitor& v, Replica& replica) {
  v.required("scheme", replica.scheme);
  v.required("time_ms", replica.time_ms);
  v.required("rows", replica.rows);
}

template <class Visitor, Of<AssignPlan> Plan>
void fields(Visitor& v, Plan& plan) {
  v.head("stowage/plan", "assign", plan.name);
  v.required("instance_hash", plan.instance_hash);
  v.required("strategy", plan.strategy);
  v.required("loss_tokens", plan.loss_tokens, kId);
  v.required("objective_ms", plan.objective_ms);
  v.required("simulated_1f1b_ms", plan.simulated_1f1b_ms);
  v.optional("bound_ms", plan.bound_ms);
  v.optional("bound_by", plan.bound_by);
  v.required("replicas", plan.replicas);
}

Result<AssignPlan> read_assign_plan(std::string_view text) { return read_plan<AssignPlan>(text); }

void write_json(JsonWriter& json, const AssignPlan& plan) { write_fields(json, plan); }

std::string write_assign_plan(const AssignPlan& plan) {
  JsonWriter json;
  write_json(json, plan);
  return json.take();
}

}  // namespace stowage
