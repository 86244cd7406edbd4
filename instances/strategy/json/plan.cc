// Reads and writes strategy plans and certificates. Reading checks types and ranges only, so that
// verify() can judge any plan.
#include "instances/json/answer.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/strategy/json/embedded_documents.h"
#include "instances/strategy/json/json.h"

namespace stowage {
namespace {

constexpr IntegerRange kCount = {1, kMaxExact};

}  // namespace

template <class Visitor, Of<StrategyStage> Stage>
void fields(Visitor& v, Stage& stage) {
  v.one_line();
  v.required("layers", stage.layers, kCount);
  v.required("zero", stage.zero, {0, kMaxZero});
  v.choice("recompute", stage.recompute, kStrategyRecomputes);
  v.omit_if(stage.stream_chunks == 1, "stream_chunks", stage.stream_chunks, kCount);
  v.required("time_ms", stage.time_ms, kComputed);
  v.required("longest_ms", stage.longest_ms, kComputed);
  v.required("exchange_ms", stage.exchange_ms, kComputed);
  v.required("memory_mib", stage.memory_mib, kComputed);
  v.omit_if(stage.update_ms == 0, "update_ms", stage.update_ms, kComputed);
  v.omit_if(stage.offload == 0, "offload", stage.offload, kComputed);
}

template <class Visitor, Of<StrategyPlan> Plan>
void fields(Visitor& v, Plan& plan) {
  v.head("stowage/plan", "strategy", plan.name);
  v.required("instance_hash", plan.instance_hash);
  v.required("objective_ms", plan.step_ms, kComputed);
  v.optional("bound_ms", plan.bound_ms, kComputed);
  v.optional("bound_by", plan.bound_by);
  v.required("pp", plan.pp, kCount);
  v.required("v", plan.v, kCount);
  v.required("micro_batches", plan.micro_batches, kCount);
  v.required("tp", plan.tp, kCount);
  v.required("cp", plan.cp, kCount);
  v.required("dp", plan.dp, kCount);
  v.omit_if(plan.ep == 1, "ep", plan.ep, kCount);
  v.choice("cp_exchange", plan.cp_exchange, kStrategyExchanges,
           plan.cp_exchange == StrategyExchange::all_to_all);
  v.omit_if(plan.shard == 0, "shard", plan.shard, {0, kMaxExact});
  v.required("logit_chunks", plan.logit_chunks, kCount);
  v.required("stages", plan.stages);
}

template <class Visitor, Of<StrategyCertificate::Class> Class>
void fields(Visitor& v, Class& its) {
  v.one_line();
  v.required("pp", its.pp, kCount);
  v.required("v", its.v, kCount);
  v.required("micro_batches", its.micro_batches, kCount);
  v.required("prices", its.prices, kComputed);
  v.omit_if(!its.thresholds, "thresholds", its.thresholds);
}

template <class Visitor, Of<StrategyCertificate> Certificate>
void fields(Visitor& v, Certificate& certificate) {
  v.required("bound_ms", certificate.bound_ms, kComputed);
  v.required("classes", certificate.classes);
}

Result<StrategyPlan> read_strategy_plan(std::string_view text) {
  return read_plan<StrategyPlan>(text);
}

void write_json(JsonWriter& json, const StrategyPlan& plan) { write_fields(json, plan); }

std::string write_strategy_plan(const StrategyPlan& plan) {
  JsonWriter json;
  write_json(json, plan);
  return json.take();
}

void write_json(JsonWriter& json, const StrategyCertificate& certificate) {
  write_fields(json, certificate);
}

Result<std::optional<StrategyCertificate>> read_strategy_certificate(std::string_view text) {
  return read_certificate(text, read_fields<StrategyCertificate>);
}

}  // namespace stowage
