// Activations of strategies on the host: solves equal brute force, proofs hold, and the verifier
// computes shares and waits anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "instances/families.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/generate/generate.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/verify/exhaustive_check.h"
#include "instances/strategy/verify/verify.h"
#include "instances/verify.h"
#include "solvers/explain/explain.h"
#include "solvers/milp/solver.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/strategy/brute_force.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_offload_test {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::IsEmpty;

Outcome solved(const StrategyInstance& instance, const std::string& method = "auto") {
  Budget budget({.node_limit = 1'000'000});
  return solve(Instance(instance), {.method = method}, budget);
}

bool has_offload(const StrategyPlan& plan) {
  return std::ranges::any_of(plan.stages, [](const StrategyStage& s) { return s.offload > 0; });
}

StrategyInstance drawn(std::uint64_t seed) {
  StrategyInstance instance = seed % 2 == 0 ? tiny_strategy(seed) : tiny_experts(seed);
  if (seed % 5 == 0) instance = tiny_measured(seed);
  return with_offload(std::move(instance), seed);
}

TEST(StrategyOffload, SolvesEqualBruteForceAndProofsHold) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(600, 12'000));
  int away = 0;
  int saved = 0;
  int faster = 0;
  int infeasible = 0;
  int exhaustive = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    const StrategyInstance instance = drawn(seed);
    StrategyInstance plain = instance;
    plain.cluster.offload.reset();
    const std::optional<StrategyPlan> best = brute_force(instance);
    const std::optional<StrategyPlan> without = brute_force(plain);
    const std::optional<Ms> least = least_step(instance, 300'000);
    const Outcome outcome = solved(instance);
    if (!best) {
      ++infeasible;
      EXPECT_FALSE(without);
      ASSERT_EQ(outcome.status, Status::infeasible) << outcome.detail;
      EXPECT_THAT(check_infeasibility(instance, *outcome.infeasibility), IsEmpty());
      EXPECT_EQ(least.value_or(kInfinity), kInfinity);
      continue;
    }
    ASSERT_EQ(outcome.status, Status::optimal) << outcome.detail;
    EXPECT_NEAR(*outcome.objective, best->step_ms, 1e-9 * best->step_ms);
    EXPECT_THAT(verify(Instance(instance), *outcome.plan), IsEmpty());
    if (least) {
      ++exhaustive;
      EXPECT_NEAR(*least, best->step_ms, 1e-9 * best->step_ms);
    }
    EXPECT_LE(best->step_ms, (without ? without->step_ms : kInfinity) * (1 + 1e-12));
    if (outcome.certificate) {
      const auto& certificate = std::get<StrategyCertificate>(outcome.certificate->any());
      EXPECT_THAT(check_certificate(instance, certificate).violations, IsEmpty());
    }
    away += has_offload(*best) ? 1 : 0;
    saved += without ? 0 : 1;
    faster += without && best->step_ms < without->step_ms * (1 - 1e-9) ? 1 : 0;
  }
  EXPECT_GT(away, 20);
  EXPECT_GT(saved, 5);
  EXPECT_GT(faster, 5);
  EXPECT_GT(infeasible, 5);
  EXPECT_GT(exhaustive, 100);
}

TEST(StrategyOffload, MipsEqualBruteForce) {
  if (built_backends().empty()) GTEST_SKIP() << "no MILP backend";
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const StrategyInstance instance = drawn(seed);
    const std::optional<StrategyPlan> best = brute_force(instance);
    if (!best || !has_offload(*best)) continue;
    const Outcome outcome = solved(instance, "mip");
    ASSERT_TRUE(outcome.objective) << seed << outcome.detail;
    EXPECT_NEAR(*outcome.objective, best->step_ms, 1e-6 * best->step_ms) << seed;
    ++compared;
  }
  EXPECT_GT(compared, 3);
}

TEST(StrategyOffload, PublishedPlannersLeaveAllActivationsOnTheDevice) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const StrategyInstance instance = drawn(seed);
    for (const char* method : {"rule", "homogeneous", "galvatron", "alpa"}) {
      const Outcome outcome = solved(instance, method);
      if (!outcome.plan) continue;
      EXPECT_FALSE(has_offload(std::get<StrategyPlan>(*outcome.plan))) << seed << method;
      EXPECT_THAT(verify(Instance(instance), *outcome.plan), IsEmpty()) << seed << method;
    }
  }
}

// One stage of four equal layers that misses some memory: the share and the waits by hand.
class OneStage : public testing::Test {
 protected:
  OneStage() {
    instance_.name = "one-stage";
    instance_.model = {
        .hidden = 1024, .heads = 8, .vocabulary = 0, .blocks = {{.count = 4, .ffn = 4096}}};
    instance_.cluster = {.nodes = 1, .devices_per_node = 1, .memory_mib = 1e6};
    instance_.options.recompute = {StrategyRecompute::none};
    instance_.options.zero = {0};
    instance_.options.micro_batches = {2};
    instance_.lengths = {4096, 4096};
  }

  StrategyPlan plan() const {
    const Outcome outcome = solved(instance_);
    EXPECT_EQ(outcome.status, Status::optimal) << outcome.detail;
    return std::get<StrategyPlan>(*outcome.plan);
  }

  StrategyInstance instance_;
};

TEST_F(OneStage, LeavesWhatMemoryMissesAndWaitsForIt) {
  const StrategyStage all = plan().stages.front();
  EXPECT_EQ(all.offload, 0);
  // Activations of a layer: 34 bytes per token and unit of width (2205.05198), as attention is not
  // stored.
  const Mib activations = 4 * 34.0 * 1024 * 4096 / (1 << 20);
  const Mib missing = 100;
  instance_.cluster.memory_mib = all.memory_mib - missing;
  EXPECT_EQ(solved(instance_).status, Status::infeasible);
  instance_.cluster.offload = StrategyOffload{.out_mib_per_ms = 1e3, .in_mib_per_ms = 1e3};
  const StrategyStage quick = plan().stages.front();
  EXPECT_NEAR(quick.offload, missing / activations, 1e-9);
  EXPECT_NEAR(quick.memory_mib, instance_.cluster.memory_mib, 1e-6);
  EXPECT_NEAR(quick.time_ms, all.time_ms, 1e-9 * all.time_ms);  // the copies hide
  const Ms third = all.time_ms / 3;
  instance_.cluster.offload = StrategyOffload{.out_mib_per_ms = missing / (third + 5),
                                              .in_mib_per_ms = missing / (2 * third + 7)};
  const StrategyPlan slow = plan();
  EXPECT_NEAR(slow.stages.front().time_ms, all.time_ms + 12, 1e-9 * all.time_ms);
  EXPECT_NEAR(slow.stages.front().longest_ms, all.time_ms + 12, 1e-9 * all.time_ms);
  EXPECT_NEAR(slow.step_ms - 2 * 12, plan().step_ms - 24, 1e-9);
  instance_.cluster.offload->host_mib = missing - 1;
  EXPECT_EQ(solved(instance_).status, Status::infeasible);
  instance_.cluster.offload->host_mib = missing;
  EXPECT_EQ(solved(instance_).status, Status::optimal);
}

TEST_F(OneStage, ExplanationsNameTheHost) {
  const StrategyStage all = plan().stages.front();
  instance_.cluster.memory_mib = all.memory_mib - 100;
  instance_.cluster.offload =
      StrategyOffload{.out_mib_per_ms = 1e3, .in_mib_per_ms = 0.5, .host_mib = 60};
  Budget budget({.node_limit = 100'000});
  const Explanation refused = explain(Instance(instance_), std::nullopt, {}, budget);
  EXPECT_THAT(refused.conflict.causes,
              Contains(Field(&Finding::where, "/cluster/offload/host_mib")));
  const auto of_host = [](const auto& remedy) {
    return remedy.change.where == "/cluster/offload/host_mib";
  };
  const auto found = std::ranges::find_if(refused.remedies, of_host);
  ASSERT_NE(found, refused.remedies.end());
  const auto& changed = std::get<StrategyInstance>(found->change.instance);
  EXPECT_NEAR(*changed.cluster.offload->host_mib, 100, 1e-3);
  instance_.cluster.offload->host_mib = 200;
  const Explanation told = explain(Instance(instance_), Plan(plan()), {}, budget);
  const auto in = std::ranges::find(told.what_if, "/cluster/offload/in_mib_per_ms", &WhatIf::where);
  ASSERT_NE(in, told.what_if.end());
  EXPECT_THAT(told.what_if, Contains(Field(&WhatIf::where, "/cluster/offload/host_mib")));
}

TEST_F(OneStage, TwoLayersStay) {
  const StrategyStage all = plan().stages.front();
  const Mib layer = 34.0 * 1024 * 4096 / (1 << 20);
  instance_.cluster.offload = StrategyOffload{.out_mib_per_ms = 1e3, .in_mib_per_ms = 1e3};
  instance_.cluster.memory_mib = all.memory_mib - 2 * layer + 0.01;
  EXPECT_NEAR(plan().stages.front().offload, 0.5, 1e-3);
  instance_.cluster.memory_mib = all.memory_mib - 2 * layer - 0.01;
  EXPECT_EQ(solved(instance_).status, Status::infeasible);
}

TEST_F(OneStage, TheVerifierRefusesOtherSharesAndTimes) {
  const StrategyStage all = plan().stages.front();
  instance_.cluster.memory_mib = all.memory_mib - 100;
  instance_.cluster.offload = StrategyOffload{.out_mib_per_ms = 1, .in_mib_per_ms = 1};
  const StrategyPlan good = plan();
  EXPECT_THAT(verify(instance_, good), IsEmpty());
  const auto breaks = [&](const std::string& rule, auto change) {
    StrategyPlan bad = good;
    change(bad.stages.front());
    EXPECT_THAT(verify(instance_, bad), Contains(Field(&Violation::rule, rule))) << rule;
  };
  breaks("offload", [](StrategyStage& stage) { stage.offload *= 1.01; });
  breaks("offload", [](StrategyStage& stage) { stage.offload *= 0.99; });
  breaks("offload", [](StrategyStage& stage) { stage.offload = 0; });
  breaks("number", [](StrategyStage& stage) { stage.offload = -0.1; });
  breaks("memory", [](StrategyStage& stage) { stage.memory_mib += 1; });
  breaks("memory", [](StrategyStage& stage) { stage.offload *= 0.99; });
  breaks("time", [](StrategyStage& stage) { stage.time_ms -= 1; });
  breaks("time", [](StrategyStage& stage) { stage.longest_ms -= 1; });
  StrategyInstance plain = instance_;
  plain.cluster.memory_mib = all.memory_mib + 1;
  plain.cluster.offload.reset();
  StrategyPlan away = std::get<StrategyPlan>(*solved(plain).plan);
  away.stages.front().offload = 1e-12;
  EXPECT_THAT(verify(plain, away), Contains(Field(&Violation::rule, "offload")));
}

TEST_F(OneStage, DocumentsAndHashesHaveIt) {
  const std::string before = instance_hash(instance_);
  const std::string text = write_strategy_instance(instance_);
  EXPECT_EQ(text.find("offload"), std::string::npos);
  instance_.cluster.offload = StrategyOffload{.out_mib_per_ms = 24, .in_mib_per_ms = 12};
  const std::string with = instance_hash(instance_);
  EXPECT_NE(with, before);
  const auto read = read_strategy_instance(write_strategy_instance(instance_), "");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, instance_);
  instance_.cluster.offload->host_mib = 1000;
  EXPECT_NE(instance_hash(instance_), with);
  instance_.cluster.offload->host_mib.reset();
  const StrategyStage all = plan().stages.front();
  instance_.cluster.memory_mib = all.memory_mib - 100;
  const StrategyPlan away = plan();
  const auto again = read_strategy_plan(write_strategy_plan(away));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, away);
  EXPECT_GT(again->stages.front().offload, 0);
}

TEST(StrategyOffload, GeneratorsTakeARate) {
  const std::vector<Tokens> lengths(8, 8192);
  const auto made = generate_strategy({.offload_mib_per_ms = 24}, lengths);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->cluster.offload, (StrategyOffload{.out_mib_per_ms = 24, .in_mib_per_ms = 24}));
  EXPECT_FALSE(generate_strategy({}, lengths)->cluster.offload);
  for (const double bad : {0.0, -1.0, 1e10, std::nan("")}) {
    const auto refused = generate_strategy({.offload_mib_per_ms = bad}, lengths);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.errors().front().pointer, "/offload_mib_per_ms");
  }
}

}  // namespace
}  // namespace stowage::strategy_offload_test
