#include "instances/budget.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace stowage::budget_test {
namespace {

constexpr auto kNap = std::chrono::milliseconds(100);

TEST(Budget, OfWallClockPassesInSleep) {
  const Budget budget({.time_limit_s = 0.05});
  std::this_thread::sleep_for(kNap);
  EXPECT_EQ(budget.stop_reason(), StopReason::time_limit);
}

TEST(Budget, OfCpuTimePassesInWorkOnly) {
  Budget budget({.time_limit_s = 0.05, .clock = BudgetClock::cpu});
  Budget part = budget.part(1, 1000);
  std::this_thread::sleep_for(kNap);
  EXPECT_EQ(budget.stop_reason(), StopReason::none);
  EXPECT_EQ(part.stop_reason(), StopReason::none);
  while (!budget.exhausted()) {
  }
  EXPECT_EQ(budget.stop_reason(), StopReason::time_limit);
  EXPECT_EQ(part.stop_reason(), StopReason::time_limit);
}

TEST(Budget, OfLooksPassesWhenLookedAt) {
  const Budget budget({.time_limit_s = 4e-6, .clock = BudgetClock::looks});
  std::this_thread::sleep_for(kNap);
  int looks = 0;
  while (!budget.exhausted()) ++looks;
  EXPECT_EQ(looks, 3);
}

TEST(Budget, PartsCountTheirNodesInTheWhole) {
  Budget budget({.node_limit = 10});
  Budget part = budget.part(1, 100);
  EXPECT_EQ(part.nodes_left(), 10);
  part.count_nodes(10);
  EXPECT_EQ(budget.stop_reason(), StopReason::node_limit);
}

}  // namespace
}  // namespace stowage::budget_test
