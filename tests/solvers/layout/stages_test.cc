// The stages of a layout solve: each can be left out, and each parameter changed.
#include "solvers/layout/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "instances/layout/generate/generate.h"
#include "instances/layout/verify/verify.h"
#include "solvers/solve.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_stages_test {
namespace {

using ::testing::IsEmpty;
using ::testing::StartsWith;

// A rectangle cut into buffers: no heuristic finds its layout.
LayoutInstance tight() {
  auto made = generate_layout(
      {.kind = LayoutGenerator::Kind::guillotine, .buffers = 140, .steps = 40, .seed = 2});
  EXPECT_TRUE(made);
  return made->instance;
}

Outcome solved(const LayoutInstance& instance, const SolveOptions& options,
               std::int64_t nodes = 3'000) {
  Budget budget({.node_limit = nodes});
  Outcome outcome = solve(instance, options, budget);
  if (outcome.plan) {
    EXPECT_THAT(verify(instance, std::get<LayoutPlan>(*outcome.plan)), IsEmpty());
  }
  return outcome;
}

std::int64_t runs(const Outcome& outcome, const std::string& stage) {
  const auto found = std::ranges::find(outcome.stages, stage, &StageReport::name);
  return found == outcome.stages.end() ? 0 : found->runs;
}

TEST(LayoutStages, EveryCourseNamesStagesThatThereAre) {
  const auto known = layout_stages();
  for (const Method& method : methods(tight())) {
    for (const Phase& phase : layout_course(method.name)) {
      for (const std::string_view name : phase.stages) {
        EXPECT_NE(std::ranges::find(known, name, &Stage<LayoutContext>::name), known.end()) << name;
      }
    }
  }
}

TEST(LayoutStages, RoundsSearchAndLowerInTurn) {
  const Outcome outcome = solved(tight(), {.params = {{"rounds.nodes", 100}}});
  ASSERT_FALSE(outcome.stages.empty());
  EXPECT_EQ(outcome.stages.front().name, "height_refutation");
  for (const char* stage : {"short_search", "lowering"}) EXPECT_GT(runs(outcome, stage), 1);
  std::int64_t nodes = 0;
  for (const StageReport& stage : outcome.stages) nodes += stage.nodes;
  EXPECT_EQ(nodes, outcome.nodes);
}

TEST(LayoutStages, EachCanBeLeftOut) {
  for (const StageInfo& stage : stages(tight())) {
    for (const char* method : {"auto", "fast"}) {
      const Outcome outcome = solved(tight(), {.method = method, .without = {stage.name}});
      EXPECT_EQ(runs(outcome, stage.name), 0) << stage.name;
      const bool only = std::string(method) == "fast" && stage.name == "heuristic";
      EXPECT_EQ(outcome.plan.has_value(), !only) << method << " without " << stage.name;
    }
  }
}

// A bound that is left out is missed at most: plans stay valid and bounds below them.
TEST(LayoutStages, WhatIsLeftOutMakesNoBoundFalse) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const LayoutInstance instance = tiny_layout(seed);
    const Outcome whole = solved(instance, {});
    for (const StageInfo& stage : stages(instance)) {
      const Outcome outcome = solved(instance, {.without = {stage.name}}, 500);
      const bool refuted =
          whole.status == Status::infeasible || outcome.status == Status::infeasible;
      EXPECT_FALSE(refuted && (whole.plan || outcome.plan)) << stage.name;
      if (!outcome.plan || !whole.plan) continue;
      EXPECT_GE(*outcome.objective, whole.bound) << stage.name;
      EXPECT_LE(outcome.bound, *whole.objective) << stage.name;
    }
  }
}

TEST(LayoutParameters, EachIsExplainedAndItsDefaultInRange) {
  const std::vector<ParameterInfo> all = parameters(tight());
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

TEST(LayoutParameters, TheDefaultsChangeNothing) {
  SolveOptions options;
  for (const ParameterInfo& each : parameters(tight())) {
    options.params.push_back({each.name, each.value});
  }
  const Outcome given = solved(tight(), options);
  const Outcome usual = solved(tight(), {});
  EXPECT_EQ(given.objective, usual.objective);
  EXPECT_EQ(given.bound, usual.bound);
  EXPECT_EQ(given.nodes, usual.nodes);
}

TEST(LayoutParameters, EveryValueGivesAValidPlan) {
  for (const ParameterInfo& each : parameters(tight())) {
    for (const double value : {each.least, std::min(each.most, 2 * each.value)}) {
      const Outcome outcome = solved(tight(), {.params = {{each.name, value}}}, 500);
      EXPECT_TRUE(outcome.plan.has_value())
          << each.name << " = " << value << ": " << outcome.detail;
    }
  }
}

TEST(LayoutParameters, AValueIsUsed) {
  EXPECT_EQ(runs(solved(tight(), {.params = {{"rounds.searched", 10}}}), "short_search"), 0);
  EXPECT_GE(runs(solved(tight(), {}), "short_search"), 1);
}

}  // namespace
}  // namespace stowage::layout_stages_test
