// The fingerprint of a strategy instance.
#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "instances/document/fingerprint.h"
#include "instances/strategy/json/json.h"

namespace stowage {
namespace {

// Adds a list of options as a set.
template <class Value>
void add_set(Fingerprint& fingerprint, std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  fingerprint.add(static_cast<std::int64_t>(values.size()));
  for (const Value value : values) fingerprint.add(static_cast<std::int64_t>(value));
}

// Adds measured costs, sorted by their keys.
void add_measured(Fingerprint& fingerprint, std::vector<StrategyMeasured> all) {
  std::ranges::sort(all, {}, [](const StrategyMeasured& its) {
    return std::tuple(its.block, its.tp, its.cp, its.recompute);
  });
  fingerprint.add(std::string_view("measured"));
  fingerprint.add(static_cast<std::int64_t>(all.size()));
  for (const StrategyMeasured& its : all) {
    for (const std::int64_t number :
         {its.block, its.tp, its.cp, static_cast<std::int64_t>(its.recompute),
          static_cast<std::int64_t>(its.tokens.size())}) {
      fingerprint.add(number);
    }
    for (const Tokens length : its.tokens) fingerprint.add(length);
    for (const Ms ms : its.ms) fingerprint.add(ms);
  }
}

void add_detail(Fingerprint& fingerprint, const StrategyDetail& detail) {
  fingerprint.add(std::string_view("detail"));
  for (const double number :
       {detail.memory_mib_per_ms, detail.pass_bytes, detail.pass_ms, detail.message_ms,
        detail.square_bytes, detail.expert_slowdown, detail.update_bytes, detail.update_ms,
        detail.activation_factor, detail.fixed_mib}) {
    fingerprint.add(number);
  }
  fingerprint.add(detail.gradient_bytes);
  if (detail.step_overlap) {
    fingerprint.add(std::string_view("step_overlap"));
    fingerprint.add(*detail.step_overlap);
  }
}

}  // namespace

// The hash leaves out names, which change no plan.
std::string instance_hash(const StrategyInstance& instance) {
  Fingerprint fingerprint;
  const StrategyModel& model = instance.model;
  for (const std::int64_t number :
       {model.hidden, model.heads, model.key_value_width(), model.vocabulary}) {
    fingerprint.add(number);
  }
  for (const bool flag :
       {model.tied, model.causal, model.flash_attention, model.sequence_parallel}) {
    fingerprint.add(std::int64_t{flag ? 1 : 0});
  }
  fingerprint.add(static_cast<std::int64_t>(model.blocks.size()));
  for (const StrategyBlock& block : model.blocks) {
    fingerprint.add(block.count);
    fingerprint.add(block.dense_ffn());
    fingerprint.add(std::int64_t{block.gated ? 1 : 0});
  }
  fingerprint.add(instance.cluster.nodes);
  fingerprint.add(instance.cluster.devices_per_node);
  fingerprint.add(instance.cluster.memory_mib);
  fingerprint.add(instance.cluster.mib_per_ms.inside);
  fingerprint.add(instance.cluster.mib_per_ms.across);
  fingerprint.add(instance.cost.linear_tflops);
  fingerprint.add(instance.cost.attention_tflops);
  fingerprint.add(instance.cost.half_width);
  fingerprint.add(instance.cost.overlap);
  const StrategyOptions& options = instance.options;
  for (const auto* list : {&options.pp, &options.v, &options.tp, &options.cp, &options.zero}) {
    add_set(fingerprint, *list);
  }
  add_set(fingerprint, options.recompute);
  add_set(fingerprint, options.logit_chunks);
  add_set(fingerprint, options.micro_batches);
  fingerprint.add(static_cast<std::int64_t>(instance.lengths.size()));
  for (const Tokens length : instance.lengths) fingerprint.add(length);
  if (std::ranges::any_of(options.stream_chunks, [](std::int64_t d) { return d > 1; })) {
    fingerprint.add(std::string_view("stream_chunks"));
    add_set(fingerprint, options.stream_chunks);
  }
  const auto& exchanges = options.cp_exchange;
  if (std::ranges::find(exchanges, StrategyExchange::ring) != exchanges.end()) {
    fingerprint.add(std::string_view("cp_exchange"));
    add_set(fingerprint, exchanges);
  }
  if (options.shard != std::vector<std::int64_t>{0}) {
    fingerprint.add(std::string_view("shard"));
    add_set(fingerprint, options.shard);
  }
  if (options.pipeline_zero != kMaxStrategyZero) {
    fingerprint.add(std::string_view("pipeline_zero"));
    fingerprint.add(options.pipeline_zero);
  }
  if (!instance.cost.measured.empty()) add_measured(fingerprint, instance.cost.measured);
  if (model.queries_width() != model.hidden) {
    fingerprint.add(std::string_view("query_width"));
    fingerprint.add(model.queries_width());
  }
  if (instance.cost.detail) add_detail(fingerprint, *instance.cost.detail);
  if (const auto& offload = instance.cluster.offload) {
    fingerprint.add(std::string_view("offload"));
    fingerprint.add(offload->out_mib_per_ms);
    fingerprint.add(offload->in_mib_per_ms);
    fingerprint.add(std::int64_t{offload->host_mib ? 1 : 0});
    if (offload->host_mib) fingerprint.add(*offload->host_mib);
  }
  if (std::ranges::none_of(model.blocks, &StrategyBlock::routed)) return fingerprint.text();
  for (const StrategyBlock& block : model.blocks) {
    const StrategyExperts experts = block.routed() ? *block.experts : StrategyExperts{};
    for (const std::int64_t number : {experts.count, experts.top_k, experts.ffn}) {
      fingerprint.add(number);
    }
  }
  add_set(fingerprint, options.ep);
  return fingerprint.text();
}

}  // namespace stowage
