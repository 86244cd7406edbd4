#include "solvers/plan_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "instances/json.h"
#include "tests/tiny_scatter.h"

namespace stowage {
namespace {

// The first `count` random tiny steps, one after another.
std::function<std::optional<StreamStep>()> tiny_steps(std::int64_t count) {
  return [count, index = std::int64_t{0}]() mutable -> std::optional<StreamStep> {
    if (index == count) return std::nullopt;
    StreamStep step{index, tiny_scatter(static_cast<std::uint64_t>(index))};
    ++index;
    return step;
  };
}

std::string answers(int threads) {
  std::string text;
  plan_stream(tiny_steps(200), {.method = "fast"}, {}, threads, [&](PlannedStep&& step) {
    text += std::to_string(step.index) + ' ' + std::string(to_string(step.outcome.status)) + '\n';
    if (step.outcome.plan) {
      text += write_scatter_plan(std::get<ScatterPlan>(*step.outcome.plan));
    }
    return true;
  });
  return text;
}

TEST(PlanStream, HandsOutTheSameInOrderOnAnyNumberOfThreads) {
  const std::string alone = answers(1);
  EXPECT_THAT(alone, testing::StartsWith("0 "));
  EXPECT_THAT(alone, testing::HasSubstr("\n199 "));
  EXPECT_EQ(answers(2), alone);
  EXPECT_EQ(answers(7), alone);
}

TEST(PlanStream, EachStepIsWhatSolveSaysOfIt) {
  plan_stream(tiny_steps(20), {.method = "fast"}, {}, 3, [](PlannedStep&& step) {
    Budget budget;
    const Outcome alone = solve(step.instance, {.method = "fast"}, budget);
    EXPECT_EQ(step.outcome.plan, alone.plan);
    EXPECT_EQ(step.outcome.bound, alone.bound);
    return true;
  });
}

TEST(PlanStream, EndsWhenNobodyTakesAnyMore) {
  std::int64_t asked = 0;
  std::int64_t taken = 0;
  auto steps = tiny_steps(1000);
  plan_stream([&] { return ++asked, steps(); }, {.method = "fast"}, {}, 2,
              [&](PlannedStep&&) { return ++taken < 5; });
  EXPECT_EQ(taken, 5);
  EXPECT_LE(asked, 5 + 2 * 2);  // the look-ahead and no more
}

TEST(PlanStream, PassesOnWhatTheSourceThrows) {
  auto steps = tiny_steps(3);
  const auto broken = [&]() -> std::optional<StreamStep> {
    auto step = steps();
    if (!step) throw std::runtime_error("the disk is gone");
    return step;
  };
  EXPECT_THROW(plan_stream(broken, {.method = "fast"}, {}, 2, [](PlannedStep&&) { return true; }),
               std::runtime_error);
}

TEST(PlanStream, NothingComesOfNothing) {
  plan_stream([] { return std::optional<StreamStep>(); }, {}, {}, 4,
              [](PlannedStep&&) {
                ADD_FAILURE();
                return true;
              });
}

}  // namespace
}  // namespace stowage
