// Solves of graphs with recomputation: equal to brute force, with valid bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "formulations/order/bounds.h"
#include "heuristics/order/recompute/rerun_search.h"
#include "heuristics/order/recompute/reruns.h"
#include "instances/check.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "instances/order/verify/verify.h"
#include "instances/verify.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/order/brute_force_again.h"
#include "tests/tiny_rerun.h"

namespace stowage::order_rerun_test {
namespace {

using ::testing::IsEmpty;

Outcome solved(const OrderInstance& instance, const std::string& method = "auto",
               std::int64_t nodes = 1'000'000) {
  Budget budget({.node_limit = nodes});
  return solve(instance, {.method = method}, budget);
}

std::int64_t most_runs(const OrderInstance& graph, const OrderPlan& plan) {
  std::vector<std::int64_t> runs(graph.operators.size(), 0);
  for (const std::int64_t op : plan.order) ++runs[static_cast<std::size_t>(op)];
  return runs.empty() ? 0 : *std::ranges::max_element(runs);
}

// Every outcome is the optimum over all sequences of runs. If an operator runs three times or more,
// it may be better than the oracle's, which allows two runs.
TEST(OrderRerun, EqualsBruteForce) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(400, 2000));
  const auto most_often = static_cast<std::uint64_t>(in_long_run(40, 1));  // of seven operators
  int infeasible = 0;
  int again = 0;
  int bettered = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const OrderInstance graph = tiny_rerun(seed, seed % most_often == 0 ? 7 : 5);
    ASSERT_THAT(check(graph), IsEmpty()) << seed;
    const std::optional<double> best = brute_force_again(graph);
    for (const char* method : {"auto", "exact"}) {
      SCOPED_TRACE(method + std::to_string(seed));
      const Outcome outcome = solved(graph, method);
      if (outcome.status == Status::infeasible) {
        EXPECT_FALSE(best) << outcome.detail;
        ++infeasible;
        continue;
      }
      ASSERT_EQ(outcome.status, Status::optimal) << outcome.detail;
      EXPECT_THAT(verify(Instance(graph), *outcome.plan), IsEmpty());
      const auto& plan = std::get<OrderPlan>(*outcome.plan);
      if (plan.order.size() > graph.operators.size()) ++again;
      if (most_runs(graph, plan) > 2 && (!best || *outcome.objective < *best * (1 - 1e-9))) {
        ++bettered;
        continue;
      }
      ASSERT_TRUE(best);
      EXPECT_NEAR(*outcome.objective, *best, 1e-9 * *best);
    }
  }
  EXPECT_GT(infeasible, 0);
  EXPECT_GT(again, 20);
  EXPECT_LT(bettered, static_cast<int>(seeds) / 20);
}

TEST(OrderRerun, NoBoundIsAboveTheOptimum) {
  int above = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const OrderInstance graph = tiny_rerun(seed, 5);
    const std::optional<double> best = brute_force_again(graph, 3);
    const RerunBounds bounds = rerun_bounds(OrderTable(graph), graph.capacity);
    if (!best) continue;
    if (graph.objective == OrderObjective::time) {
      EXPECT_LE(bounds.kept, *graph.capacity) << seed;
      EXPECT_LE(bounds.dropped_ms, *best * (1 + 1e-9)) << seed;
      EXPECT_LE(bounds.work_ms, bounds.dropped_ms) << seed;
      above += bounds.dropped_ms > bounds.work_ms ? 1 : 0;
    } else {
      EXPECT_LE(static_cast<double>(bounds.kept), *best) << seed;
      EXPECT_GE(bounds.kept, operator_bound(OrderTable(graph)).bytes) << seed;
    }
  }
  EXPECT_GT(above, 5);
}

// For every capacity the search decides whether there is a plan, and if not, returns a true lower
// bound on the need.
TEST(OrderRerun, TheSearchRefutesEveryCapacityBelowTheOptimum) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    OrderInstance graph = tiny_rerun(seed, 5);
    graph.objective = OrderObjective::peak;
    graph.capacity.reset();
    const auto best = static_cast<Bytes>(*brute_force_again(graph, 3));
    const OrderTable table(graph);
    RerunSearch search(table);
    const Budget budget;
    for (Bytes capacity = table.at_start(); capacity <= best + 2; ++capacity) {
      const auto found = search.run(capacity, RerunSearch::kNoLimitMs, 1'000'000, budget);
      if (found.end == RerunSearch::End::found) {
        EXPECT_LE(peak_of(table, found.steps), std::max(capacity, table.at_start())) << seed;
        EXPECT_GE(capacity, best) << seed;
      } else {
        EXPECT_EQ(found.end, RerunSearch::End::none) << seed;
        EXPECT_LT(capacity, best) << seed;
        EXPECT_LE(found.least_overflow, best) << seed;
        EXPECT_GT(found.least_overflow, capacity) << seed;
      }
    }
  }
}

TEST(OrderRerun, EveryMethodIsValidAndNoneIsBelowTheBound) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const OrderInstance graph = tiny_rerun(seed, 10);
    const Outcome best = solved(graph, "auto", 5000);
    for (const Method& method : methods(graph)) {
      const Outcome outcome = solved(graph, method.name, 5000);
      if (!outcome.plan) continue;
      EXPECT_THAT(verify(Instance(graph), *outcome.plan), IsEmpty()) << method.name;
      EXPECT_GE(*outcome.objective, best.bound * (1 - 1e-9)) << method.name;
    }
  }
}

TEST(OrderRerun, MoreNodesAreNeverWorse) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const OrderInstance graph = tiny_rerun(seed, 14);
    std::optional<double> before;
    for (const std::int64_t nodes : {0, 200, 1000, 5000, 20'000}) {
      const Outcome outcome = solved(graph, "auto", nodes);
      ASSERT_TRUE(outcome.plan || !before) << seed;
      if (!outcome.plan) continue;
      if (before) {
        EXPECT_LE(*outcome.objective, *before) << seed << ' ' << nodes;
      }
      before = outcome.objective;
    }
  }
}

TEST(OrderRerun, StartsFromAPlanAndIsNeverWorse) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const OrderInstance graph = tiny_rerun(seed, 10);
    const Outcome first = solved(graph, "auto", 5000);
    if (!first.plan) continue;
    Budget budget({.node_limit = 0});
    const Outcome again = solve(graph, {.start = first.plan}, budget);
    ASSERT_TRUE(again.objective);
    EXPECT_LE(*again.objective, *first.objective);
  }
}

// A chain with a backward pass: each forward tensor is kept for its backward step. With little
// memory all forward tensors are recomputed from the beginning.
OrderInstance chain(int length, std::optional<Bytes> capacity) {
  OrderInstance graph{.capacity = capacity, .objective = OrderObjective::time};
  graph.tensors.push_back({.size = 1, .input = true});
  for (int k = 0; k < length; ++k) {
    graph.operators.push_back({.reads = {k}, .writes = {k + 1}, .ms = 1, .recompute = true});
    graph.tensors.push_back({.size = 1});
  }
  for (int k = length; k > 0; --k) {
    const auto made = static_cast<std::int64_t>(graph.tensors.size());
    OrderOperator back{.reads = {k - 1, k}, .writes = {made}, .ms = 1};
    if (k < length) back.reads.push_back(made - 1);
    graph.operators.push_back(back);
    graph.tensors.push_back({.size = 1});
  }
  graph.tensors.back().output = true;
  return graph;
}

// Less memory never takes less time.
TEST(OrderRerun, ChainsAreCheckpointed) {
  EXPECT_EQ(*solved(chain(8, std::nullopt)).objective, 16);
  double before = 16;
  for (Bytes capacity = 11; capacity >= 5; --capacity) {
    const Outcome outcome = solved(chain(8, capacity));
    ASSERT_EQ(outcome.status, Status::optimal) << capacity;
    EXPECT_GE(*outcome.objective, before) << capacity;
    before = *outcome.objective;
  }
  EXPECT_GT(before, 16);
}

TEST(OrderRerun, WithoutRoomItIsInfeasible) {
  OrderInstance graph = chain(4, 3);
  const Outcome outcome = solved(graph);
  EXPECT_EQ(outcome.status, Status::infeasible);
  EXPECT_EQ(outcome.infeasibility->by, "operator");
  EXPECT_THAT(check_infeasibility(graph, *outcome.infeasibility), IsEmpty());
}

}  // namespace
}  // namespace stowage::order_rerun_test
