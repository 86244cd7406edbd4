#include "instances/strategy/generate/generate.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "instances/document/option_check.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"
#include "instances/model/machine.h"
#include "instances/strategy/fit/stacks.h"
#include "instances/strategy/generate/from_shape.h"
#include "instances/strategy/trainers.h"

namespace stowage {
namespace {

constexpr std::int64_t kMaxNodes = 100'000;
constexpr std::int64_t kMaxPerNode = 1024;
constexpr std::int64_t kMaxMib = std::int64_t{1} << 40;
// Memory of a device by version 1 without a machine.
constexpr Mib kMemoryMib = 73'728;
constexpr std::string_view kDefaultMachine = "a100-80";
constexpr std::int64_t kMaxDegree = 16;  // largest degree of pp and cp
constexpr std::int64_t kMaxChunks = 4;
constexpr std::int64_t kMaxStreamChunks = 1024;
constexpr std::int64_t kMaxFormulas = 4;
constexpr double kMostRate = 1e9;
// Of version 3: memory of stacks with fused kernels. Evidence: llm-foundry's micro-batches, which
// were made as large as fit, and torchtitan's readings (instances/data/published).
constexpr double kFusedActivations = 0.85;
constexpr Mib kFusedFixedMib = 1024;
// Of stacks whose kernels are not fused. Evidence: BLOOM's readings, 1.02 of which are predicted.
constexpr std::string_view kUnfusedStacks = "megatron-deepspeed-";
constexpr double kUnfusedActivations = 1.5;
constexpr Mib kUnfusedFixedMib = 4096;
// Of version 4: messages between nodes, and the overlap of the exchange of once a step. Evidence:
// the order of InternEvo's configurations on 8 to 1,024 GPUs (bench/results/0.1.0/published.txt).
constexpr Ms kMessageMs = 0.05;
constexpr double kStepOverlap = 0.2;

// Returns 1, 2, 4, ... up to both limits.
std::vector<std::int64_t> powers_of_two(std::int64_t most, std::int64_t also_most) {
  std::vector<std::int64_t> powers;
  for (std::int64_t power = 1; power <= std::min(most, also_most); power *= 2) {
    powers.push_back(power);
  }
  return powers;
}

// Returns 1, and powers of two that divide the experts.
std::vector<std::int64_t> degrees_of_experts(const TransformerShape& shape, std::int64_t devices) {
  if (shape.experts == 0) return {1};
  std::vector<std::int64_t> degrees = powers_of_two(shape.experts, devices);
  std::erase_if(degrees, [&](std::int64_t degree) { return shape.experts % degree != 0; });
  return degrees;
}

// Sets version 2 of the formulas, with the rates of a machine.
void set_detail(const Machine& machine, StrategyInstance& instance) {
  instance.cluster.memory_mib = machine.device_mib();
  instance.cluster.mib_per_ms = {.inside = machine.inside_mib_per_ms(),
                                 .across = machine.across_mib_per_ms()};
  instance.cost.linear_tflops = machine.bare_product_tflops();
  instance.cost.attention_tflops = machine.bare_attention_tflops();
  instance.cost.half_width = 0;
  instance.cost.detail = StrategyDetail{.memory_mib_per_ms = machine.memory_mib_per_ms()};
}

}  // namespace

Result<StrategyInstance> generate_strategy(const StrategyGenerator& generator,
                                           std::vector<Tokens> lengths) {
  ErrorList errors;
  const TransformerShape* shape = transformer_shape(generator.model);
  if (shape == nullptr) errors.append({unknown_model(generator.model, transformer_names())});
  const Machine* machine = machine_named(generator.machine);
  if (machine == nullptr && !generator.machine.empty()) {
    errors.append({unknown_machine(generator.machine)});
  }
  const std::string_view machine_name =
      machine == nullptr ? kDefaultMachine : std::string_view(machine->name);
  const RateStack* stack = rate_stack(generator.stack, machine_name);
  if (!generator.stack.empty() && stack == nullptr) {
    errors.append({unknown_stack(generator.stack, machine_name)});
  }
  if (!generator.stack.empty() && generator.formulas == 1) {
    errors.add(
        code::kGenerator, "/stack",
        "must not stand beside version 1 of the formulas, which has none of a stack's rates, "
        "is " +
            in_quotes(generator.stack));
  }
  const std::vector<std::string_view> trainers = strategy_trainers();
  if (!generator.trainer.empty() &&
      std::ranges::find(trainers, generator.trainer) == trainers.end()) {
    errors.add(code::kPreset, "/trainer",
               "must be one of megatron, torchtitan, deepspeed, is " +
                   in_quotes(generator.trainer) + did_you_mean(generator.trainer, trainers));
  }
  check_option("/nodes", generator.nodes, 1, kMaxNodes, errors);
  check_option("/formulas", generator.formulas, 1, kMaxFormulas, errors);
  check_option("/devices_per_node", generator.devices_per_node, 1, kMaxPerNode, errors);
  if (errors.empty() && generator.nodes > kMaxDevices / generator.devices_per_node) {
    errors.add(code::kGenerator, "/nodes",
               "must be at most " + std::to_string(kMaxDevices / generator.devices_per_node) +
                   " with " + std::to_string(generator.devices_per_node) + " devices a node, is " +
                   std::to_string(generator.nodes));
  }
  if (generator.memory_mib) check_option("/memory_mib", *generator.memory_mib, 1, kMaxMib, errors);
  const auto check_count = [&](const char* key, std::size_t count) {
    if (count >= 1 && count <= static_cast<std::size_t>(kMaxOptionValues)) return;
    errors.add(code::kGenerator, key,
               "must have 1 to " + std::to_string(kMaxOptionValues) + " values, has " +
                   std::to_string(count));
  };
  check_count("/shard", generator.shard.size());
  check_count("/cp_exchange", generator.cp_exchange.size());
  for (const std::int64_t ranks : generator.shard) {
    check_option("/shard", ranks, 0, kMaxDevices, errors);
  }
  if (const auto& rate = generator.offload_mib_per_ms;
      rate && !(*rate >= kLeastDivisor && *rate <= kMostRate)) {
    errors.add(code::kGenerator, "/offload_mib_per_ms",
               "must be a number from " + shortest(kLeastDivisor) + " to " + shortest(kMostRate) +
                   ", is " + shortest(*rate));
  }
  check_option("/stream_chunks", generator.most_stream_chunks, 1, kMaxStreamChunks, errors);
  if (lengths.empty()) {
    errors.add(code::kGenerator, "/lengths", "must have at least one sequence, is empty");
  }
  if (!errors.empty()) return std::move(errors).take();
  const std::int64_t devices = generator.nodes * generator.devices_per_node;
  StrategyInstance instance{
      .name = generator.name,
      .model = model_of(*shape),
      .cluster = {.nodes = generator.nodes,
                  .devices_per_node = generator.devices_per_node,
                  .memory_mib = kMemoryMib},
      .options = {.pp = powers_of_two(devices, kMaxDegree),
                  .v = powers_of_two(kMaxChunks, kMaxChunks),
                  .tp = powers_of_two(generator.devices_per_node, generator.devices_per_node),
                  .cp = powers_of_two(devices, kMaxDegree),
                  .cp_exchange = generator.cp_exchange,
                  .ep = degrees_of_experts(*shape, devices),
                  .zero = {1, 3},
                  .shard = generator.shard,
                  .logit_chunks = {1, 4, 16},
                  .stream_chunks = powers_of_two(generator.most_stream_chunks, kMaxStreamChunks)},
      .lengths = std::move(lengths)};
  const bool first = generator.formulas == 1;
  if (!first) set_detail(machine == nullptr ? *machine_named(kDefaultMachine) : *machine, instance);
  if (generator.formulas > 2) {
    const bool fused = !generator.stack.starts_with(kUnfusedStacks);
    StrategyDetail& detail = *instance.cost.detail;
    detail.activation_factor = fused ? kFusedActivations : kUnfusedActivations;
    detail.fixed_mib = fused ? kFusedFixedMib : kUnfusedFixedMib;
  }
  if (generator.formulas > 3 || stack != nullptr) {
    instance.cost.detail->message_ms = kMessageMs;
    instance.cost.detail->step_overlap = kStepOverlap;
  }
  if (first && machine != nullptr) {
    instance.cluster.memory_mib = machine->memory_mib();
    instance.cluster.mib_per_ms = {.inside = machine->inside_mib_per_ms(),
                                   .across = machine->across_mib_per_ms()};
    instance.cost.linear_tflops = machine->product_tflops();
    instance.cost.attention_tflops = machine->attention_tflops();
  }
  if (!generator.trainer.empty()) {
    if (generator.trainer == "torchtitan") instance.options.zero = {2, 3};
    const Result<TrainerOptions> narrowed = options_for(instance, generator.trainer);
    if (!narrowed) return narrowed.errors();
    instance.options = narrowed->options;
  } else if (!first) {
    instance.options.pipeline_zero = 1;
  }
  if (stack != nullptr) instance = with_stack(std::move(instance), *stack);
  if (generator.memory_mib) instance.cluster.memory_mib = static_cast<Mib>(*generator.memory_mib);
  if (generator.offload_mib_per_ms) {
    instance.cluster.offload = StrategyOffload{.out_mib_per_ms = *generator.offload_mib_per_ms,
                                               .in_mib_per_ms = *generator.offload_mib_per_ms};
  }
  if (instance.name.empty()) {
    instance.name = generator.model + (machine == nullptr ? "" : '-' + generator.machine) +
                    (stack == nullptr ? "" : '-' + generator.stack) + '-' +
                    std::to_string(devices) + "gpu-" + std::to_string(instance.lengths.size()) +
                    "seq";
  }
  return instance;
}

}  // namespace stowage
