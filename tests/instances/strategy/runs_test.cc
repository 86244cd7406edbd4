// Logged runs: tables, logs in the trainers' formats, and rates fitted to them.
#include "instances/strategy/fit/runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "instances/json/errors.h"
#include "instances/strategy/fit/run_logs.h"
#include "instances/strategy/generate/generate.h"

namespace stowage::strategy_runs_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Lines that Megatron-LM prints: arguments (training/arguments.py), a memory report and steps
// (training/training.py).
constexpr std::string_view kMegatron = R"(
------------------------ arguments ------------------------
  context_parallel_size ........................... 1
  ffn_hidden_size ................................. 14336
  global_batch_size ............................... 128
  group_query_attention ........................... True
  hidden_size ..................................... 4096
  kv_channels ..................................... 128
  micro_batch_size ................................ 2
  num_attention_heads ............................. 32
  num_experts ..................................... None
  num_layers ...................................... 32
  num_query_groups ................................ 8
  padded_vocab_size ............................... 128256
  pipeline_model_parallel_size .................... 2
  recompute_granularity ........................... full
  seq_length ...................................... 8192
  sequence_parallel ............................... True
  swiglu .......................................... True
  tensor_model_parallel_size ...................... 4
  untie_embeddings_and_output_weights ............. True
  use_distributed_optimizer ....................... True
  virtual_pipeline_model_parallel_size ............ None
  world_size ...................................... 32
-------------------- end of arguments ---------------------
 [2026-01-16 07:32:24] iteration        1/     100 | consumed samples:          128 | elapsed time per iteration (ms): 31800.0 | throughput per GPU (TFLOP/s/GPU): 190.0 | learning rate: 4.134000E-07 | global batch size:   128 | lm loss: 1.344240E+01 | loss scale: 1.0 | grad norm: 2.870 |
[Rank 0] (after 2 iterations) memory (MB) | allocated: 20000.5 | max allocated: 40000.5 | reserved: 50000.0 | max reserved: 52000.0
 [2026-01-16 07:32:39] iteration        2/     100 | consumed samples:          256 | elapsed time per iteration (ms): 12040.5 | throughput per GPU (TFLOP/s/GPU): 495.0 | global batch size:   128 | lm loss: 1.2E+01 |
 [2026-01-16 07:32:51] iteration        3/     100 | consumed samples:          384 | elapsed time per iteration (ms): 12000.0 | throughput per GPU (TFLOP/s/GPU): 497.0 | global batch size:   128 | lm loss: 1.1E+01 |
 [2026-01-16 07:33:03] iteration        4/     100 | consumed samples:          512 | elapsed time per iteration (ms): 12020.0 | throughput per GPU (TFLOP/s/GPU): 496.0 | global batch size:   128 | lm loss: 1.1E+01 |
)";

// Lines that torchtitan logs (components/metrics.py, distributed/parallel_dims.py, train.py), with
// the colours of a terminal.
constexpr std::string_view kTorchtitan =
    "[rank0]:2025-06-14 10:00:00 - root - INFO - Building 2-D device mesh with ['dp_shard', 'tp'], "
    "[4, 2]\n"
    "[rank0]: - root - INFO - Applied selective activation checkpointing to the model\n"
    "[rank0]: - root - INFO - Trainer is initialized with local batch size 2, global batch size "
    "16, "
    "gradient accumulation steps 2, sequence length 8192, total steps 100 (warmup 200)\n"
    "[rank0]: - root - INFO - \x1B[31mstep:  1  \x1B[32mloss: 12.2711  \x1B[38;5;180mgrad_norm:  "
    "1.7  \x1B[36mmemory: 30.25GiB(31.84%)  \x1B[34mtps: 1,024  \x1B[36mtflops: 59.0  "
    "\x1B[35mmfu: 6.0%\x1B[39m\n"
    "[rank0]: - root - INFO - step: 10  loss: 10.1  memory: 47.50GiB(50.0%)  tps: 8,192  tflops: "
    "470.10  mfu: 47.5%\n"
    "[rank0]: - root - INFO - validate step: 10  loss: 10.1  memory: 60.0GiB(50.0%)  tps: 20,000\n"
    "[rank0]: - root - INFO - step: 20  loss: 9.1  memory: 47.50GiB(50.0%)  tps: 4,096  tflops: "
    "235.10  mfu: 23.5%\n";

StrategyInstance like() {
  return *generate_strategy({.model = "llama3-8b", .nodes = 4, .machine = "h100"},
                            std::vector<Tokens>(128, 8192));
}

std::map<std::string, std::string, std::less<>> only_run(std::string_view text) {
  const Result<std::vector<StatedRun>> runs = read_run_log(text, "train.log");
  EXPECT_TRUE(runs && runs->size() == 1) << (runs ? "" : runs.errors().front().message);
  return runs && !runs->empty() ? runs->front().values
                                : std::map<std::string, std::string, std::less<>>{};
}

Result<std::vector<LoggedRun>> runs_of(const std::string& text, std::string_view stated = "") {
  return read_runs({.text = text,
                    .name = "runs.csv",
                    .read = [](const std::string& name) -> Result<std::string> {
                      if (name == "a.log") return std::string(kMegatron);
                      return InputError{code::kUnreadable, name, "must be there, is missing"};
                    }},
                   stated, like());
}

std::vector<std::string> errors_of(const Result<std::vector<LoggedRun>>& runs) {
  std::vector<std::string> found;
  if (runs) return found;
  for (const InputError& error : runs.errors()) {
    found.push_back(error.code + ' ' + error.pointer + ' ' + error.message);
  }
  return found;
}

TEST(RunLog, OfMegatronHasItsArgumentsAndSteps) {
  EXPECT_EQ(kind_of_run_log(kMegatron), RunLogKind::megatron);
  EXPECT_THAT(
      only_run(kMegatron),
      ElementsAre(Pair("cp", "1"), Pair("devices", "32"), Pair("ffn", "14336"), Pair("gated", "1"),
                  Pair("heads", "32"), Pair("hidden", "4096"), Pair("kv_width", "1024"),
                  Pair("layers", "32"), Pair("micro_batch_size", "2"), Pair("peak_mib", "52000"),
                  Pair("pp", "2"), Pair("query_width", "4096"), Pair("recompute", "full"),
                  Pair("sequence_parallel", "1"), Pair("sequences", "128"),
                  Pair("step_ms", "12020"), Pair("tied", "0"), Pair("tokens", "8192"),
                  Pair("tp", "4"), Pair("vocabulary", "128256"), Pair("zero", "1")));
}

// 2 accumulated batches of 2 sequences on 2 ranks: 16,384 tokens a device at 4,096 and 8,192 a
// second.
TEST(RunLog, OfTorchtitanHasItsMeshBatchAndTokensASecond) {
  EXPECT_EQ(kind_of_run_log(kTorchtitan), RunLogKind::torchtitan);
  EXPECT_THAT(
      only_run(kTorchtitan),
      ElementsAre(Pair("cp", "1"), Pair("devices", "8"), Pair("ep", "1"),
                  Pair("micro_batch_size", "2"), Pair("peak_mib", "48640"), Pair("pp", "1"),
                  Pair("recompute", "selective"), Pair("sequences", "16"), Pair("step_ms", "3000"),
                  Pair("tokens", "8192"), Pair("tp", "2"), Pair("zero", "3")));
  const std::string paired =
      "INFO - Building device mesh with parallelism: pp=2, dp_replicate=1, dp_shard=4, cp=2, tp=1, "
      "ep=1\nINFO - Training starts at step 1, with local batch size 8, global batch size 32, "
      "sequence length 4096, total steps 9 (warmup 2)\nINFO - step: 1  memory: 1.00GiB(1%)  tps: "
      "100\nINFO - step: 2  memory: 1.00GiB(1%)  tps: 8,192\n";
  const auto run = only_run(paired);
  EXPECT_EQ(run.at("pp"), "2");
  EXPECT_EQ(run.at("devices"), "16");
  EXPECT_EQ(run.at("zero"), "2");  // a pipeline keeps parameters gathered
  EXPECT_EQ(run.at("step_ms"), "1000");
  EXPECT_FALSE(run.contains("micro_batch_size"));  // the pipeline splits the local batch
  EXPECT_FALSE(run.contains("shard"));
}

// torchtitan shards states among dp_shard cp ranks, and Megatron-LM states the number of copies.
TEST(RunLog, HasTheRanksThatShareStates) {
  EXPECT_EQ(only_run("INFO - Building device mesh with parallelism: pp=1, dp_replicate=2, "
                     "dp_shard=4, cp=2, tp=1, ep=1\nINFO - Training starts at step 1, with local "
                     "batch size 8, global batch size 32, sequence length 4096, total steps 9 "
                     "(warmup 2)\nINFO - step: 1  memory: 1.00GiB(1%)  tps: 100\n")
                .at("shard"),
            "8");
  std::string megatron(kMegatron);
  const std::string_view line = "  padded_vocab_size";
  megatron.insert(megatron.find(line), "  num_distributed_optimizer_instances ............. 2\n");
  EXPECT_EQ(only_run(megatron).at("shard"), "2");  // 32 devices, tp 4, pp 2
  EXPECT_FALSE(only_run(kMegatron).contains("shard"));
  std::string ring(kMegatron);
  const std::string_view cp = "context_parallel_size ........................... ";
  ring[ring.find(cp) + cp.size()] = '2';
  ring.insert(ring.find(line), "  cp_comm_type .................................... ['p2p']\n");
  EXPECT_EQ(only_run(ring).at("cp_exchange"), "ring");
}

TEST(RunLog, OfWeightsAndBiasesIsAChartOrTheTableOfRuns) {
  const auto chart = read_run_log(
      "\"Step\",\"a, b - iteration-time\",\"a, b - iteration-time__MIN\",\"c - iteration-time\"\n"
      "1,9.0,9.0,\n2,2.0,2.0,4\n3,3.0,3.0,5\n",
      "chart.csv");
  ASSERT_TRUE(chart);
  ASSERT_EQ(chart->size(), 2U);
  EXPECT_EQ(chart->front().name, "a, b");
  EXPECT_EQ(chart->front().values.at("step_ms"), "2500");
  EXPECT_EQ(chart->back().values.at("step_ms"), "5000");
  const auto table = read_run_log(
      "\"Name\",\"iteration-time\",\"tensor_model_parallel_size\",\"use_distributed_optimizer\"\n"
      "\"one\",\"1.5\",\"8\",\"true\"\n\"two\",\"2.5\",\"4\",\"false\"\n",
      "runs.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->front().values.at("tp"), "8");
  EXPECT_EQ(table->front().values.at("zero"), "1");
  EXPECT_EQ(table->back().values.at("step_ms"), "2500");
  EXPECT_EQ(table->back().values.at("zero"), "0");
}

TEST(RunLog, WithoutStepsIsRefused) {
  const auto empty = read_run_log("\"Step\",\"a - iteration-time\"\n1,\n", "chart.csv");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.errors().front().code, "E363");
  const auto no_batch = read_run_log("step: 1 memory: 1GiB tps: 5\nstep: 2 tps: 6\n", "a.log");
  ASSERT_FALSE(no_batch);
  EXPECT_THAT(no_batch.errors().front().message, HasSubstr("with local batch size"));
  EXPECT_FALSE(read_run_log("nothing of the kind", "a.log"));
}

TEST(Runs, OfALogHaveItsModelAndConfiguration) {
  const auto runs = runs_of(std::string(kMegatron));
  ASSERT_TRUE(runs) << errors_of(runs).front();
  const StrategySample& sample = runs->front().sample;
  EXPECT_EQ(sample.instance.model.key_value_width(), 1024);
  EXPECT_EQ(sample.instance.cluster.devices(), 32);
  EXPECT_EQ(sample.instance.lengths, std::vector<Tokens>(128, 8192));
  EXPECT_EQ(sample.configuration.its.micro_batches, 16);  // 128 / (dp 4 x 2)
  EXPECT_EQ(sample.configuration.choice.zero, 1);
  EXPECT_EQ(sample.step_ms, 12020);
  EXPECT_EQ(runs->front().peak_mib, 52000);
}

TEST(Runs, OfATableOverrideTheirLogs) {
  const auto runs = runs_of("log,tp,micro_batch,x-note\na.log,8,1,mine\na.log,,,\n");
  ASSERT_TRUE(runs) << errors_of(runs).front();
  EXPECT_EQ((*runs)[0].sample.configuration.layout.tp, 8);
  EXPECT_EQ((*runs)[1].sample.configuration.layout.tp, 4);
  EXPECT_EQ((*runs)[0].place, "runs.csv:2");
}

TEST(Runs, ErrorsOfAllLinesAreListedInOnePass) {
  EXPECT_THAT(errors_of(runs_of("step,tp,tp\n1,2,3\n")),
              ElementsAre(HasSubstr("E411 runs.csv:1 must name known columns, is \"step\""),
                          HasSubstr("E411 runs.csv:1 must name each column once")));
  EXPECT_THAT(
      errors_of(runs_of("step_ms,tp,micro_batch_size,model\n"
                        "fast,4,1,\n100,3,1,\n100,4\n100,4,,llama3-9b\n",
                        "zero=1")),
      ElementsAre(HasSubstr("E412 runs.csv:4 must have a field for each of 4 columns, has 2")));
  EXPECT_THAT(errors_of(runs_of("step_ms,tp,micro_batch_size,model\nfast,4,1,\n100,3,1,\n,4,1,\n"
                                "100,4,,\n100,4,1,llama3-9b\n")),
              ElementsAre(HasSubstr("runs.csv:2 step_ms must be a number"),
                          HasSubstr("runs.csv:3 pp must divide the 32 devices"),
                          HasSubstr("runs.csv:4 must have step_ms"),
                          HasSubstr("runs.csv:5 must have micro_batches or micro_batch_size"),
                          HasSubstr("did you mean \"llama3-8b\"")));
  EXPECT_THAT(errors_of(runs_of("log\nb.log\n")), ElementsAre(HasSubstr("E110 b.log")));
  EXPECT_THAT(errors_of(runs_of("step_ms,micro_batch_size\n1,1\n", "tq=8")),
              ElementsAre(HasSubstr("did you mean \"tp\"")));
}

// Runs whose times are those of products at 0.7 of the assumed rate.
TEST(FitStrategy, WritesWhatTheRunsDetermineAndKeepsTheRest) {
  StrategyInstance real = like();
  real.cost.linear_tflops *= 0.7;
  std::ostringstream table;
  table << "step_ms,pp,tp,zero,recompute,micro_batch_size,sequences,tokens\n";
  for (const std::int64_t tokens : {2048, 8192, 16384}) {
    for (const std::int64_t tp : {1, 4}) {
      StrategyInstance own = real;
      own.lengths.assign(128, tokens);
      const Ms step = price_configuration(own, {.its = {.micro_batches = 128 * tp / 32},
                                                .layout = {.tp = tp, .dp = 32 / tp},
                                                .choice = {.zero = 1}})
                          .step_ms;
      table << step << ",1," << tp << ",1,none,1,128," << tokens << '\n';
    }
  }
  const auto runs = runs_of(table.str());
  ASSERT_TRUE(runs) << errors_of(runs).front();
  const StrategyFit fit = fit_strategy(*runs, like());
  EXPECT_NEAR(fit.instance.cost.linear_tflops / like().cost.linear_tflops, 0.7, 0.03);
  ASSERT_TRUE(fit.instance.cost.rates);
  const StrategyRates& label = *fit.instance.cost.rates;
  EXPECT_EQ(label.source, StrategyRateSource::fitted);
  EXPECT_EQ(label.steps, 6);
  ASSERT_TRUE(label.error);
  EXPECT_LE(label.error->median, 0.02);
  // No run has experts or a stored square.
  for (const char* name : {"square_bytes", "expert_slowdown"}) {
    EXPECT_THAT(label.kept, ::testing::Contains(name));
  }
  StrategyInstance fitted = fit.instance;
  StrategyInstance began = like();
  for (const std::string& name : label.kept) {
    EXPECT_EQ(*rate_named(fitted, name), *rate_named(began, name)) << name;
  }
  EXPECT_EQ(fit.predicted_ms.size(), runs->size());
  EXPECT_FALSE(fit.activation_factor);
}

TEST(FitStrategy, OneRunDeterminesOneRateAtMost) {
  const auto runs = runs_of("step_ms,tp,micro_batch_size\n9000,4,1\n");
  ASSERT_TRUE(runs);
  const StrategyFit fit = fit_strategy(*runs, like());
  EXPECT_GE(fit.instance.cost.rates->kept.size(), rate_names().size() - 1);
  EXPECT_FALSE(fit.instance.cost.rates->error);
  EXPECT_NEAR(fit.predicted_ms.front(), 9000, 450);
}

TEST(FitStrategy, PeaksGiveTheActivationFactor) {
  StrategyInstance real = like();
  real.cost.detail->activation_factor = 1.6;
  real.lengths.assign(128, 8192);
  const StrategyConfiguration configuration{
      .its = {.micro_batches = 16}, .layout = {.tp = 4, .dp = 8}, .choice = {.zero = 1}};
  const StrategyPlan plan = price_configuration(real, configuration);
  std::ostringstream table;
  table << "step_ms,peak_mib,tp,zero,micro_batch_size\n"
        << plan.step_ms << ',' << plan.stages.front().memory_mib << ",4,1,1\n";
  const auto runs = runs_of(table.str());
  ASSERT_TRUE(runs) << errors_of(runs).front();
  const StrategyFit fit = fit_strategy(*runs, like());
  ASSERT_TRUE(fit.activation_factor);
  EXPECT_NEAR(*fit.activation_factor, 1.6, 0.01);
  EXPECT_EQ(fit.instance.cost.detail->activation_factor, *fit.activation_factor);
}

}  // namespace
}  // namespace stowage::strategy_runs_test
