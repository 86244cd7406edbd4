#include "solvers/plan_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>

#include "instances/scatter/json/json.h"
#include "tests/tiny_scatter.h"

namespace stowage::plan_stream_test {
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
  EXPECT_LE(asked, 5 + 2 * 2);  // the look-ahead and no further steps
}

// A training job requests the next batch only after it has the plan of the current one.
TEST(PlanStream, ASourceMayWaitForThePlanBefore) {
  for (const int threads : {1, 3}) {
    std::mutex mutex;
    std::condition_variable changed;
    std::int64_t taken = 0;
    bool late = false;
    auto steps = tiny_steps(5);
    std::int64_t asked = 0;
    plan_stream(
        [&] {
          std::unique_lock lock(mutex);
          late |= !changed.wait_for(lock, std::chrono::minutes(5), [&] { return taken == asked; });
          ++asked;
          return steps();
        },
        {.method = "fast"}, {}, threads,
        [&](PlannedStep&&) {
          const std::lock_guard lock(mutex);
          ++taken;
          changed.notify_all();
          return true;
        });
    EXPECT_FALSE(late);
    EXPECT_EQ(taken, 5);
  }
}

TEST(PlanStream, PassesOnWhatTheTakerThrows) {
  EXPECT_THROW(plan_stream(tiny_steps(50), {.method = "fast"}, {}, 2,
                           [](PlannedStep&& step) -> bool {
                             if (step.index == 3) throw std::runtime_error("the reader is gone");
                             return true;
                           }),
               std::runtime_error);
}

TEST(PlanStream, HandsOutWhatWasReadBeforeTheSourceBroke) {
  auto steps = tiny_steps(3);
  std::int64_t taken = 0;
  const auto broken = [&]() -> std::optional<StreamStep> {
    auto step = steps();
    if (!step) throw std::runtime_error("the disk is gone");
    return step;
  };
  EXPECT_THROW(
      plan_stream(broken, {.method = "fast"}, {}, 2, [&](PlannedStep&&) { return ++taken > 0; }),
      std::runtime_error);
  EXPECT_EQ(taken, 3);
}

TEST(PlanStream, NothingComesOfNothing) {
  plan_stream([] { return std::optional<StreamStep>(); }, {}, {}, 4,
              [](PlannedStep&&) {
                ADD_FAILURE();
                return true;
              });
}

}  // namespace
}  // namespace stowage::plan_stream_test
