// Solves of graphs with a host, against the oracle and against solves without the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "formulations/order/bounds.h"
#include "formulations/order/swap.h"
#include "heuristics/order/registry.h"
#include "instances/order/generate/generate.h"
#include "instances/order/json/json.h"
#include "instances/order/memory/transfer_times.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/verify.h"
#include "instances/verify.h"
#include "solvers/milp/solver.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/order/brute_force_host.h"
#include "tests/tiny_host.h"

namespace stowage::order_host_test {
namespace {

using ::testing::IsEmpty;

constexpr double kTiny = 1e-9;

Outcome solved(const OrderInstance& graph, const char* method, std::int64_t nodes = 5000) {
  Budget budget({.node_limit = nodes});
  return solve(Instance(graph), {.method = method}, budget);
}

// Returns whether the oracle enumerates this plan.
bool among_those_tried(const OrderPlan& plan) {
  return plan.transfers.size() <= kMaxOracleTransfers &&
         std::ranges::none_of(plan.transfers, [&](const OrderTransfer& transfer) {
           return std::ranges::count(plan.transfers, transfer.tensor, &OrderTransfer::tensor) > 1;
         });
}

// Heuristics are never below the optimum, and bounds never above it.
TEST(OrderHost, TinyGraphsLieBetweenTheirBoundsAndTheirPlans) {
  int moved = 0;
  int equal = 0;
  int feasible = 0;
  int proven = 0;
  const auto seeds = static_cast<std::uint64_t>(in_long_run(150, 3000));
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const OrderInstance graph = tiny_host(seed, 5);
    const std::optional<double> best = brute_force_host(graph);
    const bool timed = graph.objective == OrderObjective::time;
    const RerunBounds bounds = rerun_bounds(OrderTable(graph), graph.capacity);
    if (best) {
      ++feasible;
      const double bound = timed ? bounds.moved_ms : static_cast<double>(bounds.kept);
      EXPECT_LE(bound, *best * (1 + kTiny)) << seed;
    }
    for (const char* method : {"auto", "offload"}) {
      const Outcome outcome = solved(graph, method);
      if (best) {
        EXPECT_NE(outcome.status, Status::infeasible) << seed;
        EXPECT_LE(outcome.bound, *best * (1 + kTiny)) << seed << ' ' << method;
      }
      if (!outcome.plan) continue;
      EXPECT_THAT(verify(Instance(graph), *outcome.plan), IsEmpty()) << seed << ' ' << method;
      const auto& plan = std::get<OrderPlan>(*outcome.plan);
      if (among_those_tried(plan)) {
        ASSERT_TRUE(best) << seed << ' ' << method;
        EXPECT_GE(*outcome.objective, *best * (1 - kTiny)) << seed << ' ' << method;
      }
      if (std::string_view(method) == "offload") continue;
      if (!plan.transfers.empty()) ++moved;
      if (best && *outcome.objective <= *best * (1 + kTiny)) ++equal;
      if (outcome.status == Status::optimal) ++proven;
    }
  }
  EXPECT_GT(moved, static_cast<int>(seeds) / 30);
  EXPECT_GT(equal, feasible * 3 / 4);
  EXPECT_GT(proven, feasible / 3);
  RecordProperty("feasible", feasible);
  RecordProperty("equal", equal);
  RecordProperty("moved", moved);
  RecordProperty("proven", proven);
}

// The same graph without its host has no better plan, with recomputation too.
TEST(OrderHost, AHostNeverCostsAnything) {
  int gained = 0;
  const auto seeds = static_cast<std::uint64_t>(in_long_run(60, 1000));
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    OrderInstance graph = tiny_rerun(seed, 5);
    const Outcome without = solved(graph, "auto", 1000);
    graph.host = HostLink{.out_bytes_per_ms = 3, .in_bytes_per_ms = 3};
    const Outcome with = solved(graph, "auto", 4000);
    if (!without.plan) {
      gained += with.plan ? 1 : 0;
      continue;
    }
    ASSERT_TRUE(with.plan) << seed;
    EXPECT_THAT(verify(Instance(graph), *with.plan), IsEmpty()) << seed;
    EXPECT_LE(*with.objective, *without.objective * (1 + kTiny)) << seed;
    gained += *with.objective < *without.objective * (1 - kTiny) ? 1 : 0;
  }
  EXPECT_GT(gained, 5);
}

// A network whose activations go out while it computes: no run waits, and no plan takes less time.
TEST(OrderHost, AFastHostCostsNoTime) {
  const OrderInstance graph = *generate_order({.kind = OrderGenerator::Kind::vgg,
                                               .operators = 1,
                                               .capacity_share = 0.9,
                                               .host_bytes_per_ms = 1e9});
  const OrderTable table(graph);
  Budget budget;
  for (const OrderHeuristic& heuristic : heuristics(graph)) {
    if (heuristic.name != "offload") continue;
    const auto plan = heuristic.run(graph, table, 0, budget);
    ASSERT_TRUE(plan);
    EXPECT_THAT(verify(graph, *plan), IsEmpty());
    EXPECT_FALSE(plan->transfers.empty());
    EXPECT_NEAR(*plan->time_ms, table.work_ms(), 1e-9 * table.work_ms());
    EXPECT_EQ(plan->order.size(), graph.operators.size());
  }
  const Outcome outcome = solved(graph, "auto");
  EXPECT_EQ(outcome.status, Status::optimal);
  EXPECT_EQ(write_order_plan(std::get<OrderPlan>(*outcome.plan)),
            write_order_plan(std::get<OrderPlan>(*solved(graph, "auto").plan)));
}

// MEMO's LP never plans a stall by its own count, and its plans are valid.
TEST(OrderHost, MemoSendsWholeTensorsThatHideBehindRuns) {
  if (built_backends().empty()) GTEST_SKIP() << "no MILP backend is built in";
  int moved = 0;
  for (const double rate : {3e6, 1.2e7, 1e9}) {
    const OrderInstance graph = *generate_order({.kind = OrderGenerator::Kind::unet,
                                                 .operators = 1,
                                                 .capacity_share = 0.8,
                                                 .host_bytes_per_ms = rate});
    const OrderTable table(graph);
    const SwapLp lp = build_swap_lp(table, table.program_order());
    ASSERT_FALSE(lp.tensors.empty());
    // The objective is the recomputation time: positive without transfers, 0 if all tensors are
    // transferred. A slow channel cannot transfer all of them.
    const std::vector<double> all(lp.fraction.size(), 1);
    const std::vector<double> nothing(lp.fraction.size(), 0);
    EXPECT_EQ(lp.model.violation(nothing), 0);
    EXPECT_GT(lp.model.objective(nothing), 0);
    EXPECT_NEAR(lp.model.objective(all), 0, kTiny);
    if (rate == 3e6) {
      EXPECT_GT(lp.model.violation(all), kTiny);
    }
    const Outcome outcome = solved(graph, "memo");
    ASSERT_TRUE(outcome.plan) << outcome.detail;
    EXPECT_THAT(verify(Instance(graph), *outcome.plan), IsEmpty());
    const auto& plan = std::get<OrderPlan>(*outcome.plan);
    for (const OrderTransfer& transfer : plan.transfers) {
      EXPECT_TRUE(std::ranges::find(lp.tensors, static_cast<int>(transfer.tensor)) !=
                  lp.tensors.end());
    }
    moved += static_cast<int>(plan.transfers.size());
    EXPECT_GE(*outcome.objective, *solved(graph, "auto", 500).objective * (1 - kTiny));
  }
  EXPECT_GT(moved, 10);
}

// The bound counts the transfers of the bytes that cannot stay in memory at the widest step.
TEST(OrderHost, TheBoundCountsWhatMustMove) {
  OrderInstance graph{.capacity = 40,
                      .objective = OrderObjective::time,
                      .tensors = {{.size = 30, .input = true},
                                  {.size = 20},
                                  {.size = 40},
                                  {.size = 1, .output = true}},
                      .operators = {{.writes = {1}, .ms = 1},
                                    {.reads = {1}, .writes = {2}, .ms = 1},
                                    {.reads = {0, 2}, .writes = {3}, .ms = 1}},
                      .host = HostLink{.out_bytes_per_ms = 10, .in_bytes_per_ms = 5}};
  // At the second step 60 bytes are touched: nothing fits.
  EXPECT_EQ(solved(graph, "auto").status, Status::infeasible);
  graph.capacity = 71;
  // At the second step at least 19 bytes of x are on the host: 1.9 ms out, then 1 ms, then 3.8 ms
  // in.
  const RerunBounds bounds = rerun_bounds(OrderTable(graph), graph.capacity);
  EXPECT_DOUBLE_EQ(bounds.moved_ms, 1.9 + 1 + 3.8);
  const Outcome outcome = solved(graph, "auto");
  ASSERT_TRUE(outcome.plan);
  EXPECT_EQ(outcome.bound_by, "moved");
  // All of x takes 3 ms out while the first step runs, and 6 in.
  EXPECT_DOUBLE_EQ(*outcome.objective, 3 + 1 + 6 + 1);
}

}  // namespace
}  // namespace stowage::order_host_test
