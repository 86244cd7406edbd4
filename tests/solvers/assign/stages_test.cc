// The stages of an assign solve: each can be excluded.
#include "solvers/assign/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "instances/assign/verify/verify.h"
#include "solvers/solve.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_stages_test {
namespace {

using ::testing::IsEmpty;

TEST(AssignStages, EveryCourseNamesStagesThatThereAre) {
  const auto known = assign_stages();
  for (const Method& method : methods(tiny_assign(1))) {
    for (const Phase& phase : assign_course(method.name)) {
      for (const std::string_view name : phase.stages) {
        EXPECT_NE(std::ranges::find(known, name, &Stage<AssignContext>::name), known.end()) << name;
      }
    }
  }
}

// The bound may be lower without a stage, but plans stay valid and bounds below them.
TEST(AssignStages, EachCanBeLeftOut) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const AssignInstance instance = tiny_assign(seed);
    Budget usual({.node_limit = 50});
    const Outcome whole = solve(instance, {}, usual);
    for (const StageInfo& stage : stages(instance)) {
      Budget budget({.node_limit = 50});
      const Outcome outcome = solve(instance, {.without = {stage.name}}, budget);
      if (outcome.plan && whole.plan) {
        EXPECT_THAT(verify(instance, std::get<AssignPlan>(*outcome.plan)), IsEmpty()) << stage.name;
        EXPECT_GE(*outcome.objective, whole.bound * (1 - 1e-9)) << stage.name;
        EXPECT_LE(outcome.bound, *whole.objective * (1 + 1e-9)) << stage.name;
      }
      EXPECT_TRUE(std::ranges::none_of(outcome.stages, [&](const StageReport& report) {
        return report.name == stage.name;
      })) << stage.name;
    }
  }
}

// No value of a parameter makes an outcome false. The greatest values would take hours.
TEST(AssignStages, EachParameterCanBeChanged) {
  for (const std::uint64_t seed : {1, 4}) {
    const AssignInstance instance = tiny_assign(seed);
    Budget usual({.node_limit = 50});
    const Outcome whole = solve(instance, {}, usual);
    ASSERT_TRUE(whole.plan);
    for (const ParameterInfo& each : parameters(instance)) {
      for (const double value : {each.least, std::min(each.most, 2 * each.value)}) {
        for (const char* method : {"auto", "fast"}) {
          Budget budget({.time_limit_s = 20, .node_limit = 50});
          const Outcome outcome =
              solve(instance, {.method = method, .params = {{each.name, value}}}, budget);
          ASSERT_THAT(outcome.errors, IsEmpty()) << each.name;
          ASSERT_TRUE(outcome.plan) << each.name;
          EXPECT_THAT(verify(instance, std::get<AssignPlan>(*outcome.plan)), IsEmpty())
              << each.name;
          EXPECT_GE(*outcome.objective, whole.bound * (1 - 1e-9)) << each.name;
          EXPECT_LE(outcome.bound, *whole.objective * (1 + 1e-9)) << each.name;
        }
      }
    }
  }
}

// A step in chunks runs in stages of its own.
TEST(AssignStages, ChunksHaveTheirOwn) {
  int planned = 0;
  int unproven = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    AssignInstance instance = tiny_assign(seed);
    instance.constraints = {.chunks = ChunkRule{.size = 16}};
    Budget budget({.node_limit = 50});
    const Outcome outcome = solve(instance, {}, budget);
    if (!outcome.plan) continue;
    ++planned;
    EXPECT_EQ(outcome.stages[0].name, "chunk_rows");
    EXPECT_TRUE(outcome.stages[0].first_plan);
    if (outcome.stages.size() > 1) {
      ++unproven;
      EXPECT_EQ(outcome.stages[1].name, "chunk_flow");
    }
    Budget again({.node_limit = 50});
    const Outcome other = solve(instance, {.without = {"chunk_rows"}}, again);
    EXPECT_EQ(other.stages.front().name, "chunk_flow");
    if (other.plan) {
      EXPECT_THAT(verify(instance, std::get<AssignPlan>(*other.plan)), IsEmpty()) << seed;
    }
  }
  EXPECT_GT(planned, 0);
  EXPECT_GT(unproven, 0);
}

}  // namespace
}  // namespace stowage::assign_stages_test
