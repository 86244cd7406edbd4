// Each rule of the verifier of strategies, kept and broken; proofs that there is no configuration.
#include "instances/strategy/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/planning_table.h"
#include "instances/strategy/verify/exhaustive_check.h"
#include "instances/verify.h"
#include "tests/instances/draw.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_verify_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

StrategyInstance wanted() {
  return {.name = "w",
          .model = {.hidden = 512,
                    .heads = 8,
                    .vocabulary = 1000,
                    .blocks = {{.count = 4, .ffn = 1024}, {.count = 4, .ffn = 2048}}},
          .cluster = {.nodes = 2, .devices_per_node = 4, .memory_mib = 1000},
          .options = {.pp = {1, 2, 4},
                      .v = {1, 2},
                      .tp = {1, 2},
                      .cp = {1, 2},
                      .zero = {1, 3},
                      .shard = {0, 1, 2},
                      .logit_chunks = {1, 4},
                      .stream_chunks = {1, 4}},
          .lengths = std::vector<Tokens>(8, 1000)};
}

StrategyPlan plan() {
  const StrategyInstance instance = wanted();
  const StrategyTable table(instance);
  const StageCosts costs(table, {2, 1, 4}, {2, 1, 2});
  const std::vector<StagePlan> stages = {{5, {1, StrategyRecompute::none}},
                                         {3, {3, StrategyRecompute::full, 4}}};
  StrategyPlan made = compose_strategy(costs, stages);
  made.instance_hash = instance_hash(instance);
  made.bound_ms = made.step_ms / 2;
  made.bound_by = "work";
  return made;
}

// The rules that the changed plan breaks, each once.
template <class Change>
std::vector<std::string> broken(Change change) {
  StrategyInstance instance = wanted();
  StrategyPlan its = plan();
  change(instance, its);
  std::vector<std::string> rules;
  for (const Violation& violation : verify(instance, its)) rules.push_back(violation.rule);
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

TEST(StrategyVerify, AValidPlanBreaksNoRule) {
  EXPECT_THAT(verify(wanted(), plan()), IsEmpty());
  EXPECT_THAT(verify_instance_hash(plan(), instance_hash(wanted())), IsEmpty());
  EXPECT_EQ(verify_instance_hash(plan(), "other").size(), 1U);
  StrategyPlan other = plan();
  other.instance_hash = "fnv1a64:0000000000000000";
  EXPECT_EQ(verify(Instance(wanted()), Plan(other))[0].rule, "instance_hash");
}

TEST(StrategyVerify, EveryRuleIsBroken) {
  using I = StrategyInstance;
  using P = StrategyPlan;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(broken([](I&, P& p) { p.stages[0].time_ms = -1; }), Contains("number"));
  EXPECT_THAT(broken([](I&, P& p) { p.step_ms = kNan; }), Contains("number"));
  EXPECT_THAT(broken([](I&, P& p) { p.bound_ms = kNan; }), Contains("number"));
  EXPECT_THAT(broken([](I& i, P&) { i.options.tp = {1, 4}; }), ElementsAre("options"));
  EXPECT_THAT(broken([](I& i, P&) { i.options.zero = {1}; }), ElementsAre("options"));
  EXPECT_THAT(broken([](I& i, P&) { i.options.recompute = {StrategyRecompute::none}; }),
              ElementsAre("options"));
  EXPECT_THAT(broken([](I& i, P&) { i.options.micro_batches = {2}; }), ElementsAre("options"));
  EXPECT_THAT(broken([](I&, P& p) { p.logit_chunks = 2; }), ElementsAre("options"));
  EXPECT_THAT(broken([](I&, P& p) { p.stages[1].stream_chunks = 2; }), ElementsAre("options"));
  EXPECT_THAT(broken([](I&, P& p) { p.stages[0].stream_chunks = 4; }), ElementsAre("options"));
  EXPECT_THAT(broken([](I&, P& p) { p.stages[1].stream_chunks = 1; }),
              ElementsAre("memory", "time", "objective"));
  EXPECT_THAT(broken([](I&, P& p) { p.ep = 2; }), ElementsAre("options", "experts"));
  constexpr auto kRing = StrategyExchange::ring;
  EXPECT_THAT(broken([](I&, P& p) { p.cp_exchange = kRing; }), ElementsAre("devices"));  // cp is 1
  EXPECT_THAT(broken([](I&, P& p) { p.cp = 2, p.dp = 1; }), ElementsAre("time", "objective"));
  EXPECT_THAT(broken([](I&, P& p) { p.cp = 2, p.dp = 1, p.cp_exchange = kRing; }),
              ElementsAre("devices"));
  EXPECT_THAT(broken([](I& i, P& p) {
                p.cp = 2, p.dp = 1, p.cp_exchange = kRing;
                i.options.cp_exchange = {kRing};
              }),
              ElementsAre("memory", "time", "objective"));
  EXPECT_THAT(broken([](I& i, P&) { i.options.shard = {1}; }), ElementsAre("shard"));
  EXPECT_THAT(broken([](I&, P& p) { p.shard = 2; }), ElementsAre("shard"));  // not fewer than dp cp
  EXPECT_THAT(broken([](I&, P& p) { p.shard = 3; }), ElementsAre("shard"));
  EXPECT_THAT(broken([](I&, P& p) { p.shard = -1; }), ElementsAre("shard"));
  EXPECT_THAT(broken([](I&, P& p) { p.shard = 1; }), ElementsAre("memory", "time"));
  EXPECT_THAT(broken([](I& i, P&) { i.options.shard = {2}; }), IsEmpty());
  EXPECT_THAT(broken([](I&, P& p) { p.dp = 4; }), ElementsAre("devices", "micro_batches"));
  EXPECT_THAT(broken([](I& i, P&) { i.model.heads = 7; }), ElementsAre("devices"));
  EXPECT_THAT(broken([](I&, P& p) { p.dp = 0; }), ElementsAre("devices", "micro_batches"));
  EXPECT_THAT(broken([](I&, P& p) { p.dp = kMaxExact; }), Contains("devices"));
  EXPECT_THAT(broken([](I&, P& p) { p.micro_batches = 3; }), ElementsAre("micro_batches"));
  EXPECT_THAT(broken([](I&, P& p) { p.v = 2, p.micro_batches = 1; }), Contains("micro_batches"));
  EXPECT_THAT(broken([](I&, P& p) { p.stages[0].layers = 4; }), ElementsAre("layers"));
  EXPECT_THAT(broken([](I&, P& p) { p.stages[0].layers = 8, p.stages[1].layers = 0; }),
              ElementsAre("layers"));
  EXPECT_THAT(broken([](I&, P& p) { p.stages.pop_back(); }), ElementsAre("layers"));
  EXPECT_THAT(broken([](I&, P& p) {
                p.stages[0].layers += p.stages[1].layers;
                p.stages.pop_back();
              }),
              ElementsAre("layers"));
  // Chunks of blocks that differ: as many layers in each stage.
  EXPECT_THAT(broken([](I&, P& p) { p.v = 2, p.stages[0].layers = 6, p.stages[1].layers = 2; }),
              ElementsAre("layers"));
  EXPECT_THAT(broken([](I& i, P&) { i.cluster.memory_mib = 10; }), ElementsAre("memory"));
  const auto with_memory = [](double times) {
    return broken([&](I& i, P& p) {
      i.cluster.memory_mib = times * std::max(p.stages[0].memory_mib, p.stages[1].memory_mib);
    });
  };
  EXPECT_THAT(with_memory(1), IsEmpty());
  EXPECT_THAT(with_memory(1 - 2e-9), ElementsAre("memory"));
  EXPECT_THAT(broken([](I&, P& p) { p.stages[1].memory_mib *= 1.001; }), ElementsAre("memory"));
  EXPECT_THAT(broken([](I&, P& p) { p.stages[0].time_ms *= 1.001; }), ElementsAre("time"));
  EXPECT_THAT(broken([](I&, P& p) { p.stages[0].longest_ms *= 0.999; }), ElementsAre("time"));
  EXPECT_THAT(broken([](I&, P& p) { p.stages[0].exchange_ms += 1; }), ElementsAre("time"));
  EXPECT_THAT(broken([](I&, P& p) { p.stages[0].update_ms = 1; }), ElementsAre("time"));
  EXPECT_THAT(broken([](I&, P& p) { p.stages[0].update_ms = -1; }), Contains("number"));
  EXPECT_THAT(broken([](I&, P& p) { p.step_ms *= 0.999; }), ElementsAre("objective"));
  EXPECT_THAT(broken([](I&, P& p) { p.bound_ms = 2 * p.step_ms; }), ElementsAre("bound"));
  EXPECT_THAT(broken([](I&, P& p) { p.bound_by.clear(); }), ElementsAre("bound"));
}

// A model whose blocks are written layer by layer gives the same results: folded equals unfolded.
TEST(StrategyVerify, FoldedIsUnfolded) {
  for (std::uint64_t seed = 0; seed < 54; ++seed) {
    const StrategyInstance folded =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed) : tiny_experts(seed), seed);
    StrategyInstance unfolded = folded;
    unfolded.model.blocks.clear();
    for (const StrategyBlock& block : folded.model.blocks) {
      for (std::int64_t k = 0; k < block.count; ++k) {
        unfolded.model.blocks.push_back(block);
        unfolded.model.blocks.back().count = 1;
      }
    }
    EXPECT_EQ(least_step(folded, 100'000), least_step(unfolded, 100'000)) << seed;
  }
}

// The planners' formulas agree with the verifier's on every stage of random instances.
TEST(StrategyVerify, TwoOpinionsAgree) {
  Draw draw(3);
  int plans = 0;
  int shared_experts = 0;
  int sharded_in_part = 0;
  int rings = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed) : tiny_experts(seed), seed);
    instance.cluster.memory_mib = 1e12;
    const StrategyTable table(instance);
    for (const StrategyClass& its : table.classes()) {
      for (const StrategyLayout& layout : table.layouts(its)) {
        const StageCosts costs(table, its, layout);
        std::vector<StagePlan> stages;
        std::int64_t left = table.layers();
        for (std::int64_t s = 0; s < its.pp; ++s) {
          std::int64_t layers = its.v > 1 ? table.layers() / its.pp : 1;
          if (s == its.pp - 1) layers = left;
          left -= layers;
          stages.push_back({layers, table.choices()[draw.below(table.choices().size())]});
        }
        if (!costs.may_have(its.pp - 1, stages.back().layers)) continue;
        if (its.v > 1 && table.layers() % (its.pp * its.v) != 0) continue;
        EXPECT_THAT(verify(instance, compose_strategy(costs, stages)), IsEmpty()) << seed;
        ++plans;
        shared_experts += layout.ep > 1 ? 1 : 0;
        sharded_in_part += layout.shard > 0 ? 1 : 0;
        rings += layout.cp_exchange == StrategyExchange::ring ? 1 : 0;
      }
    }
  }
  EXPECT_GT(plans, 1000);
  EXPECT_GT(shared_experts, 150);
  EXPECT_GT(sharded_in_part, 60);
  EXPECT_GT(rings, 150);
}

// The verifier must accept any input without a crash.
TEST(StrategyVerify, NoPlanCrashesIt) {
  Draw draw(7);
  for (int k = 0; k < 2000; ++k) {
    StrategyPlan its = plan();
    const std::vector<std::int64_t> odd = {-kMaxExact, -1, 0, 1, 2, 3, kMaxExact};
    for (std::int64_t* number :
         {&its.pp, &its.v, &its.micro_batches, &its.tp, &its.cp, &its.dp, &its.ep, &its.shard,
          &its.logit_chunks, &its.stages[0].layers, &its.stages[0].zero}) {
      if (draw.coin()) *number = odd[draw.below(odd.size())];
    }
    if (draw.coin()) its.stages.resize(draw.below(4));
    verify(wanted(), its);
  }
}

TEST(StrategyVerify, InfeasibilityIsWhatTheProofSays) {
  StrategyInstance instance = wanted();
  const auto rules = [&](const InfeasibilityProof& proof) {
    std::vector<std::string> broken;
    for (const Violation& v : check_infeasibility(instance, proof)) broken.push_back(v.rule);
    return broken;
  };
  EXPECT_THAT(rules({.by = "configurations"}), ElementsAre("infeasibility"));
  EXPECT_THAT(rules({.by = "capacity"}), ElementsAre("infeasibility_by"));
  EXPECT_THAT(rules({}), ElementsAre("infeasibility"));
  instance.cluster.memory_mib = 1;
  EXPECT_THAT(rules({}), IsEmpty());
  EXPECT_THAT(rules({.by = "configurations"}), IsEmpty());
  EXPECT_THAT(rules({.by = "configurations", .witnesses = {0}}),
              ElementsAre("infeasibility_witness"));
  instance = wanted();
  instance.options.tp = {3};
  EXPECT_THAT(rules({.by = "configurations"}), IsEmpty());
}

}  // namespace
}  // namespace stowage::strategy_verify_test
