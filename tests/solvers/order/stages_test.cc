// The stages of an order solve: each can be left out, and each parameter changed.
#include "solvers/order/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "instances/order/generate/generate.h"
#include "instances/order/verify/verify.h"
#include "solvers/solve.h"
#include "tests/tiny_order.h"
#include "tests/tiny_rerun.h"

namespace stowage::order_stages_test {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::StartsWith;

OrderInstance generated(OrderGenerator::Kind kind, std::int64_t operators) {
  auto made = generate_order({.kind = kind, .operators = operators, .seed = 3});
  EXPECT_TRUE(made);
  return *made;
}

// No heuristic finds its best order.
OrderInstance wired() { return generated(OrderGenerator::Kind::layered, 40); }

Outcome solved(const OrderInstance& instance, const SolveOptions& options,
               std::int64_t nodes = 20'000) {
  Budget budget({.node_limit = nodes});
  Outcome outcome = solve(instance, options, budget);
  if (outcome.plan) {
    EXPECT_THAT(verify(instance, std::get<OrderPlan>(*outcome.plan)), IsEmpty());
  }
  return outcome;
}

std::int64_t runs(const Outcome& outcome, const std::string& stage) {
  const auto found = std::ranges::find(outcome.stages, stage, &StageReport::name);
  return found == outcome.stages.end() ? 0 : found->runs;
}

template <class Context>
void expect_known(const Course& course, std::span<const Stage<Context>> known) {
  for (const Phase& phase : course) {
    for (const std::string_view name : phase.stages) {
      EXPECT_NE(std::ranges::find(known, name, &Stage<Context>::name), known.end()) << name;
    }
  }
}

TEST(OrderStages, EveryCourseNamesStagesThatThereAre) {
  for (const char* method : {"auto", "exact", "checkmate", "memo", "fast"}) {
    expect_known(order_course(method, {}), order_stages());
    expect_known(rerun_course(method, {}), rerun_stages());
    expect_known(length_course(method), length_stages());
  }
}

TEST(OrderStages, TheListHoldsEachOnce) {
  std::vector<std::string> names;
  for (const StageInfo& stage : stages(OrderInstance{})) names.push_back(stage.name);
  for (const char* one : {"search_below", "rerun_search", "row_ends"}) {
    EXPECT_THAT(names, Contains(one).Times(1));
  }
  EXPECT_THAT(names, Contains("heuristic").Times(1));
}

TEST(OrderStages, TheOutcomeTellsWhatEachDid) {
  const Outcome outcome = solved(wired(), {});
  ASSERT_FALSE(outcome.stages.empty());
  EXPECT_EQ(outcome.stages.front().name, "program");
  EXPECT_TRUE(outcome.stages.front().first_plan);
  std::int64_t nodes = 0;
  for (const StageReport& stage : outcome.stages) nodes += stage.nodes;
  EXPECT_EQ(nodes, outcome.nodes);
}

// A bound that is left out is missed at most: plans stay valid and bounds below them.
TEST(OrderStages, EachCanBeLeftOut) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const OrderInstance instance = seed % 2 == 0 ? tiny_order(seed) : tiny_rerun(seed);
    const Outcome whole = solved(instance, {}, 2'000);
    for (const StageInfo& stage : stages(instance)) {
      const Outcome outcome = solved(instance, {.without = {stage.name}}, 500);
      EXPECT_EQ(runs(outcome, stage.name), 0);
      const bool refuted =
          whole.status == Status::infeasible || outcome.status == Status::infeasible;
      EXPECT_FALSE(refuted && (whole.plan || outcome.plan)) << stage.name;
      if (!outcome.plan || !whole.plan) continue;
      EXPECT_GE(*outcome.objective, whole.bound * (1 - 1e-9)) << stage.name;
      EXPECT_LE(outcome.bound, *whole.objective * (1 + 1e-9)) << stage.name;
    }
  }
}

TEST(OrderStages, OneOfTheFirstOrdersIsEnough) {
  for (const char* kept : {"program", "commit", "list", "depth_first"}) {
    std::vector<std::string> without = {"program", "commit", "list", "depth_first"};
    std::erase(without, kept);
    EXPECT_TRUE(solved(wired(), {.without = without}).plan) << kept;
  }
  const SolveOptions none = {.without = {"program", "commit", "list", "depth_first"}};
  EXPECT_FALSE(solved(wired(), none).plan);
}

TEST(OrderParameters, EachIsExplainedAndItsDefaultInRange) {
  const std::vector<ParameterInfo> all = parameters(OrderInstance{});
  EXPECT_GE(all.size(), 20u);
  EXPECT_LE(all.size(), 40u) << "derive the rest, or fix it with a sentence";
  std::set<std::string> names;
  for (const ParameterInfo& each : all) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_LE(each.least, each.value) << each.name;
    EXPECT_GE(each.most, each.value) << each.name;
    EXPECT_THAT(each.effect, StartsWith("More: ")) << each.name;
    EXPECT_FALSE(each.unit.empty() || each.evidence.empty()) << each.name;
  }
}

TEST(OrderParameters, TheDefaultsChangeNothing) {
  SolveOptions options;
  for (const ParameterInfo& each : parameters(OrderInstance{})) {
    options.params.push_back({each.name, each.value});
  }
  const Outcome given = solved(wired(), options);
  const Outcome usual = solved(wired(), {});
  EXPECT_EQ(given.objective, usual.objective);
  EXPECT_EQ(given.bound, usual.bound);
  EXPECT_EQ(given.nodes, usual.nodes);
}

TEST(OrderParameters, EveryValueGivesAValidPlan) {
  for (const OrderInstance& instance :
       {wired(), generated(OrderGenerator::Kind::vgg, 20), tiny_rerun(5)}) {
    for (const ParameterInfo& each : parameters(instance)) {
      for (const double value : {each.least, std::min(each.most, 2 * each.value)}) {
        const Outcome outcome = solved(instance, {.params = {{each.name, value}}}, 500);
        EXPECT_TRUE(outcome.plan || outcome.status == Status::infeasible)
            << each.name << " = " << value << ": " << outcome.detail;
      }
    }
  }
}

TEST(OrderParameters, AValueIsUsed) {
  const OrderInstance instance = generated(OrderGenerator::Kind::layered, 100);
  const SolveOptions one_round = {.params = {{"rounds.most_states", 1'000}}};
  EXPECT_EQ(runs(solved(instance, one_round, 40'000), "stretches"), 1);
  EXPECT_GT(runs(solved(instance, {}, 40'000), "stretches"), 1);
}

}  // namespace
}  // namespace stowage::order_stages_test
