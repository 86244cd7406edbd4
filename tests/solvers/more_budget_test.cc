// A larger budget never gives a worse plan, for the methods of every family. The limits count nodes
// or readings of the clock, so that each run is cut at the same place every time.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "instances/assign/generate/generate.h"
#include "instances/layout/generate/generate.h"
#include "instances/order/generate/generate.h"
#include "instances/scatter/generate/generate.h"
#include "solvers/solve.h"
#include "tests/chunked_assign.h"
#include "tests/long_run.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_host.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_order.h"
#include "tests/tiny_rerun.h"
#include "tests/tiny_scatter.h"
#include "tests/tiny_strategy.h"

namespace stowage::more_budget_test {
namespace {

constexpr double kRounding = 1e-12;  // rounding error of sums computed in another order
constexpr std::int64_t kNodes[] = {0, 1, 10, 100, 400};
const std::set<std::string> kRules = {"greedy-size", "first-fit", "best-fit-spatial",
                                      "best-fit-temporal", "best-fit"};  // of layout
// Numbers of readings of the clock.
constexpr int kLooks[] = {0, 1, 3, 8, 20, 50, 130, 300, 700, 3000};

// The value that a solve makes as small as it can: the end of the 1F1B schedule of scatter plans
// with pipeline stages, by which these are chosen, or else the objective.
std::optional<double> value_of(const Outcome& outcome) {
  const auto* plan = outcome.plan ? std::get_if<ScatterPlan>(&*outcome.plan) : nullptr;
  if (plan != nullptr && plan->simulated_1f1b_ms > 0) return plan->simulated_1f1b_ms;
  return outcome.objective;
}

// A search that a clock cuts may end with a plan that a longer search never meets, and that ends a
// little earlier under the schedule. Limits of nodes are exact: scatter/pipeline_test.cc.
constexpr double kCutSearch = 0.01;

double rounding_of(const Outcome& outcome) {
  return value_of(outcome) == outcome.objective ? kRounding : kCutSearch;
}

// The outcomes of one method, in the order of its limits.
void expect_no_worse(const std::vector<Outcome>& outcomes) {
  std::optional<double> least;
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    const Outcome& outcome = outcomes[k];
    if (!outcome.objective) {
      EXPECT_FALSE(least) << "limit " << k << " lost the plan: " << outcome.detail;
      continue;
    }
    const std::optional<double> value = value_of(outcome);
    if (least) {
      EXPECT_LE(*value, *least * (1 + rounding_of(outcome))) << "limit " << k;
    }
    least = value;
  }
}

void expect_no_worse(const Instance& instance) {
  for (const Method& method : methods(instance)) {
    // Published methods and single rules are references: at their regular end they return their own
    // plan, even if the plan found with limit 0 is better.
    if (method.kind == MethodKind::baseline || kRules.contains(method.name)) continue;
    SCOPED_TRACE(method.name);
    std::vector<Outcome> outcomes;
    for (const int looks : kLooks) {
      Budget budget(
          {.time_limit_s = 1e-6 * looks, .node_limit = 4000, .clock = BudgetClock::looks});
      outcomes.push_back(solve(instance, {.method = method.name}, budget));
    }
    expect_no_worse(outcomes);
    // A method that counts no node before its end is never cut by a limit above 0.
    const bool counts_none =
        outcomes.back().nodes == 0 && outcomes.back().stopped_by != StoppedBy::time_limit;
    outcomes.clear();
    for (const std::int64_t nodes : kNodes) {
      if (counts_none && nodes > 0) break;
      Budget budget({.time_limit_s = 0.03, .node_limit = nodes, .clock = BudgetClock::looks});
      outcomes.push_back(solve(instance, {.method = method.name}, budget));
    }
    expect_no_worse(outcomes);
  }
}

TEST(MoreBudget, TinySteps) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    expect_no_worse(tiny_assign(seed, 12));
    expect_no_worse(tiny_scatter(seed, 12));
    expect_no_worse(tiny_layout(seed, 12));
    expect_no_worse(tiny_order(seed, 10));
    expect_no_worse(tiny_rerun(seed));
    expect_no_worse(tiny_strategy(seed));
  }
}

// Plans are compared by the step time after the repair of rules and the choice of group forms. The
// shorter of two packings may be the longer one after the repair.
TEST(MoreBudget, ScatterStepsWithFormsToChoose) {
  const auto climb = [](const ScatterInstance& step) {
    std::vector<Outcome> outcomes;
    for (double looks = 4; looks < 2500; looks *= 1.4) {
      Budget budget({.time_limit_s = 1e-6 * std::floor(looks), .clock = BudgetClock::looks});
      outcomes.push_back(solve(step, {.method = "fast"}, budget));
    }
    SCOPED_TRACE(step.name);
    expect_no_worse(outcomes);
  };
  for (const std::uint64_t seed : {4U, 16U, 20U, 28U, 43U, 47U}) {
    climb(tiny_recomputing_scatter(seed, 40, 16));
  }
  climb(tiny_full_scatter(50, 40, 16));
}

// Ten instances of all families.
std::vector<Instance> ten_of_all_families(std::uint64_t seed) {
  return {tiny_scatter(seed, 16),       tiny_recomputing_scatter(seed, 16),
          tiny_kinds_scatter(seed, 16), tiny_pipeline_scatter(seed, 16),
          tiny_assign(seed, 16),        tiny_layout(seed, 14),
          tiny_order(seed, 12),         tiny_host(seed),
          tiny_strategy(seed),          tiny_experts(seed)};
}

// Solves forty instances of all families under limits that grow: one ladder each.
void climb_forty(const std::string& method, const std::vector<Budget::Limits>& ladder) {
  for (std::uint64_t seed = 100; seed < 104; ++seed) {
    for (const Instance& instance : ten_of_all_families(seed)) {
      std::vector<Outcome> outcomes;
      for (const Budget::Limits& limits : ladder) {
        Budget budget(limits);
        outcomes.push_back(solve(instance, {.method = method}, budget));
      }
      SCOPED_TRACE(method + ", family " + std::to_string(instance.index()) + ", seed " +
                   std::to_string(seed));
      expect_no_worse(outcomes);
    }
  }
}

TEST(MoreBudget, FortyLaddersOfNodes) {
  std::vector<Budget::Limits> ladder;
  const double growth = in_long_run(4, 2);
  for (double nodes = 1; nodes <= in_long_run(64, 4096); nodes *= growth) {
    ladder.push_back({.time_limit_s = in_long_run(3, 20) * 1e-3,
                      .node_limit = static_cast<std::int64_t>(nodes),
                      .clock = BudgetClock::looks});
  }
  climb_forty("auto", ladder);
}

// The limits are readings of the clock, so that a run is cut at the same place every time.
TEST(MoreBudget, FortyLaddersOfTime) {
  std::vector<Budget::Limits> ladder;
  const double growth = in_long_run(60, 15) / 10.0;
  for (double looks = 5; looks <= in_long_run(1200, 3000); looks *= growth) {
    ladder.push_back({.time_limit_s = 1e-6 * std::floor(looks), .clock = BudgetClock::looks});
  }
  climb_forty("fast", ladder);
  climb_forty("auto", ladder);
}

// The limits are seconds, so that runs are cut at varying places.
TEST(MoreBudget, FortyLaddersOfSeconds) {
  if (in_long_run(0, 1) == 0) GTEST_SKIP() << "takes minutes";
  std::vector<Budget::Limits> ladder;
  for (const double seconds : {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0}) {
    ladder.push_back({.time_limit_s = seconds});
  }
  climb_forty("auto", ladder);
}

TEST(MoreBudget, AssignAmongUnlikeStrategies) {
  const auto step = generate_assign(
      {.source = {.kind = LengthSource::Kind::uniform, .most = 4000}, .tokens = 60'000});
  expect_no_worse(step->instance);
}

// A baseline that the clock cut names the limit, and is no worse than the plan found with limit 0.
TEST(MoreBudget, ACutBaselineSaysSo) {
  const auto step = generate_assign(
      {.source = {.kind = LengthSource::Kind::uniform, .most = 4000}, .tokens = 2'000'000});
  Budget none({.time_limit_s = 0});
  const Outcome at_once = solve(step->instance, {}, none);
  int cut = 0;
  for (const char* method : {"karmarkar-karp", "lpt", "hydraulis-lpt-modelled"}) {
    Budget whole({.clock = BudgetClock::looks});
    const Outcome uncut = solve(step->instance, {.method = method}, whole);
    EXPECT_EQ(uncut.stopped_by, StoppedBy::heuristic_end) << method;
    for (const int looks : kLooks) {
      Budget budget({.time_limit_s = 1e-6 * looks, .clock = BudgetClock::looks});
      const Outcome outcome = solve(step->instance, {.method = method}, budget);
      if (outcome.stopped_by == StoppedBy::heuristic_end) {
        EXPECT_EQ(*outcome.objective, *uncut.objective) << method;
        continue;
      }
      ++cut;
      EXPECT_EQ(outcome.stopped_by, StoppedBy::time_limit) << method;
      EXPECT_LE(*value_of(outcome), *value_of(at_once)) << method << ", " << looks;
    }
  }
  EXPECT_GE(cut, 5);
}

TEST(MoreBudget, Chunks) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    expect_no_worse(chunked_assign(draw, {.most_sequences = 60, .most_tokens = 300}));
  }
}

TEST(MoreBudget, Scatter) {
  const auto step = generate_scatter({.preset = {.model = "gpt-7b", .devices = 16},
                                      .source = {.kind = LengthSource::Kind::lognormal},
                                      .count = 40});
  expect_no_worse(step->instance);
}

TEST(MoreBudget, Order) {
  for (const auto kind : {OrderGenerator::Kind::layered, OrderGenerator::Kind::vgg}) {
    expect_no_worse(*generate_order({.kind = kind, .operators = 60}));
  }
}

TEST(MoreBudget, Layout) {
  expect_no_worse(
      generate_layout({.kind = LayoutGenerator::Kind::guillotine, .buffers = 60})->instance);
}

}  // namespace
}  // namespace stowage::more_budget_test
