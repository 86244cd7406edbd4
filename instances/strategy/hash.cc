// The fingerprint of a strategy instance.
#include <algorithm>
#include <vector>

#include "instances/fingerprint.h"
#include "instances/strategy/json.h"

namespace stowage {
namespace {

// A list of options is a set.
template <class Value>
void add_set(Fingerprint& fingerprint, std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  fingerprint.add(static_cast<std::int64_t>(values.size()));
  for (const Value value : values) fingerprint.add(static_cast<std::int64_t>(value));
}

}  // namespace

// Names change no plan.
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
