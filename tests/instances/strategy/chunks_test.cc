// Chunks of stages whose layers v does not divide: the embedding and the head count as layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/pipeline/passes.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/plan.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/planning_table.h"
#include "instances/strategy/verify/reference_model.h"
#include "instances/strategy/verify/verify.h"

namespace stowage::strategy_chunks_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

StrategyInstance model_of(std::int64_t layers, std::int64_t pp, std::int64_t v) {
  return {.name = "chunks",
          .model = {.hidden = 512,
                    .heads = 8,
                    .vocabulary = 1000,
                    .blocks = {{.count = layers, .ffn = 1024}}},
          .cluster = {.nodes = 1, .devices_per_node = pp, .memory_mib = 1'000'000},
          .options = {.pp = {pp}, .v = {v}, .recompute = {StrategyRecompute::none}},
          .lengths = std::vector<Tokens>(at(4 * pp), 1000)};
}

StrategyPlan plan_of(const StrategyInstance& instance, const std::vector<std::int64_t>& layers,
                     std::int64_t micro_batches) {
  const StrategyTable table(instance);
  const StageCosts costs(table, {instance.options.pp[0], instance.options.v[0], micro_batches},
                         {1, 1, 1});
  std::vector<StagePlan> stages;
  for (const std::int64_t its : layers) stages.push_back({its, {1, StrategyRecompute::none}});
  StrategyPlan plan = compose_strategy(costs, stages);
  plan.instance_hash = instance_hash(instance);
  return plan;
}

// The most layers of micro-batches that a stage holds while the passes of the schedule are run.
std::vector<std::int64_t> held_layers(const StrategyPlan& plan) {
  const PassPipeline pipeline{
      .stages = static_cast<int>(plan.pp),
      .chunks = static_cast<int>(plan.v),
      .schedule = PassSchedule::interleaved,
      .rows = std::vector(at(plan.micro_batches),
                          std::vector<PassTimes>(at(plan.pp * plan.v), {1, 1, 1}))};
  std::vector<std::int64_t> held(at(plan.pp), 0);
  std::vector<std::int64_t> most(at(plan.pp), 0);
  simulate_passes(pipeline, [&](const PassDone& pass) {
    const std::int64_t its = chunk_layers(plan, static_cast<std::int64_t>(pass.stage),
                                          static_cast<std::int64_t>(pass.chunk));
    held[pass.stage] += pass.kind == PassDone::Kind::forward ? its : -its;
    most[pass.stage] = std::max(most[pass.stage], held[pass.stage]);
  });
  return most;
}

// M2 equals the largest number that the schedule holds, pass by pass, also if the first or the last
// chunk has a layer less.
TEST(StrategyChunks, AStageHoldsWhatItsScheduleHolds) {
  for (const std::int64_t p : {2, 3, 4, 5}) {
    for (const std::int64_t v : {2, 3, 4}) {
      for (const std::int64_t its : {1, 2, 3}) {
        for (const std::int64_t m : {p, 2 * p, 4 * p}) {
          for (const std::int64_t less : {0, 1}) {
            std::vector<std::int64_t> layers(at(p), v * its);
            layers.front() -= less;
            layers.back() -= less;
            const StrategyInstance instance = model_of(v * its * p - 2 * less, p, v);
            const StrategyPlan plan = plan_of(instance, layers, m);
            const StrategyTable table(instance);
            const StageCosts costs(table, {p, v, m}, {1, 1, 1});
            const std::vector<std::int64_t> most = held_layers(plan);
            for (std::int64_t s = 0; s < p; ++s) {
              EXPECT_NEAR(costs.in_flight(s, layers[at(s)]) * static_cast<double>(layers[at(s)]),
                          static_cast<double>(most[at(s)]), 1e-9)
                  << p << ' ' << v << ' ' << its << ' ' << m << ' ' << less << ' ' << s;
            }
            EXPECT_THAT(verify(instance, plan), IsEmpty());
          }
        }
      }
    }
  }
}

// Llama 3 405B as it was trained: 126 layers are 128 = 8 x 16 with embedding and head.
TEST(StrategyChunks, EmbeddingAndHeadTakeThePlaceOfLayers) {
  const StrategyInstance instance = model_of(126, 8, 8);
  EXPECT_EQ(StrategyTable(instance).classes().size(), 3U);  // 8, 16, 32 micro-batches
  std::vector<std::int64_t> layers(8, 16);
  layers.front() = layers.back() = 15;
  StrategyPlan plan = plan_of(instance, layers, 16);
  EXPECT_THAT(verify(instance, plan), IsEmpty());
  const auto chunks = [&](std::int64_t stage) {
    std::vector<std::int64_t> all;
    for (std::int64_t c = 0; c < 8; ++c) all.push_back(chunk_layers(plan, stage, c));
    return all;
  };
  EXPECT_THAT(chunks(0), ElementsAre(1, 2, 2, 2, 2, 2, 2, 2));
  EXPECT_THAT(chunks(1), ElementsAre(2, 2, 2, 2, 2, 2, 2, 2));
  EXPECT_THAT(chunks(7), ElementsAre(2, 2, 2, 2, 2, 2, 2, 1));
  // Stages between have neither.
  const auto broken = [&](const StrategyInstance& its, std::vector<std::int64_t> dealt) {
    StrategyPlan other = plan;
    for (std::size_t s = 0; s < dealt.size(); ++s) other.stages[s].layers = dealt[s];
    return verify(its, other);
  };
  layers = {15, 15, 16, 16, 16, 16, 16, 16};
  EXPECT_THAT(broken(instance, layers), Contains(Field(&Violation::rule, "layers")));
  layers = {14, 16, 16, 16, 16, 16, 16, 16};
  EXPECT_THAT(broken(instance, layers), Contains(Field(&Violation::rule, "layers")));
  // A model without a vocabulary has no embedding and no head.
  StrategyInstance bare = instance;
  bare.model.vocabulary = 0;
  EXPECT_THAT(StrategyTable(bare).classes(), IsEmpty());
  EXPECT_THAT(StrategyReferenceModel(bare).settings(), IsEmpty());
  EXPECT_THAT(verify(bare, plan), Contains(Field(&Violation::rule, "layers")));
  // Layers that differ are dealt evenly.
  StrategyInstance differ = instance;
  differ.model.blocks = {{.count = 3, .ffn = 1024}, {.count = 123, .ffn = 2048}};
  EXPECT_THAT(StrategyTable(differ).classes(), IsEmpty());
  EXPECT_THAT(verify(differ, plan), Contains(Field(&Violation::rule, "layers")));
}

}  // namespace
}  // namespace stowage::strategy_chunks_test
