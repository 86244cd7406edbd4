// The loop over named stages: the conditions of a stage, its budget, and its record.
#include "solvers/stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan_builder.h"

namespace stowage::stage_test {
namespace {

using ::testing::ElementsAre;

// Two devices, 1 ms per token and device, 3 ms per group.
const ScatterInstance kStep{.cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
                            .model = {.activation_mib_per_token = 1},
                            .cost = {.linear_ms = 1, .fixed_ms = 3},
                            .lengths = {40, 40}};

struct LoopContext : SolveContext<ScatterInstance> {
  bool stop = false;
  std::vector<std::string> ran = {};
  std::uint64_t most_rounds = kUntilLimit;
  bool done() const { return stop; }
  bool end_round() const { return repeats && round + 1 >= most_rounds; }
};

std::optional<StoppedBy> slow_plan(LoopContext& context, Budget&) {
  context.ran.emplace_back("slow");
  context.incumbent.offer(compose_plan(kStep, {{{1, {0}}}, {{1, {1}}}}), 'H', "slow");
  return std::nullopt;
}

std::optional<StoppedBy> fast_plan(LoopContext& context, Budget& part) {
  context.ran.emplace_back("fast");
  part.count_nodes(5);
  context.incumbent.offer(compose_plan(kStep, {{{1, {0}}, {1, {1}}}}), 'H', "fast");
  context.incumbent.raise_bound({"fast", 40});
  return std::nullopt;
}

std::optional<StoppedBy> prove(LoopContext& context, Budget&) {
  context.ran.emplace_back("prove");
  return StoppedBy::proof;
}

std::optional<StoppedBy> finish(LoopContext& context, Budget&) {
  context.ran.emplace_back("finish");
  context.stop = true;
  return std::nullopt;
}

std::optional<StoppedBy> idle(LoopContext& context, Budget&) {
  context.ran.emplace_back("idle");
  return std::nullopt;
}

std::optional<StoppedBy> use_up(LoopContext& context, Budget& part) {
  context.ran.emplace_back("use_up");
  EXPECT_LE(part.limits().time_limit_s, 50);
  part.count_nodes(part.nodes_left());
  return std::nullopt;
}

bool exhausted(const LoopContext& context) { return context.budget.exhausted(); }
bool never(const LoopContext&) { return false; }
double half(const LoopContext&) { return 0.5; }

const std::vector<Stage<LoopContext>> kStages = {
    {"slow", "a plan", slow_plan},
    {"fast", "a better plan and a bound", fast_plan, {.needs = Needs::plan}},
    {"first", "another first plan", slow_plan, {.needs = Needs::no_plan}},
    {"never", "a stage whose condition fails", prove, {.when = never}},
    {"prove", "a proof", prove},
    {"finish", "the end", finish},
    {"idle", "nothing", idle},
    {"use_up", "all nodes", use_up, {.share = half}},
    {"rescue",
     "a plan after the end",
     slow_plan,
     {.needs = Needs::no_plan, .when = exhausted, .even_if_done = true}},
};

class StageLoopTest : public ::testing::Test {
 protected:
  StoppedBy run(const Course& course) {
    return StageLoop<LoopContext>(kStages, context_, reports_).run(course);
  }

  SolveOptions options_;
  Budget budget_{{.time_limit_s = 100, .node_limit = 1000}};
  Incumbent<ScatterInstance> incumbent_{kStep, budget_, {}};
  LoopContext context_{{kStep, options_, budget_, incumbent_}};
  std::vector<StageReport> reports_;
};

TEST_F(StageLoopTest, RunsInOrderAndRecordsWhatEachGained) {
  EXPECT_EQ(run({{{"fast", "slow", "first", "fast"}}}), StoppedBy::heuristic_end);
  // neither runs without a plan, nor a second time
  EXPECT_THAT(context_.ran, ElementsAre("slow", "fast"));
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_EQ(reports_[0].name, "slow");
  EXPECT_TRUE(reports_[0].first_plan);
  EXPECT_EQ(reports_[0].plan_gained, 0);
  EXPECT_EQ(reports_[1].name, "fast");
  EXPECT_EQ(reports_[1].runs, 1);
  EXPECT_EQ(reports_[1].nodes, 5);
  EXPECT_FALSE(reports_[1].first_plan);
  EXPECT_EQ(reports_[1].plan_gained, 86 - 43);
  EXPECT_EQ(reports_[1].bound_gained, 40);
}

TEST_F(StageLoopTest, AStageEndsTheSolveOrIsTheLast) {
  EXPECT_EQ(run({{{"never", "prove", "slow"}}}), StoppedBy::proof);
  EXPECT_THAT(context_.ran, ElementsAre("prove"));
  context_.ran.clear();
  EXPECT_EQ(run({{{"finish", "prove"}}, {{"prove"}}}), StoppedBy::heuristic_end);
  EXPECT_THAT(context_.ran, ElementsAre("finish"));
}

TEST_F(StageLoopTest, LeavesOutWhatTheOptionsName) {
  options_.without = {"slow", "prove"};
  EXPECT_EQ(run({{{"slow", "idle", "prove"}}}), StoppedBy::heuristic_end);
  EXPECT_THAT(context_.ran, ElementsAre("idle"));
}

TEST_F(StageLoopTest, AShareOfTheTimeAndARescue) {
  EXPECT_EQ(run({{{"rescue", "use_up", "rescue"}}}), StoppedBy::heuristic_end);
  EXPECT_THAT(context_.ran, ElementsAre("use_up", "slow"));
  EXPECT_EQ(budget_.nodes(), 1000);
}

TEST_F(StageLoopTest, ARescueRunsThoughTheSolveIsDone) {
  budget_.count_nodes(1000);
  context_.stop = true;
  EXPECT_EQ(run({{{"idle", "rescue", "idle"}}}), StoppedBy::heuristic_end);
  EXPECT_THAT(context_.ran, ElementsAre("slow"));
}

TEST_F(StageLoopTest, RoundsEndWhereNothingIsLeftToDo) {
  run({{{"idle"}, 3}});
  EXPECT_EQ(context_.round, 3u);
  EXPECT_EQ(reports_.front().runs, 3);
  run({{{"idle"}, kUntilLimit}});
  EXPECT_LT(context_.round, 100u);
}

TEST_F(StageLoopTest, TheContextEndsRoundsAndTheCourseGoesOn) {
  context_.most_rounds = 2;
  EXPECT_EQ(run({{{"idle"}, kUntilLimit}, {{"slow"}}}), StoppedBy::heuristic_end);
  EXPECT_THAT(context_.ran, ElementsAre("idle", "idle", "slow"));
}

TEST_F(StageLoopTest, ARescueRunsInALaterPhaseToo) {
  budget_.count_nodes(1000);
  EXPECT_EQ(run({{{"finish", "idle"}, kUntilLimit}, {{"idle", "rescue"}}}),
            StoppedBy::heuristic_end);
  EXPECT_THAT(context_.ran, ElementsAre("finish", "slow"));
}

}  // namespace
}  // namespace stowage::stage_test
