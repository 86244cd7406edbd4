// Solves of strategies: equal to brute force, with valid bounds and certificates, and never behind
// a baseline.
#include "solvers/solve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "formulations/strategy/bounds.h"
#include "formulations/strategy/thresholds.h"
#include "instances/check.h"
#include "instances/families.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/generate/generate.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/planning_table.h"
#include "instances/strategy/verify/exhaustive_check.h"
#include "instances/strategy/verify/verify.h"
#include "instances/verify.h"
#include "solvers/explain/explain.h"
#include "tests/long_run.h"
#include "tests/oracles/strategy/brute_force.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_solve_test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Outcome solved(const StrategyInstance& instance, const std::string& method = "auto",
               std::int64_t nodes = 1'000'000) {
  Budget budget({.node_limit = nodes});
  return solve(Instance(instance), {.method = method}, budget);
}

// Every outcome is the optimum over all configurations, with valid claims, certificates and proofs.
TEST(StrategySolve, EqualsBruteForce) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(340, 14'000));
  int infeasible = 0;
  int piped = 0;
  int shared_experts = 0;
  for (std::uint64_t seed = 0; seed < 3 * seeds; ++seed) {
    StrategyInstance instance = seed < seeds       ? tiny_strategy(seed)
                                : seed < 2 * seeds ? tiny_experts(seed - seeds)
                                                   : tiny_measured(seed - 2 * seeds);
    if (seed % 2 == 1) instance = with_partial_sharing(std::move(instance), seed);
    const std::optional<StrategyPlan> best = brute_force(instance);
    for (const char* method : {"auto", "exact"}) {
      const Outcome outcome = solved(instance, method);
      if (!best) {
        ++infeasible;
        EXPECT_EQ(outcome.status, Status::infeasible) << method << seed << outcome.detail;
        EXPECT_EQ(outcome.infeasibility->by, "configurations");
        EXPECT_THAT(check_infeasibility(instance, *outcome.infeasibility), IsEmpty()) << seed;
        continue;
      }
      ASSERT_EQ(outcome.status, Status::optimal) << method << seed << outcome.detail;
      EXPECT_NEAR(*outcome.objective, best->step_ms, 1e-9 * best->step_ms) << method << seed;
      EXPECT_THAT(verify(Instance(instance), *outcome.plan), IsEmpty()) << method << seed;
      EXPECT_THAT(outcome.detail, AnyOf(IsEmpty(), HasSubstr("of keys and values")));
      piped += best->pp > 1 ? 1 : 0;
      shared_experts += best->ep > 1 ? 1 : 0;
      if (!outcome.certificate) continue;
      const auto& certificate = std::get<StrategyCertificate>(outcome.certificate->any());
      EXPECT_THAT(check_certificate(instance, certificate).violations, IsEmpty()) << seed;
    }
  }
  EXPECT_GT(infeasible, 10);
  EXPECT_GT(piped, 20);
  EXPECT_GT(shared_experts, 20);
}

// Chunks whose layers v does not divide, since the embedding or the head counts as one: search,
// MIP, brute force and the exhaustive search of the verifier have the same optimum.
TEST(StrategySolve, EmbeddingAndHeadAsLayersEqualBruteForce) {
  int counted = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    StrategyInstance instance = tiny_strategy(seed);
    instance.model.blocks.resize(1);
    instance.model.blocks[0].count = 2 + static_cast<std::int64_t>(seed % 7);
    instance.options.pp = {2, 3};
    instance.options.v = {2, 3};
    instance.cluster.devices_per_node = seed % 2 == 0 ? 4 : 3;
    instance.lengths.resize(seed % 2 == 0 ? 4 : 6, 500);
    const std::optional<StrategyPlan> best = brute_force(instance);
    const std::optional<Ms> least = least_step(instance, 1'000'000);
    const Outcome outcome = solved(instance);
    if (!best) {
      EXPECT_EQ(outcome.status, Status::infeasible) << seed << outcome.detail;
      if (least) {
        EXPECT_EQ(*least, kInfinity) << seed;
      }
      continue;
    }
    ASSERT_EQ(outcome.status, Status::optimal) << seed << outcome.detail;
    EXPECT_NEAR(*outcome.objective, best->step_ms, 1e-9 * best->step_ms) << seed;
    if (least) {
      EXPECT_NEAR(*least, best->step_ms, 1e-9 * best->step_ms) << seed;
    }
    EXPECT_THAT(verify(Instance(instance), *outcome.plan), IsEmpty()) << seed;
    const auto& certificate = std::get<StrategyCertificate>(outcome.certificate->any());
    EXPECT_THAT(check_certificate(instance, certificate).violations, IsEmpty()) << seed;
    counted += std::ranges::any_of(
        best->stages, [&](const StrategyStage& stage) { return stage.layers % best->v != 0; });
  }
  EXPECT_GT(counted, 10);
}

// The remedy for layers that cannot be divided names them, and the devices if these are the cause.
TEST(StrategySolve, LayersThatAreNotDealtAreNamed) {
  StrategyInstance instance = tiny_strategy(0);
  instance.model = {.hidden = 256, .heads = 4, .blocks = {{.count = 5, .ffn = 512}}};
  instance.cluster = {.nodes = 1, .devices_per_node = 4, .memory_mib = 1e6};
  instance.options = {.pp = {2}, .v = {2}};
  instance.lengths.assign(4, 100);
  Outcome outcome = solved(instance);
  EXPECT_EQ(outcome.status, Status::infeasible);
  EXPECT_THAT(outcome.detail, HasSubstr("deal the 5 layers in chunks"));
  EXPECT_THAT(outcome.remedy, HasSubstr("add 1 to options.v"));
  instance.model.vocabulary = 100;  // one of embedding and head makes six
  EXPECT_EQ(solved(instance).status, Status::optimal);
  instance.options = {.pp = {4}};
  instance.model.blocks[0].count = 3;
  outcome = solved(instance);
  EXPECT_EQ(outcome.status, Status::infeasible);
  EXPECT_THAT(outcome.detail, HasSubstr("no value of options.pp deals the 3 layers"));
  EXPECT_THAT(outcome.remedy, HasSubstr("at most 3"));
  instance.options = {.pp = {3}};
  EXPECT_THAT(solved(instance).detail, HasSubstr("must divide the devices"));
}

// Ranks of tp beyond the heads of keys and values repeat these, and the outcome says so.
TEST(StrategySolve, RepeatedHeadsAreNamed) {
  StrategyInstance instance = tiny_strategy(0);
  instance.model = {.hidden = 256, .heads = 4, .kv_width = 128, .blocks = {{.count = 2}}};
  instance.cluster = {.nodes = 1, .devices_per_node = 4, .memory_mib = 1e6};
  instance.options = {.tp = {4}};
  instance.lengths.assign(4, 100);
  EXPECT_THAT(solved(instance).detail, HasSubstr("tp 4 is more than the 2 heads of keys"));
  instance.options.tp = {2};
  EXPECT_THAT(solved(instance).detail, IsEmpty());
}

// No plan of a class is faster than its bound, with equal prices and with better ones.
TEST(StrategySolve, EveryBoundHoldsForEveryClass) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 140; ++seed) {
    const StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed, 6) : tiny_experts(seed, 6), seed);
    const StrategyTable table(instance);
    const Budget budget;
    std::optional<StrategyCertificate> certificate = equal_prices(table, budget);
    ASSERT_TRUE(certificate);
    Ms raised = kInfinity;
    for (StrategyCertificate::Class& its : certificate->classes) {
      raised = std::min(raised, raise_prices(table, its, 1e300, budget));
    }
    EXPECT_GE(raised, certificate->bound_ms) << seed;
    for (const StrategyCertificate::Class& its : certificate->classes) {
      StrategyInstance alone = instance;
      alone.options.pp = {its.pp};
      alone.options.v = {its.v};
      alone.options.micro_batches = {its.micro_batches};
      const std::optional<StrategyPlan> best = brute_force(alone);
      if (!best) continue;
      const Ms bound = class_bound(table, its);
      EXPECT_LE(bound, best->step_ms * (1 + 1e-9)) << seed;
      EXPECT_LE(work_bound(table), best->step_ms * (1 + 1e-9)) << seed;
      if (its.pp == 1) {
        EXPECT_NEAR(bound, best->step_ms, 1e-9 * bound) << seed;
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

// No plan of a class and layout is faster than the bound by its cases; if all sequences are equally
// long, the bound is the least step. For an unreachable target the search returns less, and after a
// limit too.
TEST(StrategySolve, CasesByTheSlowestStageAreExact) {
  int exact = 0;
  for (std::uint64_t seed = 0; seed < 270; ++seed) {
    StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed, 6) : tiny_experts(seed, 6), seed);
    const bool equal = seed % 4 < 2;
    for (Tokens& length : instance.lengths) {
      if (equal) length = instance.lengths.front();
    }
    const StrategyTable table(instance);
    for (const StrategyClass& its : table.classes()) {
      for (const StrategyLayout& layout : table.layouts(its)) {
        const StageCosts costs(table, its, layout);
        ASSERT_TRUE(admits_thresholds(costs));
        const std::optional<StrategyPlan> best = brute_force(narrowed_to(instance, its, layout));
        const Ms bound = threshold_bound(costs, kInfinity, Budget());
        if (!best) {
          EXPECT_EQ(bound, kInfinity) << seed;
          continue;
        }
        EXPECT_LE(bound, best->step_ms * (1 + 1e-9)) << seed;
        if (!equal) continue;
        EXPECT_GE(bound, best->step_ms * (1 - 1e-9)) << seed;
        EXPECT_EQ(threshold_bound(costs, 0.9 * bound, Budget()), 0.9 * bound);
        Budget none({.node_limit = 0});
        EXPECT_LE(threshold_bound(costs, kInfinity, none), best->step_ms * (1 + 1e-9)) << seed;
        exact += its.pp > 1 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(exact, 100);
}

// Cases of 64 devices: auto is never behind homogeneous, nor that behind the rule; bounds are
// close.
TEST(StrategySolve, IsNeverBehindTheBaselines) {
  for (const char* model : {"llama-7b", "llama-13b"}) {
    for (const Tokens tokens : {8192, 131'072}) {
      StrategyInstance instance = *generate_strategy(
          {.model = model, .memory_mib = 36'864},
          std::vector<Tokens>(static_cast<std::size_t>(2'097'152 / tokens), tokens));
      instance.options.pp = {1, 2, 4};
      instance.options.v = {1, 2};
      const Outcome rule = solved(instance, "rule");
      const Outcome homogeneous = solved(instance, "homogeneous");
      const Outcome best = solved(instance, "auto", 20'000);
      ASSERT_TRUE(homogeneous.plan) << model << tokens << homogeneous.detail;
      ASSERT_TRUE(best.plan);
      EXPECT_LE(*best.objective, *homogeneous.objective);
      if (rule.plan) {
        EXPECT_LE(*homogeneous.objective, *rule.objective);
      }
      const auto& certificate = std::get<StrategyCertificate>(best.certificate->any());
      EXPECT_THAT(check_certificate(instance, certificate).violations, IsEmpty());
      EXPECT_GE(certificate.bound_ms, *best.objective * (1 - 1e-9)) << model << tokens;
    }
  }
}

TEST(StrategySolve, ASearchThatEndsEarlyClaimsNoMore) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const StrategyInstance instance = tiny_strategy(seed);
    const std::optional<StrategyPlan> best = brute_force(instance);
    if (!best) continue;
    for (const std::int64_t nodes : {1, 3, 10}) {
      const Outcome outcome = solved(instance, "exact", nodes);
      ASSERT_TRUE(outcome.plan) << seed;
      EXPECT_LE(outcome.bound, best->step_ms * (1 + 1e-9)) << seed << ' ' << nodes;
    }
  }
}

TEST(StrategySolve, WithoutRoomItSaysWhatIsNeeded) {
  StrategyInstance instance = *generate_strategy({.model = "llama-7b", .nodes = 1}, {131'072});
  instance.cluster.memory_mib = 1000;
  const Outcome outcome = solved(instance);
  EXPECT_EQ(outcome.status, Status::infeasible);
  EXPECT_THAT(outcome.remedy, HasSubstr("raise cluster.memory_mib to at least "));
  instance.cluster.memory_mib = std::stod(outcome.remedy.substr(outcome.remedy.rfind(' ')));
  EXPECT_TRUE(solved(instance).plan);
  instance.cluster.memory_mib *= 0.999;
  EXPECT_FALSE(solved(instance).plan);
  instance.options.tp = {3};
  EXPECT_THAT(solved(instance).detail, HasSubstr("no values of the options combine"));
}

// If ep is the option that does not combine, the reason, the remedy and the explanation name it; if
// ep 1 is allowed, none of them does.
TEST(StrategySolve, AnEpThatDividesNothingIsNamed) {
  StrategyInstance instance =
      *generate_strategy({.model = "olmoe-1b-7b", .nodes = 1}, std::vector<Tokens>(64, 2048));
  const auto told = [&] {
    Budget budget;
    const Explanation explained = explain(Instance(instance), std::nullopt, {}, budget);
    EXPECT_FALSE(explained.remedies.empty());
    const std::vector<Finding>& causes = explained.conflict.causes;
    EXPECT_EQ(causes.size(), 1U);
    return causes.empty() ? std::string() : causes.front().text;
  };
  instance.options.ep = {3};
  EXPECT_THAT(solved(instance).detail, HasSubstr("ep must divide cp dp and the experts"));
  EXPECT_THAT(solved(instance).remedy, HasSubstr("1 to options.ep"));
  EXPECT_THAT(told(), HasSubstr("ep must divide cp dp and the experts"));
  EXPECT_THAT(told(), Not(HasSubstr("sequence_parallel")));
  instance.options.ep = {2};
  instance.options.tp = {2};
  instance.model.sequence_parallel = false;
  EXPECT_THAT(solved(instance).detail, HasSubstr("and tp be 1 without sequence_parallel"));
  EXPECT_THAT(told(), HasSubstr("and tp be 1 without sequence_parallel"));
  instance.options.ep = {1, 2};
  instance.options.tp = {3};
  EXPECT_THAT(solved(instance).detail,
              AllOf(HasSubstr("no values of the options combine"), Not(HasSubstr("ep must"))));
  EXPECT_THAT(solved(instance).remedy, Not(HasSubstr("options.ep")));
  EXPECT_THAT(told(), Not(HasSubstr("ep must")));
}

// A list of options of maximal length still has room for the options of a remedy.
TEST(StrategySolve, ALongListOfOptionsGetsDegreeOne) {
  StrategyInstance instance = *generate_strategy({.nodes = 1}, std::vector<Tokens>(64, 2048));
  instance.options.tp.clear();
  for (std::int64_t tp = 3; std::ssize(instance.options.tp) < 32; tp += 2) {
    instance.options.tp.push_back(tp);
  }
  ASSERT_TRUE(check(Instance(instance)).empty());
  Budget budget;
  const Explanation told = explain(Instance(instance), std::nullopt, {}, budget);
  ASSERT_EQ(told.remedies.size(), 1U);
  EXPECT_THAT(told.remedies[0].change.text, HasSubstr("allow degree 1"));
  EXPECT_TRUE(check(told.remedies[0].change.instance).empty());
  EXPECT_THAT(std::get<StrategyInstance>(told.remedies[0].change.instance).options.tp,
              AllOf(SizeIs(32), Contains(1), Contains(3)));
}

// 64 experts fit on eight devices if two ranks share them; explained if they may not.
TEST(StrategySolve, ExpertsThatNoRankHasRoomForAreShared) {
  StrategyInstance instance = *generate_strategy(
      {.model = "olmoe-1b-7b", .nodes = 1, .formulas = 2}, std::vector<Tokens>(64, 2048));
  instance.options.pp = {1};
  instance.options.v = {1};
  instance.options.tp = {1};
  instance.options.zero = {1};
  instance.cluster.memory_mib = 49'152;
  const Outcome outcome = solved(instance);
  ASSERT_TRUE(outcome.plan) << outcome.detail;
  const std::int64_t ep = std::get<StrategyPlan>(*outcome.plan).ep;
  EXPECT_GT(ep, 1);
  instance.options.ep = {ep / 2};
  Budget budget;
  const Explanation told = explain(Instance(instance), std::nullopt, {}, budget);
  ASSERT_EQ(solved(instance).status, Status::infeasible);
  const bool named = std::ranges::any_of(told.remedies, [&](const Remedy& remedy) {
    return remedy.change.where == "/options/ep" &&
           remedy.change.text == "allow ep " + std::to_string(ep);
  });
  EXPECT_TRUE(named);
}

TEST(StrategySolve, BundledOnesHaveTheOptimaTheySay) {
  const auto data = std::filesystem::path(STOWAGE_SOURCE_DIR) / "instances/data";
  const auto text_of = [](const std::filesystem::path& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string readme =
      text_of(std::filesystem::path(STOWAGE_SOURCE_DIR) / "docs/benchmarks/instances.md");
  int seen = 0;
  for (const char* folder : {"strategy/tiny", "strategy/real"}) {
    for (const auto& entry : std::filesystem::directory_iterator(data / folder)) {
      const auto instance =
          read_strategy_instance(text_of(entry.path()), entry.path().parent_path().string());
      ASSERT_TRUE(instance) << entry.path();
      EXPECT_EQ(instance->name, entry.path().stem().string());
      const Outcome outcome = solved(*instance, "auto", 20'000);
      std::string expected = "infeasible";
      if (outcome.plan) {
        const auto& plan = std::get<StrategyPlan>(*outcome.plan);
        std::string ms = std::to_string(plan.step_ms);
        ms.resize(ms.size() - 3);
        expected = ms + " | pp " + std::to_string(plan.pp) + ", v " + std::to_string(plan.v) +
                   ", m " + std::to_string(plan.micro_batches) + ", tp " + std::to_string(plan.tp) +
                   ", cp " + std::to_string(plan.cp) + ", dp " + std::to_string(plan.dp);
        if (plan.ep > 1) expected += ", ep " + std::to_string(plan.ep);
        EXPECT_EQ(outcome.status, Status::optimal) << entry.path();
      }
      const std::string row = "| `" + instance->name + "` | " + expected + " |";
      EXPECT_NE(readme.find(row), std::string::npos) << row;
      ++seen;
    }
  }
  EXPECT_EQ(seen, 9);
}

}  // namespace
}  // namespace stowage::strategy_solve_test
