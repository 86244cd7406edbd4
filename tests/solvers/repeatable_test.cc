// Results do not depend on concurrent work: mixed instances are solved alone, by several threads at
// a time, and sixty-four at once in one process.
//
// STOWAGE_LONG=1 takes a thousand instances instead of a few dozen.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "instances/assign/json/json.h"
#include "instances/layout/json/json.h"
#include "instances/order/json/json.h"
#include "instances/scatter/json/json.h"
#include "instances/strategy/json/json.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_order.h"
#include "tests/tiny_scatter.h"
#include "tests/tiny_strategy.h"

namespace stowage::repeatable_test {
namespace {

Instance mixed(int k) {
  const auto seed = static_cast<std::uint64_t>(k);
  switch (k % 5) {
    case 0:
      return tiny_scatter(seed, 12);
    case 1:
      return tiny_assign(seed, 12);
    case 2:
      return tiny_order(seed, 12);
    case 3:
      return tiny_strategy(seed, 12);
    default:
      return tiny_layout(seed, 12);
  }
}

std::string plan_bytes(const ScatterPlan& plan) { return write_scatter_plan(plan); }
std::string plan_bytes(const AssignPlan& plan) { return write_assign_plan(plan); }
std::string plan_bytes(const LayoutPlan& plan) { return write_layout_plan(plan); }
std::string plan_bytes(const OrderPlan& plan) { return write_order_plan(plan); }
std::string plan_bytes(const StrategyPlan& plan) { return write_strategy_plan(plan); }

// Returns all parts of an answer that do not depend on a clock.
std::string answer(int k, const char* method) {
  Budget budget({.node_limit = 40});
  const Outcome outcome = solve(mixed(k), {.method = method, .seed = 11}, budget);
  std::string text = std::string(to_string(outcome.status)) + ' ' +
                     std::string(to_string(outcome.stopped_by)) + ' ' + outcome.bound_by + ' ' +
                     std::to_string(outcome.nodes) + ' ' + outcome.detail + '\n';
  for (const Improvement& better : outcome.improvements) {
    text +=
        better.by + ' ' + std::to_string(better.bound) + ' ' + std::to_string(better.nodes) + '\n';
  }
  if (outcome.plan) {
    text += std::visit([](const auto& plan) { return plan_bytes(plan); }, *outcome.plan);
  }
  return text;
}

// Solves every instance with `threads` threads, each of which takes the next instance.
std::vector<std::string> answers(int count, int threads, const char* method) {
  std::vector<std::string> all(static_cast<std::size_t>(count));
  std::atomic<int> next = 0;
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        for (int k = next++; k < count; k = next++) {
          all[static_cast<std::size_t>(k)] = answer(k, method);
        }
      });
    }
  }
  return all;
}

void expect_equal(const std::vector<std::string>& some, const std::vector<std::string>& others) {
  ASSERT_EQ(some.size(), others.size());
  for (std::size_t k = 0; k < some.size(); ++k) EXPECT_EQ(some[k], others[k]) << "instance " << k;
}

TEST(Repeatable, OnAnyNumberOfThreads) {
  for (const char* method : {"fast", "auto"}) {
    SCOPED_TRACE(method);
    const int count = in_long_run(45, 1000);
    const std::vector<std::string> alone = answers(count, 1, method);
    for (const int threads : {1, 2, 4}) {
      SCOPED_TRACE(threads);
      expect_equal(alone, answers(count, threads, method));
    }
  }
}

TEST(Repeatable, SixtyFourAtOnce) {
  const int count = in_long_run(64, 640);
  expect_equal(answers(count, 1, "auto"), answers(count, 64, "auto"));
}

}  // namespace
}  // namespace stowage::repeatable_test
