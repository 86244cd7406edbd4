// Reads and writes scatter plans. Reading checks types and ranges only, so that verify() can judge
// any plan.
#include "instances/json/answer.h"
#include "instances/json/limits.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/scatter/json/json.h"

namespace stowage {
namespace {

constexpr IntegerRange kPlanId = {0, kMaxExact};
constexpr IntegerRange kPlanRank = {0, kMaxDevices};

}  // namespace

template <class Visitor, Of<ScatterGroup> Group>
void fields(Visitor& v, Group& group) {
  v.required("degree", group.degree, kPlanRank);
  v.choice("exchange", group.exchange, exchange_names(), group.exchange == ExchangeKind::none);
  v.required("first_rank", group.first_rank, kPlanRank);
  v.required("sequences", group.sequences, kPlanId);
  v.required("tokens", group.tokens, kPlanId);
  v.omit_if(group.offload == 0, "offload", group.offload);
  v.required("time_ms", group.time_ms);
  v.required("cu_seqlens", group.cu_seqlens, kPlanId);
}

template <class Visitor, Of<ScatterMicroBatch> MicroBatch>
void fields(Visitor& v, MicroBatch& micro_batch) {
  v.required("makespan_ms", micro_batch.makespan_ms);
  v.omit_if(micro_batch.recomputation.empty(), "recomputation", micro_batch.recomputation);
  v.required("groups", micro_batch.groups);
}

template <class Visitor, Of<ScatterPlan> Plan>
void fields(Visitor& v, Plan& plan) {
  v.head("stowage/plan", "scatter", plan.name);
  v.required("instance_hash", plan.instance_hash);
  v.required("objective_ms", plan.objective_ms);
  v.omit_if(plan.simulated_1f1b_ms == 0, "simulated_1f1b_ms", plan.simulated_1f1b_ms);
  v.optional("bound_ms", plan.bound_ms);
  v.optional("bound_by", plan.bound_by);
  v.required("micro_batches", plan.micro_batches);
}

Result<ScatterPlan> read_scatter_plan(std::string_view text) {
  return read_plan<ScatterPlan>(text);
}

void write_json(JsonWriter& json, const ScatterPlan& plan) { write_fields(json, plan); }

std::string write_scatter_plan(const ScatterPlan& plan) {
  JsonWriter json;
  write_json(json, plan);
  return json.take();
}

}  // namespace stowage
