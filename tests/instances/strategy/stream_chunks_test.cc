// Layers that go backward in parts of their sequence (StreamBP): the time and memory of a part,
// worked out by hand; planners and verifier agree.
#include <gtest/gtest.h>

#include <vector>

#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/planning_table.h"
#include "instances/strategy/verify/reference_model.h"

namespace stowage::strategy_stream_chunks_test {
namespace {

// One device with one sequence: x = 1,000 tokens of width 512, k = 128.
StrategyInstance small() {
  return {.model = {.hidden = 512,
                    .heads = 8,
                    .kv_width = 128,
                    .vocabulary = 0,
                    .blocks = {{.count = 4, .ffn = 1024}}},
          .cluster = {.nodes = 1, .devices_per_node = 1, .memory_mib = 1000},
          .cost = {.linear_tflops = 1, .attention_tflops = 1, .half_width = 64},
          .options = {.recompute = {StrategyRecompute::full}, .stream_chunks = {1, 4, 10}},
          .lengths = {1000}};
}

StageCost cost_in(const StrategyInstance& instance, std::int64_t chunks,
                  StrategyRecompute recompute = StrategyRecompute::full) {
  const StrategyTable table(instance);
  const StageCosts costs(table, {1, 1, 1}, {1, 1, 1});
  return costs.of(0, 0, table.layers(), {1, recompute, chunks});
}

TEST(StreamChunks, MemoryIsOfOnePartAndTheKeysAndValuesOfAll) {
  const double whole = 34.0 * 512 * 1000;  // M3 of a layer
  const double keys_and_values = 4.0 * 128 * 1000;
  const double mib = 1 << 20;
  const Mib once = cost_in(small(), 1).memory_mib;
  EXPECT_NEAR(once - cost_in(small(), 4).memory_mib, (whole * 3 / 4 - keys_and_values) / mib, 1e-9);
  EXPECT_NEAR(once - cost_in(small(), 10).memory_mib, (whole * 9 / 10 - keys_and_values) / mib,
              1e-9);
}

TEST(StreamChunks, EveryPartCostsSomeTokensMore) {
  const StrategyInstance instance = small();
  const double parameters = 512.0 * (2 * 512 + 2 * 128 + 3 * 1024) * 4;
  // Four passes of products, 64 tokens more for each part after the first, at 1 TFLOP/s times
  // 512 / (512 + 64).
  const Ms part = 4 * 2 * parameters * 64 / 1e9 * (512.0 + 64) / 512;
  const StageCost once = cost_in(instance, 1);
  EXPECT_NEAR(cost_in(instance, 4).time_ms - once.time_ms, 3 * part, 1e-9 * once.time_ms);
  EXPECT_NEAR(cost_in(instance, 10).longest_ms - once.longest_ms, 9 * part, 1e-9 * once.time_ms);
  EXPECT_EQ(cost_in(instance, 10).exchange_ms, once.exchange_ms);
}

TEST(StreamChunks, OnlyWhatIsComputedAgainIsCut) {
  StrategyInstance instance = small();
  instance.options.recompute = {StrategyRecompute::none, StrategyRecompute::full};
  const StrategyTable table(instance);
  std::vector<std::int64_t> chunks;
  for (const StageChoice& choice : table.choices()) chunks.push_back(choice.stream_chunks);
  EXPECT_EQ(chunks, (std::vector<std::int64_t>{1, 1, 4, 10}));
}

TEST(StreamChunks, TheVerifierCountsTheSame) {
  StrategyInstance instance = small();
  instance.model.blocks[0].experts = {4, 2, 256};
  instance.cluster.devices_per_node = 8;
  instance.lengths = {900, 1000, 500, 800};
  const StrategyTable table(instance);
  const StrategyReferenceModel truth(instance);
  for (const StrategyClass& its : {StrategyClass{1, 1, 2}, StrategyClass{2, 1, 2}}) {
    for (const StrategyLayout& layout :
         {StrategyLayout{2, 2, 2 / its.pp}, StrategyLayout{4, 1, 2 / its.pp}}) {
      const StageCosts costs(table, its, layout);
      const StrategyReferenceModel::Setting setting{
          its.pp, its.v, its.micro_batches, layout.tp, layout.cp, layout.dp, layout.ep};
      for (const std::int64_t chunks : {1, 4, 10}) {
        const StageCost cost = costs.of(0, 0, 2, {3, StrategyRecompute::full, chunks});
        const StrategyReferenceModel::Stage stage =
            truth.stage(setting, 0, {0, 1}, 3, StrategyRecompute::full, chunks, 1);
        EXPECT_NEAR(cost.time_ms, stage.time_ms, 1e-9 * stage.time_ms);
        EXPECT_NEAR(cost.longest_ms, stage.longest_ms, 1e-9 * stage.longest_ms);
        EXPECT_NEAR(cost.memory_mib, stage.memory_mib, 1e-9 * stage.memory_mib);
      }
    }
  }
}

}  // namespace
}  // namespace stowage::strategy_stream_chunks_test
