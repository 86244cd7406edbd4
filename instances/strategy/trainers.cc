#include "instances/strategy/trainers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "instances/json/errors.h"

namespace stowage {
namespace {

struct TrainerRule {
  std::string_view trainer;
  std::string_view sentence;
};

// Sources, read in 2026. DeepSpeed: runtime/pipe/engine.py asserts that a pipeline has ZeRO below
// 2, and runtime/engine.py that experts have no ZeRO 3; its pipeline schedule has one chunk for
// each stage. Megatron-LM: core/transformer/transformer_config.py requires tp to divide the query
// groups. Its distributed optimizer is ZeRO 1, the only level that it runs with a pipeline.
// torchtitan: models/llama3/infra/parallelize.py shards parameters, gradients and states together
// (fully_shard). It does not shard parameters again after the forward pass of a pipeline, and
// splits the heads of keys and values among tp ranks.
constexpr TrainerRule kPipelineOfDeepSpeed = {"deepspeed",
                                              "DeepSpeed refuses ZeRO 2 and 3 with pipelines"};
constexpr TrainerRule kExpertsOfDeepSpeed = {"deepspeed", "DeepSpeed refuses ZeRO 3 with experts"};
constexpr TrainerRule kChunksOfDeepSpeed = {"deepspeed",
                                            "DeepSpeed's pipelines are not interleaved: v is 1"};
constexpr TrainerRule kPipelineOfMegatron = {
    "megatron", "Megatron-LM runs pipelines with its distributed optimizer, which is ZeRO 1"};
constexpr TrainerRule kHeadsOfMegatron = {
    "megatron", "Megatron-LM refuses a tp that does not divide the heads of keys and values"};
constexpr TrainerRule kPipelineOfTorchtitan = {
    "torchtitan", "torchtitan keeps parameters gathered in pipelines, which is ZeRO 2"};
constexpr TrainerRule kShardsOfTorchtitan = {
    "torchtitan", "torchtitan shards gradients and states with parameters: ZeRO is 2 or 3"};
constexpr TrainerRule kHeadsOfTorchtitan = {
    "torchtitan", "torchtitan refuses a tp that does not divide the heads of keys and values"};

class Narrowing {
 public:
  Narrowing(const StrategyInstance& instance, std::string_view trainer)
      : instance_(instance),
        trainer_(trainer),
        narrowed_{.options = instance.options, .rules = {}} {}

  Result<TrainerOptions> run() {
    StrategyOptions& options = narrowed_.options;
    const std::int64_t pairs = instance_.model.key_value_heads();
    for (const TrainerRule& rule : {kHeadsOfMegatron, kHeadsOfTorchtitan}) {
      keep(rule, "tp", options.tp, [&](std::int64_t tp) { return pairs == 0 || pairs % tp == 0; });
    }
    keep(kChunksOfDeepSpeed, "v", options.v, [](std::int64_t v) { return v == 1; });
    if (std::ranges::any_of(instance_.model.blocks, &StrategyBlock::routed)) {
      keep(kExpertsOfDeepSpeed, "zero", options.zero, [](std::int64_t zero) { return zero < 3; });
    }
    keep(kShardsOfTorchtitan, "zero", options.zero, [](std::int64_t zero) { return zero >= 2; });
    lower(kPipelineOfDeepSpeed, 1);
    lower(kPipelineOfMegatron, 1);
    lower(kPipelineOfTorchtitan, 2);
    if (!errors_.empty()) return errors_;
    return std::move(narrowed_);
  }

 private:
  template <class Taken>
  void keep(const TrainerRule& rule, const char* key, std::vector<std::int64_t>& values,
            Taken taken) {
    if (rule.trainer != trainer_) return;
    std::string list;
    for (const std::int64_t value : values) {
      list += (list.empty() ? "" : ", ") + std::to_string(value);
    }
    const std::size_t removed = std::erase_if(values, [&](std::int64_t v) { return !taken(v); });
    if (removed > 0) narrowed_.rules.emplace_back(rule.sentence);
    if (!values.empty()) return;
    errors_.push_back({code::kStrategyTrainer, std::string("/options/") + key,
                       "must have a value that the trainer takes, has " + list + ": " +
                           std::string(rule.sentence)});
  }

  void lower(const TrainerRule& rule, std::int64_t most) {
    StrategyOptions& options = narrowed_.options;
    if (rule.trainer != trainer_ || options.pipeline_zero <= most) return;
    options.pipeline_zero = most;
    const bool has_pipelines =
        std::ranges::any_of(options.pp, [](std::int64_t pp) { return pp > 1; });
    const bool has_more =
        std::ranges::any_of(options.zero, [&](std::int64_t zero) { return zero > most; });
    if (has_pipelines && has_more) narrowed_.rules.emplace_back(rule.sentence);
  }

  const StrategyInstance& instance_;
  std::string_view trainer_;
  TrainerOptions narrowed_;
  std::vector<InputError> errors_;
};

}  // namespace

std::vector<std::string_view> strategy_trainers() {
  return {"megatron", "torchtitan", "deepspeed"};
}

Result<TrainerOptions> options_for(const StrategyInstance& instance, std::string_view trainer) {
  return Narrowing(instance, trainer).run();
}

}  // namespace stowage
