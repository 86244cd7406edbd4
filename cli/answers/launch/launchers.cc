// The files that start trainers.
#include "cli/answers/launch/launchers.h"

#include <algorithm>
#include <vector>

#include "cli/answers/launch/planned_launch.h"
#include "instances/numeric/numbers.h"

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

// Returns whether all chunks of all stages have the same number of layers.
bool has_equal_chunks(const StrategyPlan& plan) {
  return has_equal_stages(plan) && plan.stages.front().layers % plan.v == 0;
}

// Returns the layout in Megatron-LM's notation, for instance "Et*7|t*9|t*9|t*7L": embedding, layers
// and loss, with one part per chunk of each stage. The first chunks of all stages come first, then
// the second chunks.
std::string pipeline_layout(const StrategyPlan& plan) {
  std::string layout = "E";
  for (std::int64_t chunk = 0; chunk < plan.v; ++chunk) {
    for (std::int64_t s = 0; s < plan.pp; ++s) {
      if (chunk + s > 0) layout += '|';
      const std::int64_t layers = chunk_layers(plan, s, chunk);
      if (layers > 0) layout += "t*" + text_of(layers);
    }
  }
  return layout + 'L';
}

std::int64_t key_heads(const StrategyModel& model) {
  const std::int64_t width = std::max<std::int64_t>(1, model.queries_width() / model.heads);
  return std::max<std::int64_t>(1, model.key_value_width() / width);
}

// Returns whether every rank of a context-parallel group gets key heads, as an all-to-all requires.
bool deals_key_heads(const StrategyModel& model, const StrategyPlan& plan) {
  return key_heads(model) % (plan.tp * plan.cp) == 0;
}

// Returns the block whose experts the trainer's flags describe, or null if the model has no
// experts.
const StrategyBlock* experts_of(const StrategyModel& model) {
  const auto found = std::ranges::find_if(model.blocks, &StrategyBlock::routed);
  return found == model.blocks.end() ? nullptr : &*found;
}

// Returns the block whose dense feed-forward part all tokens pass.
const StrategyBlock& dense_of(const StrategyModel& model) {
  const auto found = std::ranges::find_if(
      model.blocks, [](const StrategyBlock& block) { return !block.routed(); });
  return found == model.blocks.end() ? model.blocks.front() : *found;
}

// Returns the list of layers with experts in Megatron-LM's notation, for instance "([0]*1+[1]*26)".
std::string layers_with_experts(const StrategyModel& model) {
  std::string list = "(";
  for (const StrategyBlock& block : model.blocks) {
    if (list.size() > 1) list += '+';
    list += (block.routed() ? "[1]*" : "[0]*") + text_of(block.count);
  }
  return list + ')';
}

// Returns the flags of the experts, a few flags per line.
std::vector<std::string> expert_flags(const StrategyModel& model, const StrategyPlan& plan) {
  const StrategyBlock* block = experts_of(model);
  if (block == nullptr) return {};
  const StrategyExperts& experts = *block->experts;
  std::vector<std::string> flags = {"--num-experts " + text_of(experts.count) +
                                    " --moe-router-topk " + text_of(experts.top_k) +
                                    " --moe-ffn-hidden-size " + text_of(experts.ffn)};
  if (block->ffn > 0) {
    flags.push_back("--moe-shared-expert-intermediate-size " + text_of(block->ffn));
  }
  if (!std::ranges::all_of(model.blocks, &StrategyBlock::routed)) {
    flags.push_back("--moe-layer-freq '" + layers_with_experts(model) + "'");
  }
  flags.push_back("--expert-model-parallel-size " + text_of(plan.ep) +
                  " --expert-tensor-parallel-size " + text_of(plan.tp));
  flags.emplace_back("--moe-token-dispatcher-type alltoall --moe-grouped-gemm");
  return flags;
}

// Returns the flags of the model, one line per group of flags.
std::vector<std::string> model_flags(const StrategyModel& model, std::int64_t layers) {
  const StrategyBlock& block = dense_of(model);
  const std::int64_t ffn = block.routed() ? block.experts->ffn : block.dense_ffn();
  std::vector<std::string> flags = {
      "--num-layers " + text_of(layers) + " --hidden-size " + text_of(model.hidden) +
          " --num-attention-heads " + text_of(model.heads),
      "--ffn-hidden-size " + text_of(ffn) + (block.gated ? " --swiglu" : "")};
  if (model.queries_width() != model.hidden)
    flags.push_back("--kv-channels " + text_of(model.queries_width() / model.heads));
  if (model.key_value_width() != model.queries_width()) {
    flags.push_back("--group-query-attention --num-query-groups " + text_of(key_heads(model)));
  }
  if (model.vocabulary > 0) flags.push_back("--vocab-size " + text_of(model.vocabulary));
  if (!model.tied) flags.emplace_back("--untie-embeddings-and-output-weights");
  return flags;
}

std::vector<std::string> megatron_flags(const StrategyInstance& instance, const StrategyPlan& plan,
                                        const LaunchedSteps& steps) {
  const StrategyStage& stage = plan.stages.front();
  std::vector<std::string> flags = model_flags(instance.model, layers_of(instance));
  const auto add = [&flags](const std::string& some) { flags.push_back(some); };
  add("--bf16 --use-flash-attn --position-embedding-type rope --disable-bias-linear");
  // Megatron-LM trains experts on tp ranks only with sequence parallelism.
  const bool sequence_parallel =
      instance.model.sequence_parallel || experts_of(instance.model) != nullptr;
  add("--tensor-model-parallel-size " + text_of(plan.tp) +
      (plan.tp > 1 && sequence_parallel ? " --sequence-parallel" : ""));
  add("--pipeline-model-parallel-size " + text_of(plan.pp));
  if (plan.v > 1 && has_equal_chunks(plan)) {
    add("--num-layers-per-virtual-pipeline-stage " + text_of(stage.layers / plan.v));
  } else if (!has_equal_chunks(plan)) {
    add("--pipeline-model-parallel-layout '" + pipeline_layout(plan) + "'");
  }
  const bool ring = plan.cp_exchange == StrategyExchange::ring;
  std::string exchange;
  if (plan.cp > 1 && ring) exchange = " --cp-comm-type p2p";
  if (plan.cp > 1 && !ring && deals_key_heads(instance.model, plan)) {
    exchange = " --cp-comm-type a2a";
  }
  add("--context-parallel-size " + text_of(plan.cp) + exchange);
  for (const std::string& some : expert_flags(instance.model, plan)) add(some);
  if (stage.zero == 1) add("--use-distributed-optimizer");
  if (stage.zero > 1) {
    add(std::string("--use-distributed-optimizer --use-megatron-fsdp "
                    "--data-parallel-sharding-strategy ") +
        (stage.zero == 2 ? "optim_grads" : "optim_grads_params"));
    add("--no-gradient-accumulation-fusion --ckpt-format fsdp_dtensor");
  }
  if (plan.shard > 0 && stage.zero > 0) {
    add("--num-distributed-optimizer-instances " + text_of(plan.dp * plan.cp / plan.shard));
  }
  if (stage.recompute == StrategyRecompute::selective) {
    add("--recompute-granularity selective --recompute-modules layernorm");
  }
  if (stage.recompute == StrategyRecompute::full) {
    add("--recompute-granularity full --recompute-method uniform --recompute-num-layers 1");
  }
  add("--micro-batch-size 1 --global-batch-size " + text_of(steps.sequences));
  add("--seq-length " + text_of(steps.longest) + " --max-position-embeddings " +
      text_of(steps.longest));
  return flags;
}

// Returns comments on the features of the plans that neither trainer's format can express.
std::string notes_on_groups(const StrategyPlan& plan, const LaunchedSteps& steps) {
  std::string notes =
      "# All groups of ranks that share a sequence have the size below. Those of the plans differ "
      "with\n"
      "# the sequences, which needs a loader that deals them to ranks.\n";
  const Tokens of_rank = (steps.longest + plan.cp - 1) / plan.cp;
  if (of_rank > steps.tokens_of_rank) {
    notes += "# The longest sequence then puts " + text_of(of_rank) +
             " tokens on a rank, the plans at most " + text_of(steps.tokens_of_rank) + ".\n";
  }
  const std::int64_t chunks = plan.stages.front().stream_chunks;
  if (chunks > 1) notes += "# Layers go in " + text_of(chunks) + " parts (StreamBP).\n";
  if (const double share = plan.stages.front().offload; share > 0) {
    notes += "# " + percent_text(share) +
             " of the activations of the first stage are on the host, which other flags ask for.\n";
  }
  return notes;
}

std::string megatron_notes(const StrategyInstance& instance, const StrategyPlan& plan,
                           const LaunchedSteps& steps) {
  const StrategyStage& stage = plan.stages.front();
  std::string notes = notes_on_groups(plan, steps);
  if (plan.cp > 1 && !deals_key_heads(instance.model, plan)) {
    notes += "# The plans count an all-to-all, which needs heads of keys for " +
             text_of(plan.tp * plan.cp) + " ranks; there are " +
             text_of(key_heads(instance.model)) + ", so attention\n# exchanges in a ring.\n";
  }
  if (experts_of(instance.model) != nullptr) {
    notes +=
        "# The plans count on a router that gives every expert as many tokens; how it is balanced "
        "is for\n# other flags to say.\n";
    if (plan.tp > 1 && !instance.model.sequence_parallel) {
      notes += "# Experts with tensor parallelism need --sequence-parallel, unlike planned.\n";
    }
  }
  const bool differ = std::ranges::any_of(instance.model.blocks, [&](const StrategyBlock& other) {
    const StrategyBlock& dense = dense_of(instance.model);
    const StrategyBlock& first = other.routed() ? *experts_of(instance.model) : dense;
    return other.gated != dense.gated || other.dense_ffn() != first.dense_ffn() ||
           (other.routed() && other.experts != first.experts);
  });
  if (differ) {
    notes += "# Feed-forward parts differ beyond what flags say: the first are below.\n";
  }
  if (stage.recompute == StrategyRecompute::selective) {
    notes +=
        "# Megatron-LM recomputes norms and keeps the products of feed-forward parts: a token "
        "needs more\n# than planned. Where memory is short, --recompute-modules layernorm mlp "
        "takes less, and longer.\n";
  }
  return notes;
}

// Returns the modules of each stage, for instance "[[\"tok_embeddings\", \"layers.0\"],
// [\"layers.1\", \"norm\", \"output\"]]".
std::string modules_of_stages(const StrategyPlan& plan) {
  std::string lists;
  std::int64_t layer = 0;
  for (std::int64_t part = 0; part < plan.v * plan.pp; ++part) {
    std::string list = part == 0 ? "\"tok_embeddings\"" : "";
    for (std::int64_t left = chunk_layers(plan, part % plan.pp, part / plan.pp); left > 0; --left) {
      list += (list.empty() ? "\"layers." : ", \"layers.") + text_of(layer++) + '"';
    }
    if (part + 1 == plan.v * plan.pp) {
      list += list.empty() ? "\"norm\", \"output\"" : ", \"norm\", \"output\"";
    }
    lists += (part == 0 ? "[" : ", [") + list + ']';
  }
  return '[' + lists + ']';
}

}  // namespace

std::string megatron_script(const StrategyInstance& instance, const StrategyPlan& plan,
                            const LaunchedSteps& steps) {
  std::string script =
      "#!/bin/sh\n"
      "# Megatron-LM in this configuration. Run it on each node, from the root of Megatron-LM, "
      "with\n"
      "# NODE_RANK and MASTER_ADDR set, and the flags of data, tokenizer, optimizer, normalization "
      "and\n# dropout as arguments.\n" +
      megatron_notes(instance, plan, steps) + "set -eu\n";
  // Megatron-LM refuses to start with another value of the variable.
  if (plan.stages.front().zero > 1) {
    script += "unset CUDA_DEVICE_MAX_CONNECTIONS\n";
  } else if (plan.tp > 1 || plan.cp > 1) {
    script += "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
  }
  if (takes_plans(plan)) script += lines_for_plans(steps.tokens_of_rank);
  script += "exec torchrun --nnodes " + text_of(instance.cluster.nodes) + " --nproc-per-node " +
            text_of(instance.cluster.devices_per_node) +
            " --node-rank \"${NODE_RANK:-0}\" \\\n"
            "  --master-addr \"${MASTER_ADDR:-localhost}\" --master-port \"${MASTER_PORT:-29500}\" "
            "\\\n  " +
            (takes_plans(plan) ? "$script" : "pretrain_gpt.py") + " \\\n";
  for (const std::string& some : megatron_flags(instance, plan, steps)) {
    script += "  " + some + " \\\n";
  }
  return script + "  \"$@\"\n";
}

std::string torchtitan_toml(const StrategyPlan& plan, const LaunchedSteps& steps) {
  const StrategyStage& stage = plan.stages.front();
  const bool sharded = stage.zero > 0;
  std::string toml =
      "# TorchTitan in this configuration, as version 0.2 reads it. Name the model's flavor and "
      "the data set.\n" +
      notes_on_groups(plan, steps);
  if (stage.zero == 1) {
    toml +=
        "# The configuration shards as ZeRO 1; TorchTitan's nearest is ZeRO 2: parameters stay "
        "gathered.\n";
  }
  if (stage.recompute == StrategyRecompute::selective) {
    toml +=
        "# TorchTitan's selective recomputes every second product too: a token needs less than "
        "planned,\n# and longer.\n";
  }
  if (plan.ep > 1 && (plan.ep % plan.cp != 0 || (!sharded && plan.cp % plan.ep != 0))) {
    toml +=
        "# TorchTitan shares experts among ranks that shard states, and all of a context-parallel "
        "group:\n# it refuses this configuration.\n";
  }
  if (sharded && plan.shard % plan.cp != 0) {
    toml +=
        "# TorchTitan shards states among all ranks of a context-parallel group: it refuses this "
        "configuration.\n";
  }
  // A pipeline cuts the local batch into micro-batches; without a pipeline micro-batches are
  // separate batches.
  const std::int64_t local = plan.pp > 1 ? steps.sequences / std::max<std::int64_t>(1, plan.dp) : 1;
  toml += "\n[training]\n";
  toml += "local_batch_size = " + text_of(std::max<std::int64_t>(1, local)) + "\n";
  toml += "global_batch_size = " + text_of(steps.sequences) + "\n";
  toml += "seq_len = " + text_of(steps.longest) + "\n";
  toml += "mixed_precision_param = \"bfloat16\"\n";
  toml += "\n[parallelism]\n";
  // TorchTitan shards among the ranks of its shard degree and of cp.
  std::int64_t shards = sharded ? plan.dp : 1;
  if (sharded && plan.shard > 0) shards = std::max<std::int64_t>(1, plan.shard / plan.cp);
  toml += "data_parallel_replicate_degree = " + text_of(plan.dp / shards) + "\n";
  toml += "data_parallel_shard_degree = " + text_of(shards) + "\n";
  toml += std::string("fsdp_reshard_after_forward = \"") + (stage.zero == 3 ? "always" : "never") +
          "\"\n";
  toml += "tensor_parallel_degree = " + text_of(plan.tp) + "\n";
  toml += "context_parallel_degree = " + text_of(plan.cp) + "\n";
  if (plan.ep > 1) {
    toml += "expert_parallel_degree = " + text_of(plan.ep) + "\n";
    toml += "expert_tensor_parallel_degree = " + text_of(plan.tp) + "\n";
  }
  toml += "pipeline_parallel_degree = " + text_of(plan.pp) + "\n";
  if (plan.pp > 1) {
    toml += std::string("pipeline_parallel_schedule = \"") +
            (plan.v > 1 ? "Interleaved1F1B" : "1F1B") + "\"\n";
    if (has_equal_chunks(plan)) {
      toml += "pipeline_parallel_layers_per_stage = " + text_of(stage.layers / plan.v) + "\n";
      toml += "pipeline_parallel_first_stage_less_layers = 0\n";
      toml += "pipeline_parallel_last_stage_less_layers = 0\n";
    } else {
      toml += "module_fqns_per_model_part = " + modules_of_stages(plan) + "\n";
    }
    toml += "pipeline_parallel_microbatch_size = 1\n";
  }
  toml += "\n[activation_checkpoint]\n";
  toml += std::string("mode = \"") +
          std::string(kStrategyRecomputes[static_cast<std::size_t>(stage.recompute)]) + "\"\n";
  if (stage.recompute == StrategyRecompute::selective) toml += "selective_ac_option = \"op\"\n";
  return toml;
}

}  // namespace stowage
