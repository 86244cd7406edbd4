#include "cli/answers/launchers.h"

#include <algorithm>
#include <vector>

namespace stowage {
namespace {

std::string text_of(std::int64_t number) { return std::to_string(number); }

std::int64_t layers_of(const StrategyInstance& instance) {
  std::int64_t layers = 0;
  for (const StrategyBlock& block : instance.model.blocks) layers += block.count;
  return layers;
}

bool has_equal_stages(const StrategyPlan& plan) {
  return std::ranges::all_of(plan.stages, [&](const StrategyStage& stage) {
    return stage.layers == plan.stages.front().layers;
  });
}

// "Et*7|t*9|t*9|t*7L": embedding, layers and loss, a part for each stage.
std::string pipeline_layout(const StrategyPlan& plan) {
  std::string layout = "E";
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    layout += (s == 0 ? "t*" : "|t*") + text_of(plan.stages[s].layers);
  }
  return layout + 'L';
}

// Flags, a line each.
std::vector<std::string> model_flags(const StrategyModel& model, std::int64_t layers) {
  const StrategyBlock& block = model.blocks.front();
  std::vector<std::string> flags = {
      "--num-layers " + text_of(layers) + " --hidden-size " + text_of(model.hidden) +
          " --num-attention-heads " + text_of(model.heads),
      "--ffn-hidden-size " + text_of(block.ffn) + (block.gated ? " --swiglu" : "")};
  const std::int64_t width = std::max<std::int64_t>(1, model.hidden / model.heads);
  if (model.key_value_width() != model.hidden) {
    flags.push_back("--group-query-attention --num-query-groups " +
                    text_of(std::max<std::int64_t>(1, model.key_value_width() / width)));
  }
  if (model.vocabulary > 0) flags.push_back("--vocab-size " + text_of(model.vocabulary));
  if (!model.tied) flags.emplace_back("--untie-embeddings-and-output-weights");
  return flags;
}

}  // namespace

std::string megatron_script(const StrategyInstance& instance, const StrategyPlan& plan,
                            const LaunchedSteps& steps) {
  const StrategyStage& stage = plan.stages.front();
  std::vector<std::string> flags = model_flags(instance.model, layers_of(instance));
  const auto add = [&flags](const std::string& some) { flags.push_back(some); };
  add("--bf16 --use-flash-attn --position-embedding-type rope --disable-bias-linear");
  add("--tensor-model-parallel-size " + text_of(plan.tp) +
      (plan.tp > 1 && instance.model.sequence_parallel ? " --sequence-parallel" : ""));
  add("--pipeline-model-parallel-size " + text_of(plan.pp));
  if (plan.v > 1) {
    add("--num-layers-per-virtual-pipeline-stage " + text_of(stage.layers / plan.v));
  } else if (!has_equal_stages(plan)) {
    add("--pipeline-model-parallel-layout '" + pipeline_layout(plan) + "'");
  }
  add("--context-parallel-size " + text_of(plan.cp) + (plan.cp > 1 ? " --cp-comm-type a2a" : ""));
  if (plan.pp == 1) {
    add("--hybrid-context-parallel --max-seqlen-per-dp-cp-rank " + text_of(steps.tokens_of_rank) +
        " --calculate-per-token-loss");
  }
  if (stage.zero == 1) add("--use-distributed-optimizer");
  if (stage.zero > 1) {
    add(std::string("--use-distributed-optimizer --use-megatron-fsdp "
                    "--data-parallel-sharding-strategy ") +
        (stage.zero == 2 ? "optim_grads" : "optim_grads_params"));
    add("--no-gradient-accumulation-fusion --ckpt-format fsdp_dtensor");
  }
  if (stage.recompute == StrategyRecompute::selective) add("--recompute-granularity selective");
  if (stage.recompute == StrategyRecompute::full) {
    add("--recompute-granularity full --recompute-method uniform --recompute-num-layers 1");
  }
  add("--micro-batch-size 1 --global-batch-size " + text_of(steps.sequences));
  add("--seq-length " + text_of(steps.longest) + " --max-position-embeddings " +
      text_of(steps.longest));
  std::string script =
      "#!/bin/sh\n"
      "# Megatron-LM in this configuration. Run it on each node, from the root of Megatron-LM, "
      "with\n"
      "# NODE_RANK and MASTER_ADDR set, and the flags of data, tokenizer and optimizer as "
      "arguments.\n";
  if (plan.pp > 1) {
    script += "# Groups of ranks that differ with the sequences need a loader that deals them.\n";
  }
  script += "set -eu\nexec torchrun --nnodes " + text_of(instance.cluster.nodes) +
            " --nproc-per-node " + text_of(instance.cluster.devices_per_node) +
            " --node-rank \"${NODE_RANK:-0}\" \\\n"
            "  --master-addr \"${MASTER_ADDR:-localhost}\" --master-port \"${MASTER_PORT:-29500}\" "
            "\\\n  pretrain_gpt.py \\\n";
  for (const std::string& some : flags) script += "  " + some + " \\\n";
  return script + "  \"$@\"\n";
}

std::string torchtitan_toml(const StrategyPlan& plan, const LaunchedSteps& steps) {
  const StrategyStage& stage = plan.stages.front();
  std::string toml =
      "# TorchTitan in this configuration. Name the model's flavor and the data set.\n"
      "# Its context-parallel groups all have the size below: the groups of the plans need a "
      "loader\n"
      "# that deals sequences to ranks.\n";
  if (stage.zero < 2) {
    toml += "# The configuration shards as ZeRO " + text_of(stage.zero) +
            "; TorchTitan's nearest is ZeRO 2: parameters stay gathered.\n";
  }
  if (!has_equal_stages(plan)) {
    toml +=
        "# The stages of the configuration have unequal layers, which need\n"
        "# module_fqns_per_model_part.\n";
  }
  toml += "\n[training]\n";
  toml += "local_batch_size = " +
          text_of(std::max<std::int64_t>(1, steps.sequences / std::max<std::int64_t>(1, plan.dp))) +
          "\n";
  toml += "global_batch_size = " + text_of(steps.sequences) + "\n";
  toml += "seq_len = " + text_of(steps.longest) + "\n";
  toml += "mixed_precision_param = \"bfloat16\"\n";
  toml += "\n[parallelism]\n";
  toml += "data_parallel_replicate_degree = 1\n";
  toml += "data_parallel_shard_degree = " + text_of(plan.dp) + "\n";
  toml += std::string("fsdp_reshard_after_forward = \"") + (stage.zero == 3 ? "always" : "never") +
          "\"\n";
  toml += "tensor_parallel_degree = " + text_of(plan.tp) + "\n";
  toml += "context_parallel_degree = " + text_of(plan.cp) + "\n";
  toml += "pipeline_parallel_degree = " + text_of(plan.pp) + "\n";
  if (plan.pp > 1) {
    toml += std::string("pipeline_parallel_schedule = \"") +
            (plan.v > 1 ? "Interleaved1F1B" : "1F1B") + "\"\n";
    toml += "pipeline_parallel_layers_per_stage = " + text_of(stage.layers / plan.v) + "\n";
    toml += "pipeline_parallel_first_stage_less_layers = 0\n";
    toml += "pipeline_parallel_last_stage_less_layers = 0\n";
    toml += "pipeline_parallel_microbatch_size = 1\n";
  }
  toml += "\n[activation_checkpoint]\n";
  toml += std::string("mode = \"") +
          std::string(kStrategyRecomputes[static_cast<std::size_t>(stage.recompute)]) + "\"\n";
  if (stage.recompute == StrategyRecompute::selective) toml += "selective_ac_option = \"op\"\n";
  return toml;
}

}  // namespace stowage
