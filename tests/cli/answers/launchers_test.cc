// Tests the launch files: they have every flag and key that a plan needs, and none that a trainer
// refuses.
#include "cli/answers/launch/launchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/cli/process.h"

namespace stowage::answers_launchers_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

StrategyInstance of_two_nodes() {
  return {.model = {.hidden = 4096,
                    .heads = 32,
                    .kv_width = 1024,
                    .vocabulary = 128256,
                    .blocks = {{.count = 32, .ffn = 14336}}},
          .cluster = {.nodes = 2, .devices_per_node = 8, .memory_mib = 73'728}};
}

TEST(Launchers, SayWhatThePlanSays) {
  const StrategyPlan plan{
      .pp = 1,
      .micro_batches = 2,
      .tp = 2,
      .cp = 4,
      .dp = 2,
      .stages = {{.layers = 32, .zero = 3, .recompute = StrategyRecompute::full}}};
  const LaunchedSteps steps{.sequences = 16, .longest = 4096, .tokens_of_rank = 2048};
  const std::string script = megatron_script(of_two_nodes(), plan, steps);
  for (const char* flag :
       {"--nnodes 2 --nproc-per-node 8", "--tensor-model-parallel-size 2 --sequence-parallel",
        "--pipeline-model-parallel-size 1", "--context-parallel-size 4", "--num-query-groups 8",
        "--recompute-granularity full", "--data-parallel-sharding-strategy optim_grads_params",
        "--global-batch-size 16", "--seq-length 4096"}) {
    EXPECT_THAT(script, HasSubstr(flag));
  }
  EXPECT_THAT(script, Not(HasSubstr("virtual")));
  const std::string toml = torchtitan_toml(plan, steps);
  for (const char* line :
       {"data_parallel_shard_degree = 2\n", "tensor_parallel_degree = 2\n",
        "context_parallel_degree = 4\n", "pipeline_parallel_degree = 1\n", "mode = \"full\"\n",
        "fsdp_reshard_after_forward = \"always\"\n", "seq_len = 4096\n",
        // The local batch is one sequence per rank: eight at once would need eight times the
        // memory.
        "local_batch_size = 1\n", "global_batch_size = 16\n"}) {
    EXPECT_THAT(toml, HasSubstr(line));
  }
  EXPECT_THAT(toml, Not(HasSubstr("pipeline_parallel_schedule")));
}

// Megatron-LM counts the copies of the states, TorchTitan the ranks of dp that share one.
TEST(Launchers, SayWhichRanksShareStates) {
  StrategyPlan plan{.tp = 2, .cp = 2, .dp = 4, .shard = 4, .stages = {{.layers = 32, .zero = 1}}};
  const LaunchedSteps steps{.sequences = 16, .longest = 4096, .tokens_of_rank = 4096};
  EXPECT_THAT(megatron_script(of_two_nodes(), plan, steps),
              HasSubstr("--num-distributed-optimizer-instances 2"));
  const std::string toml = torchtitan_toml(plan, steps);
  EXPECT_THAT(toml,
              HasSubstr("data_parallel_replicate_degree = 2\ndata_parallel_shard_degree = 2\n"));
  EXPECT_THAT(toml, Not(HasSubstr("refuses")));
  plan.cp = 4, plan.dp = 2, plan.shard = 2;
  EXPECT_THAT(torchtitan_toml(plan, steps), HasSubstr("refuses this configuration"));
  plan.shard = 0;
  EXPECT_THAT(megatron_script(of_two_nodes(), plan, steps), Not(HasSubstr("optimizer-instances")));
}

TEST(Launchers, SayHowContextIsExchanged) {
  StrategyPlan plan{.tp = 2, .cp = 4, .dp = 2, .stages = {{.layers = 32, .zero = 1}}};
  const LaunchedSteps steps{.sequences = 16, .longest = 4096, .tokens_of_rank = 4096};
  EXPECT_THAT(megatron_script(of_two_nodes(), plan, steps), HasSubstr("--cp-comm-type a2a"));
  plan.cp_exchange = StrategyExchange::ring;
  EXPECT_THAT(megatron_script(of_two_nodes(), plan, steps), HasSubstr("--cp-comm-type p2p"));
}

// The flags are those of Megatron-LM's moe group, and the keys those of TorchTitan 0.2.
TEST(Launchers, SayWhichRanksShareExperts) {
  StrategyInstance instance = of_two_nodes();
  instance.model.blocks = {
      {.count = 1, .ffn = 10'944},
      {.count = 26, .ffn = 2816, .experts = {{.count = 64, .top_k = 6, .ffn = 1408}}}};
  StrategyPlan plan{.tp = 2, .dp = 8, .ep = 4, .stages = {{.layers = 27, .zero = 1}}};
  const LaunchedSteps steps{.sequences = 16, .longest = 4096, .tokens_of_rank = 4096};
  const std::string script = megatron_script(instance, plan, steps);
  for (const char* flag :
       {"--num-layers 27", "--ffn-hidden-size 10944 --swiglu",
        "--num-experts 64 --moe-router-topk 6 --moe-ffn-hidden-size 1408",
        "--moe-shared-expert-intermediate-size 2816", "--moe-layer-freq '([0]*1+[1]*26)'",
        "--expert-model-parallel-size 4 --expert-tensor-parallel-size 2", "--sequence-parallel"}) {
    EXPECT_THAT(script, HasSubstr(flag));
  }
  const std::string toml = torchtitan_toml(plan, steps);
  EXPECT_THAT(toml, HasSubstr("expert_parallel_degree = 4\nexpert_tensor_parallel_degree = 2\n"));
  EXPECT_THAT(toml, Not(HasSubstr("refuses")));
  plan.cp = 8;
  plan.dp = 1;
  EXPECT_THAT(torchtitan_toml(plan, steps), HasSubstr("refuses this configuration"));
  // All layers are alike, and no layer has a part besides the experts.
  instance.model.blocks = {{.count = 16, .experts = {{64, 8, 1024}}}};
  const std::string alike = megatron_script(instance, plan, steps);
  EXPECT_THAT(alike, HasSubstr("--ffn-hidden-size 1024"));
  EXPECT_THAT(alike, Not(HasSubstr("--moe-layer-freq")));
  EXPECT_THAT(alike, Not(HasSubstr("--moe-shared")));
  for (const char* word : {"expert", "moe"}) {
    EXPECT_THAT(megatron_script(of_two_nodes(), {.stages = {{.layers = 32}}}, steps),
                Not(HasSubstr(word)));
  }
}

// Comments state the features that flags cannot express: parts that differ, and sequence
// parallelism that the plan does not have.
TEST(Launchers, SayWhatFlagsCannot) {
  StrategyInstance instance = of_two_nodes();
  StrategyPlan plan{.tp = 2, .dp = 8, .stages = {{.layers = 32, .zero = 1}}};
  const LaunchedSteps steps{.sequences = 16, .longest = 4096, .tokens_of_rank = 4096};
  instance.model.sequence_parallel = false;
  const auto script = [&] { return megatron_script(instance, plan, steps); };
  const char* const sequence_parallel = "need --sequence-parallel, unlike planned";
  const char* const parts = "Feed-forward parts differ";
  EXPECT_THAT(script(), Not(HasSubstr("--sequence-parallel")));
  EXPECT_THAT(script(), Not(HasSubstr(parts)));
  instance.model.blocks = {{.count = 1, .ffn = 512}, {.count = 31, .experts = {{8, 2, 256}}}};
  EXPECT_THAT(script(), HasSubstr(sequence_parallel));
  EXPECT_THAT(script(), Not(HasSubstr(parts)));
  instance.model.sequence_parallel = true;
  EXPECT_THAT(script(), Not(HasSubstr(sequence_parallel)));
  instance.model.blocks[1].gated = false;
  EXPECT_THAT(script(), HasSubstr(parts));
  instance.model.blocks[1] = {.count = 31, .ffn = 500};
  EXPECT_THAT(script(), HasSubstr(parts));
  instance.model.blocks[1].experts = {1, 1, 12};  // 500 + 12 = 512 wide
  EXPECT_THAT(script(), Not(HasSubstr(parts)));
}

std::string without_comments(const std::string& script) {
  std::istringstream in(script);
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('#')) kept += line + '\n';
  }
  return kept;
}

// The assertions of Megatron-LM's arguments.py and of its attention.
TEST(Launchers, AskMegatronForNothingThatItRefuses) {
  StrategyPlan plan{.tp = 2, .cp = 4, .dp = 2, .stages = {{.layers = 32, .zero = 3}}};
  const LaunchedSteps steps{.sequences = 16, .longest = 8192, .tokens_of_rank = 1024};
  const std::string sharded = megatron_script(of_two_nodes(), plan, steps);
  EXPECT_THAT(sharded, HasSubstr("unset CUDA_DEVICE_MAX_CONNECTIONS\n"));
  EXPECT_THAT(sharded, Not(HasSubstr("STOWAGE_PLANS")));  // plans do not work with FSDP
  EXPECT_THAT(sharded, HasSubstr("--cp-comm-type a2a"));  // 8 heads of keys, 8 ranks
  EXPECT_THAT(sharded, HasSubstr("puts 2048 tokens on a rank, the plans at most 1024"));

  plan.cp = 8;
  plan.dp = 1;
  plan.stages.front() = {.layers = 32, .zero = 1, .recompute = StrategyRecompute::selective};
  const std::string script = megatron_script(of_two_nodes(), plan, steps);
  EXPECT_THAT(script, HasSubstr("export CUDA_DEVICE_MAX_CONNECTIONS=1\n"));
  EXPECT_THAT(script, Not(HasSubstr("--cp-comm-type")));
  EXPECT_THAT(script, HasSubstr("heads of keys for 16 ranks; there are 8"));
  // Without a list of modules Megatron-LM recomputes attention.
  EXPECT_THAT(without_comments(script), HasSubstr("selective --recompute-modules layernorm \\"));

  plan.tp = plan.cp = 1;
  EXPECT_THAT(megatron_script(of_two_nodes(), plan, steps),
              Not(HasSubstr("STOWAGE_PLANS")));  // a single rank has no rows to share
}

// Runs the script in a shell with a torchrun that prints its arguments, one per line.
std::string shown_by_shell(const TempDir& dir, const std::string& script, const char* plans) {
  std::ofstream(dir.path() / "torchrun")
      << "#!/bin/sh\nprintf '%s\\n' \"$STOWAGE_CLUSTER\" \"$@\"\n";
  std::filesystem::permissions(dir.path() / "torchrun", std::filesystem::perms::owner_all);
  std::ofstream(dir.path() / "launch.sh") << script;
  const std::string command = "cd / && PATH=" + dir.path().string() +
                              ":$PATH STOWAGE_PLANS=" + plans + " sh " +
                              (dir.path() / "launch.sh").string() + " --lr '1 2'";
  std::string out;
  FILE* const pipe = ::popen(command.c_str(), "r");
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return out;
}

TEST(Launchers, HandPlansToMegatron) {
  const StrategyPlan plan{.cp = 4, .dp = 2, .stages = {{.layers = 32, .zero = 1}}};
  const LaunchedSteps steps{.sequences = 16, .longest = 8192, .tokens_of_rank = 1536};
  const std::string script = megatron_script(of_two_nodes(), plan, steps);
  const TempDir dir;
  const std::string alone = shown_by_shell(dir, script, "0");
  EXPECT_THAT(alone, HasSubstr("\npretrain_gpt.py\n--num-layers\n32\n"));
  EXPECT_THAT(alone, Not(HasSubstr("stowage")));
  EXPECT_THAT(alone, Not(HasSubstr("dynamic")));
  EXPECT_TRUE(alone.ends_with("--max-position-embeddings\n8192\n--lr\n1 2\n")) << alone;
  const std::string planned = shown_by_shell(dir, script, "1");
  EXPECT_TRUE(planned.starts_with((dir.path() / "step-000.json").string() + '\n')) << planned;
  EXPECT_THAT(planned, HasSubstr("\n-m\nstowage.megatron\npretrain_gpt.py\n--num-layers\n"));
  EXPECT_TRUE(
      planned.ends_with("--dynamic-context-parallel\n--sequence-packing-scheduler\n"
                        "default_dynamic_cp\n--max-seqlen-per-dp-cp-rank\n1536\n"
                        "--calculate-per-token-loss\n--dataloader-type\nsingle\n"
                        "--lr\n1 2\n"))
      << planned;
}

TEST(Launchers, HavePipelines) {
  StrategyPlan plan{.pp = 2, .v = 2, .micro_batches = 4, .dp = 8};
  plan.stages.assign(2, {.layers = 16, .zero = 1});
  const LaunchedSteps steps{.sequences = 32, .longest = 4096, .tokens_of_rank = 4096};
  const std::string interleaved = megatron_script(of_two_nodes(), plan, steps);
  EXPECT_THAT(interleaved, HasSubstr("--num-layers-per-virtual-pipeline-stage 8"));
  EXPECT_THAT(interleaved, HasSubstr("script=\"-m stowage.megatron pretrain_gpt.py\"\n"));
  EXPECT_THAT(torchtitan_toml(plan, steps), HasSubstr("\"Interleaved1F1B\"\n"));
  EXPECT_THAT(torchtitan_toml(plan, steps), HasSubstr("layers_per_stage = 8\n"));
  EXPECT_THAT(torchtitan_toml(plan, steps), HasSubstr("shards as ZeRO 1"));
  // Embedding and head count as layers of a chunk.
  plan.stages[0].layers = plan.stages[1].layers = 3;
  EXPECT_THAT(megatron_script(of_two_nodes(), plan, steps),
              HasSubstr("--pipeline-model-parallel-layout 'Et*1|t*2|t*2|t*1L'"));
  EXPECT_THAT(torchtitan_toml(plan, steps),
              HasSubstr("module_fqns_per_model_part = [[\"tok_embeddings\", \"layers.0\"], "
                        "[\"layers.1\", \"layers.2\"], [\"layers.3\", \"layers.4\"], "
                        "[\"layers.5\", \"norm\", \"output\"]]\n"));
  // Stages of two and four layers, in chunks of one and two.
  plan.stages[0].layers = 2;
  plan.stages[1].layers = 4;
  EXPECT_THAT(megatron_script(of_two_nodes(), plan, steps),
              HasSubstr("--pipeline-model-parallel-layout 'Et*1|t*2|t*1|t*2L'"));
  plan.v = 1;
  plan.stages[0].layers = 17;
  plan.stages[1].layers = 15;
  EXPECT_THAT(megatron_script(of_two_nodes(), plan, steps),
              HasSubstr("--pipeline-model-parallel-layout 'Et*17|t*15L'"));
  const std::string unequal = torchtitan_toml(plan, steps);
  EXPECT_THAT(unequal,
              HasSubstr("module_fqns_per_model_part = [[\"tok_embeddings\", \"layers.0\""));
  EXPECT_THAT(unequal, HasSubstr("\"layers.16\"], [\"layers.17\""));
  EXPECT_THAT(unequal, HasSubstr("\"layers.31\", \"norm\", \"output\"]]\n"));
  EXPECT_THAT(unequal, Not(HasSubstr("pipeline_parallel_layers_per_stage")));
  EXPECT_THAT(unequal, HasSubstr("local_batch_size = 4\n"));
  plan.stages[0].zero = plan.stages[1].zero = 0;
  EXPECT_THAT(torchtitan_toml(plan, steps), HasSubstr("data_parallel_replicate_degree = 8\n"));
  EXPECT_THAT(torchtitan_toml(plan, steps), HasSubstr("data_parallel_shard_degree = 1\n"));
}

}  // namespace
}  // namespace stowage::answers_launchers_test
