// The formulas against published tables: memory and step times of Megatron-LM (Korthikanti et al.,
// arXiv 2205.05198), and rows worked out by hand. Both the planners' formulas and the verifier's.
#include <gtest/gtest.h>

#include <vector>

#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/planning_table.h"
#include "instances/strategy/verify/reference_model.h"

namespace stowage::strategy_published_test {
namespace {

constexpr double kGib = 1024;  // MiB
constexpr Tokens kLength = 2048;

// A row of the paper's tables: sequences of 2048 tokens, tensor parallelism 8, one replica.
struct Published {
  const char* name;
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t layers;
  std::int64_t pp;
  std::int64_t v;
  std::int64_t micro_batches;
  std::int64_t sequences;  // of a micro-batch
};

constexpr Published k22B{"22B", 6144, 64, 48, 1, 1, 1, 4};
constexpr Published k175B{"175B", 12288, 96, 96, 8, 3, 64, 1};
constexpr Published k530B{"530B", 20480, 128, 105, 35, 3, 280, 1};
constexpr Published k1T{"1T", 25600, 160, 128, 64, 1, 512, 1};

StrategyInstance instance_of(const Published& row, bool sequence_parallel,
                             std::int64_t vocabulary) {
  return {.model = {.hidden = row.hidden,
                    .heads = row.heads,
                    .vocabulary = vocabulary,
                    .causal = false,  // the paper's attention computes the whole square
                    .flash_attention = false,
                    .sequence_parallel = sequence_parallel,
                    .blocks = {{.count = row.layers, .ffn = 4 * row.hidden, .gated = false}}},
          .cluster = {.nodes = row.pp, .devices_per_node = 8, .memory_mib = 1e9},
          .options = {.pp = {row.pp},
                      .v = {row.v},
                      .tp = {8},
                      .zero = {0},
                      .micro_batches = {row.micro_batches}},
          .lengths = std::vector<Tokens>(
              static_cast<std::size_t>(row.micro_batches * row.sequences), kLength)};
}

// Returns the planners' and the verifier's costs of a stage of equal layers; both must agree before
// they are compared with a table.
StageCost both(const StrategyInstance& instance, const Published& row, std::int64_t stage,
               StrategyRecompute recompute) {
  const StrategyTable table(instance);
  const StageCosts costs(table, {row.pp, row.v, row.micro_batches}, {8, 1, 1});
  const std::int64_t layers = row.layers / row.pp;
  const StageCost cost = costs.of(stage, stage * layers, layers, {0, recompute});
  const StrategyReferenceModel truth(instance);
  const StrategyReferenceModel::Setting setting{row.pp, row.v, row.micro_batches, 8, 1, 1};
  const StrategyReferenceModel::Stage its = truth.stage(
      setting, stage, truth.layers_of(setting, stage, stage * layers, layers), 0, recompute, 1, 1);
  EXPECT_NEAR(cost.time_ms, its.time_ms, 1e-9 * its.time_ms);
  EXPECT_NEAR(cost.memory_mib, its.memory_mib, 1e-9 * its.memory_mib);
  return cost;
}

Mib states_of(const Published& row) {
  const auto h = static_cast<double>(row.hidden);
  const double parameters = 12 * h * h * static_cast<double>(row.layers / row.pp);
  return parameters / 8 * 18 / 1048576;
}

Mib first_stage(const Published& row, bool sequence_parallel, StrategyRecompute recompute) {
  return both(instance_of(row, sequence_parallel, 0), row, 0, recompute).memory_mib;
}

// Fig. 1, in GiB: states, and activations of nothing recomputed and of sequence parallelism with
// selective recomputation, on the first stage. The 1T row has no interleaving: a factor of it
// would put it 98 % off.
TEST(StrategyPublished, FigureOneToAHundredthOfAPercent) {
  struct Row {
    Published model;
    double states, none, selective;
  };
  for (const Row& row :
       {Row{k22B, 45.5625, 59.25, 9.5625}, Row{k175B, 45.5625, 66.84375, 12.3515625},
        Row{k530B, 31.640625, 114.0234375, 23.076171875},
        Row{k1T, 32.958984375, 131.25, 26.5625}}) {
    const Mib states = states_of(row.model);
    EXPECT_NEAR(states / kGib, row.states, 1e-4 * row.states) << row.model.name;
    const Mib none = first_stage(row.model, false, StrategyRecompute::none) - states;
    EXPECT_NEAR(none / kGib, row.none, 1e-4 * row.none) << row.model.name;
    const Mib selective = first_stage(row.model, true, StrategyRecompute::selective) - states;
    EXPECT_NEAR(selective / kGib, row.selective, 1e-4 * row.selective) << row.model.name;
  }
}

// Fig. 7: activations as shares of those without recomputation and without sequence parallelism.
TEST(StrategyPublished, FigureSevenToAFifthOfAPercentPoint) {
  struct Row {
    Published model;
    double sequence, selective, both, full;
  };
  for (const Row& row :
       {Row{k22B, 66.84, 49.42, 16.18, 7.64}, Row{k175B, 62.04, 56.53, 18.49, 8.71},
        Row{k530B, 58.31, 62.04, 20.27, 9.42}, Row{k1T, 58.31, 62.04, 20.27, 9.42}}) {
    const Mib states = states_of(row.model);
    const Mib none = first_stage(row.model, false, StrategyRecompute::none) - states;
    const auto share = [&](bool sequence_parallel, StrategyRecompute recompute) {
      return 100 * (first_stage(row.model, sequence_parallel, recompute) - states) / none;
    };
    EXPECT_NEAR(share(true, StrategyRecompute::none), row.sequence, 0.2) << row.model.name;
    EXPECT_NEAR(share(false, StrategyRecompute::selective), row.selective, 0.2) << row.model.name;
    EXPECT_NEAR(share(true, StrategyRecompute::selective), row.both, 0.2) << row.model.name;
    // The figure omits one layer's activations.
    const StrategyInstance instance = instance_of(row.model, false, 0);
    const StrategyTable table(instance);
    const StageCosts costs(table, {row.model.pp, row.model.v, row.model.micro_batches}, {8, 1, 1});
    const double layer = 100 / costs.in_flight(0, row.model.layers / row.model.pp) /
                         static_cast<double>(row.model.layers / row.model.pp);
    EXPECT_NEAR(share(false, StrategyRecompute::full) - layer, row.full, 0.2) << row.model.name;
  }
}

// Table 5: seconds of a step, everything recomputed without sequence parallelism, and selective
// recomputation with it. Three constants (rate of products and attention, half width, bandwidth
// within a node) were fitted on three rows: 22B full and both of 175B.
TEST(StrategyPublished, TableFiveToSixPercent) {
  struct Row {
    Published model;
    double full, selective;
    bool full_fitted, selective_fitted;
  };
  for (const Row& row :
       {Row{k22B, 1.42, 1.10, true, false}, Row{k175B, 18.13, 13.75, true, true},
        Row{k530B, 49.05, 37.83, false, false}, Row{k1T, 94.42, 71.49, false, false}}) {
    const auto seconds = [&](bool sequence_parallel, StrategyRecompute recompute) {
      StrategyInstance instance = instance_of(row.model, sequence_parallel, 51'200);
      instance.cost = {
          .linear_tflops = 245.2, .attention_tflops = 245.2, .half_width = 606, .overlap = 0};
      instance.cluster.mib_per_ms = {.inside = 671.6, .across = 24};
      const StrategyTable table(instance);
      const StageCosts costs(table, {row.model.pp, row.model.v, row.model.micro_batches},
                             {8, 1, 1});
      std::vector<StageCost> stages;
      for (std::int64_t s = 0; s < row.model.pp; ++s) {
        stages.push_back(both(instance, row.model, s, recompute));
      }
      return costs.step(stages) / 1000;
    };
    const double full = seconds(false, StrategyRecompute::full);
    EXPECT_NEAR(full, row.full, (row.full_fitted ? 0.005 : 0.06) * row.full) << row.model.name;
    const double selective = seconds(true, StrategyRecompute::selective);
    EXPECT_NEAR(selective, row.selective, (row.selective_fitted ? 0.005 : 0.06) * row.selective)
        << row.model.name;
  }
}

// 2104.04473: an interleaved pipeline's first stage holds 1 + (p - 1) / (p v) times the memory of p
// micro-batches, and its bubble is 1/v of 1F1B's.
TEST(StrategyPublished, Interleaving) {
  for (const std::int64_t v : {2, 3, 4}) {
    Published row{"", 1024, 16, 48, 4, v, 16, 1};
    const StrategyInstance instance = instance_of(row, true, 0);
    const StrategyTable table(instance);
    const StageCosts costs(table, {4, v, 16}, {8, 1, 1});
    const auto chunks = static_cast<double>(v);
    EXPECT_NEAR(costs.in_flight(0, 12), 4 * (1 + 3 / (4 * chunks)), 1e-12);
    const std::vector<StageCost> equal(4, StageCost{.time_ms = 10});
    EXPECT_NEAR(costs.step(equal), 16 * 10 + 3 * 10 / chunks, 1e-9);
  }
  Published row{"", 1024, 16, 48, 4, 1, 16, 1};
  const StrategyInstance instance = instance_of(row, true, 0);
  const StrategyTable table(instance);
  const StageCosts costs(table, {4, 1, 16}, {8, 1, 1});
  for (std::int64_t s = 0; s < 4; ++s) {
    EXPECT_EQ(costs.in_flight(s, 12), static_cast<double>(4 - s));
  }
  EXPECT_EQ(StageCosts(table, {4, 1, 2}, {8, 1, 1}).in_flight(0, 12), 2);
}

// One layer, h = 4, k = 2, f = 8 gated, V = 10, two sequences of 6 and 2 tokens, tp 2, cp 1 on two
// devices of a node, one micro-batch; every number is small enough for a pencil.
TEST(StrategyPublished, ByHand) {
  const StrategyInstance instance{
      .model = {.hidden = 4,
                .heads = 2,
                .kv_width = 2,
                .vocabulary = 10,
                .blocks = {{.count = 1, .ffn = 8}}},
      .cluster = {.nodes = 1,
                  .devices_per_node = 2,
                  .memory_mib = 1,
                  .mib_per_ms = {.inside = 1.0 / 1048576, .across = 1}},  // a byte in a ms
      .cost = {.linear_tflops = 1e-9, .attention_tflops = 1e-9, .half_width = 2, .overlap = 0.5},
      .options = {.tp = {2}},
      .lengths = {6, 2}};
  const StrategyTable table(instance);
  EXPECT_EQ(table.runs().front().layer.shared, 4 * (8 + 4 + 24));  // 144
  const StageCosts costs(table, {1, 1, 1}, {2, 1, 1});
  // x = 4, y = 20. lin = 2 144 4 / (1/2) = 2304, w = 2 = u; att = 2 4 20 = 160;
  // tp: 10 of 2 4 4 2 / 2 = 32 bytes; head: 6 10 4 4 = 960.
  const StageCost none = costs.of(0, 0, 1, {0, StrategyRecompute::none});
  EXPECT_NEAR(none.time_ms, 3 * 2304 + 3.5 * 160 + 10 * 16 * 2 + 960, 1e-6);
  EXPECT_EQ(none.exchange_ms, 0);  // one replica
  // States: 144 + 2 40 = 224 parameters, 112 on a device, 18 bytes each; activations 34 4 4 (the
  // mean row of both sequences is the heaviest one); logits 8 10 4.
  EXPECT_NEAR(none.memory_mib * 1048576, 112 * 18 + 34 * 16 + 320, 1e-6);
  const StageCost full = costs.of(0, 0, 1, {0, StrategyRecompute::full});
  EXPECT_NEAR(full.time_ms, none.time_ms + 2304 + 160 + 4 * 16 * 2, 1e-6);
  EXPECT_NEAR(full.memory_mib * 1048576, 112 * 18 + 2 * 16 + 34 * 16 + 320, 1e-6);
  // The longest sequence alone: x = 3, y = 18.
  EXPECT_NEAR(none.longest_ms, 3 * 1728 + 3.5 * 144 + 10 * 12 * 2 + 720, 1e-6);
}

// Two replicas instead: gradients and states are exchanged, and level 3 gathers each micro-batch.
TEST(StrategyPublished, ReplicasByHand) {
  StrategyInstance instance{
      .model = {.hidden = 4, .heads = 2, .vocabulary = 0, .blocks = {{.count = 2, .ffn = 8}}},
      .cluster = {.nodes = 1,
                  .devices_per_node = 2,
                  .memory_mib = 1,
                  .mib_per_ms = {.inside = 1.0 / 1048576, .across = 1}},
      .cost = {.linear_tflops = 1e-9, .attention_tflops = 1e-9, .half_width = 0, .overlap = 0.1},
      .lengths = {4, 4}};
  const StrategyTable table(instance);
  const StageCosts costs(table, {1, 1, 1}, {1, 1, 2});
  // 4 (16 + 24) = 160 parameters a layer; x = 4, y = 16: lin = 2 320 4, att = 2 2 4 16.
  const StageCost one = costs.of(0, 0, 2, {1, StrategyRecompute::none});
  EXPECT_NEAR(one.time_ms, 3 * 2560 + 3.5 * 256, 1e-6);
  EXPECT_NEAR(one.exchange_ms, 4 * 0.5 * 320, 1e-9);
  EXPECT_NEAR(costs.exposed(one), std::max(0.0, 640 - 0.1 * one.time_ms), 1e-6);
  EXPECT_NEAR(one.memory_mib * 1048576, 320 * (6 + 12 / 2.0) + 2 * 34 * 16, 1e-6);
  const StageCost three = costs.of(0, 0, 2, {3, StrategyRecompute::none});
  EXPECT_NEAR(three.time_ms, one.time_ms + (6 * 0.5 * 320 - 0.1 * one.time_ms), 1e-6);
  EXPECT_EQ(three.exchange_ms, 0);
  EXPECT_NEAR(three.memory_mib * 1048576, 320 * 9 + 2 * 34 * 16 + 4 * 160, 1e-6);
  // cp instead of replicas: half of the tokens, an exchange of (1 - 1/2) (4 4 + 4 4) 4 / 2 ... each
  // way and layer, and states are shared as before.
  const StageCosts shared(table, {1, 1, 1}, {1, 2, 1});
  const StageCost context = shared.of(0, 0, 2, {1, StrategyRecompute::none});
  EXPECT_NEAR(context.time_ms, one.time_ms + 2 * 2 * 0.5 * 32 * 4, 1e-6);
  EXPECT_NEAR(context.exchange_ms, one.exchange_ms, 1e-9);
}

}  // namespace
}  // namespace stowage::strategy_published_test
