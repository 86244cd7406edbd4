// The stages of a scatter solve: each can be excluded, and each parameter changed.
#include "solvers/scatter/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "instances/scatter/verify/verify.h"
#include "solvers/solve.h"

namespace stowage::scatter_stages_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Fourteen sequences on eight devices, so that all stages of `auto` have work.
ScatterInstance step() {
  return {.name = "step",
          .cluster = {.devices = 8, .memory_mib = 1000, .degrees = {1, 2, 4, 8}},
          .model = {.states_mib = 100, .activation_mib_per_token = 1},
          .cost = {.quadratic_ms = 1e-4,
                   .linear_ms = 0.2,
                   .fixed_ms = 10,
                   .all_to_all = {.mib_per_token = 1, .mib_per_ms = {{2, 50}, {4, 40}, {8, 30}}}},
          .lengths = {2000, 1500, 900, 710, 555, 430, 320, 210, 120, 64, 333, 17, 1234, 99}};
}

Outcome solved(const SolveOptions& options, std::int64_t nodes = 60) {
  Budget budget({.node_limit = nodes});
  const ScatterInstance instance = step();
  Outcome outcome = solve(instance, options, budget);
  if (outcome.plan) {
    EXPECT_THAT(verify(instance, std::get<ScatterPlan>(*outcome.plan)), IsEmpty());
  }
  return outcome;
}

TEST(ScatterStages, EveryCourseNamesStagesThatThereAre) {
  const auto stages = scatter_stages();
  for (const Method& method : methods(step())) {
    const Course course = scatter_course(method.name, {});
    ASSERT_FALSE(course.empty());
    for (const Phase& phase : course) {
      for (const std::string_view name : phase.stages) {
        EXPECT_NE(std::ranges::find(stages, name, &Stage<ScatterContext>::name), stages.end())
            << name;
      }
    }
  }
}

TEST(ScatterStages, TheOutcomeTellsWhatEachStageGained) {
  const Outcome outcome = solved({});
  ASSERT_GT(outcome.stages.size(), 3u);
  EXPECT_EQ(outcome.stages.front().name, "first_plan");
  EXPECT_TRUE(outcome.stages.front().first_plan);
  std::int64_t nodes = 0;
  double gained = 0;
  for (const StageReport& stage : outcome.stages) {
    EXPECT_GE(stage.runs, 1) << stage.name;
    EXPECT_GE(stage.plan_gained, 0) << stage.name;
    nodes += stage.nodes;
    gained += stage.plan_gained;
  }
  EXPECT_EQ(nodes, outcome.nodes);
  const auto first = std::ranges::find_if(
      outcome.improvements, [](const Improvement& step) { return step.objective.has_value(); });
  ASSERT_NE(first, outcome.improvements.end());
  EXPECT_NEAR(*first->objective - gained, *outcome.objective, 1e-9 * *first->objective);
}

TEST(ScatterStages, EachCanBeLeftOut) {
  for (const StageInfo& stage : stages(step())) {
    for (const char* method : {"auto", "fast"}) {
      const Outcome outcome = solved({.method = method, .without = {stage.name}}, 12);
      EXPECT_TRUE(std::ranges::none_of(outcome.stages, [&](const StageReport& report) {
        return report.name == stage.name;
      })) << stage.name;
      const bool last = std::string(method) == "fast" && stage.name == "multistart";
      EXPECT_EQ(outcome.plan.has_value(), !last) << method << " without " << stage.name;
    }
  }
}

TEST(ScatterStages, WhatIsNoStageIsRefused) {
  const Outcome outcome = solved({.without = {"subset_dp", "nonsense"}});
  EXPECT_EQ(outcome.status, Status::error);
  ASSERT_EQ(outcome.errors.size(), 1u);
  EXPECT_EQ(outcome.errors.front().code, kUnknownStage);
  EXPECT_THAT(outcome.errors.front().message, HasSubstr("subset_dp"));
}

TEST(ScatterParameters, EachIsExplainedAndItsDefaultInRange) {
  const std::vector<ParameterInfo> all = parameters(step());
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

TEST(ScatterParameters, TheDefaultsChangeNothing) {
  SolveOptions options;
  for (const ParameterInfo& each : parameters(step())) {
    options.params.push_back({each.name, each.value});
  }
  const Outcome given = solved(options);
  const Outcome usual = solved({});
  EXPECT_EQ(given.objective, usual.objective);
  EXPECT_EQ(given.bound, usual.bound);
  EXPECT_EQ(given.nodes, usual.nodes);
}

TEST(ScatterParameters, EveryValueGivesAValidPlan) {
  for (const ParameterInfo& each : parameters(step())) {
    for (const double value : {each.least, std::min(each.most, 2 * each.value)}) {
      const Outcome outcome = solved({.params = {{each.name, value}}}, 8);
      EXPECT_TRUE(outcome.plan.has_value())
          << each.name << " = " << value << ": " << outcome.detail;
    }
  }
}

TEST(ScatterParameters, AValueIsUsed) {
  const Outcome few = solved({.params = {{"rounds.dives", 1}, {"rounds.bounds", 1}}});
  const Outcome many = solved({.params = {{"rounds.dives", 1000}, {"rounds.bounds", 1000}}});
  const auto runs = [](const Outcome& outcome, const std::string& stage) {
    const auto found = std::ranges::find(outcome.stages, stage, &StageReport::name);
    return found == outcome.stages.end() ? 0 : found->runs;
  };
  EXPECT_EQ(runs(many, "partial_reopt"), 0);
  EXPECT_EQ(runs(few, "partial_reopt") > 0, !built_backends().empty() && runs(few, "lns") > 0);
}

TEST(ScatterParameters, WhatIsNoParameterOrOutOfRangeIsRefused) {
  const Outcome outcome = solved({.params = {{"lns.moves", 0},
                                             {"lns.cycle", 1.5},
                                             {"lns.nonsense", 1},
                                             {"bounds.lps", 7},
                                             {"bounds.lps", 8}}});
  EXPECT_EQ(outcome.status, Status::error);
  ASSERT_EQ(outcome.errors.size(), 4u);
  for (const InputError& error : outcome.errors) EXPECT_EQ(error.code, kBadParameter);
  EXPECT_EQ(outcome.errors[0].pointer, "params/lns.moves");
  EXPECT_EQ(outcome.errors[0].message, "must be from 1 to 1e+07, is 0");
  EXPECT_EQ(outcome.errors[1].message, "must be a whole number from 1 to 1000, is 1.5");
  EXPECT_THAT(outcome.errors[2].message, HasSubstr("no parameter of scatter"));
  EXPECT_EQ(outcome.errors[3].message, "must be given once");
}

}  // namespace
}  // namespace stowage::scatter_stages_test
