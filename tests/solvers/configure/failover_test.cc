// A new configuration after devices are lost: the fewest moved bytes of all matchings, and the
// three promises of its weight.
#include "solvers/configure/failover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "heuristics/strategy/configurations.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/generate/generate.h"
#include "instances/strategy/planning_table.h"
#include "instances/verify.h"
#include "solvers/configure/configure.h"
#include "solvers/solve.h"
#include "tests/tiny_strategy.h"

namespace stowage::configure_replan_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kMib = 1 << 20;

StrategyInstance two_nodes(Mib memory_mib = 73'728) {
  return *generate_strategy({.model = "llama-7b", .nodes = 2, .memory_mib = memory_mib},
                            std::vector<Tokens>(48, 4096));
}

StrategyPlan fastest(const StrategyInstance& instance) {
  return fastest_homogeneous(StrategyTable(instance), 1, Budget()).front();
}

std::vector<Replanned> replanned(const StrategyInstance& instance, const StrategyPlan& plan,
                                 const std::vector<std::int64_t>& lost, double weight) {
  Budget budget;
  return replan(instance, plan, lost, {.weight = weight, .most = 5}, budget);
}

TEST(RemainingClusters, AreAllRectangles) {
  const StrategyCluster cluster{.nodes = 3, .devices_per_node = 4};
  const auto sizes = [&](const std::vector<std::int64_t>& lost) {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    for (const StrategyCluster& its : remaining_clusters(cluster, lost)) {
      all.emplace_back(its.nodes, its.devices_per_node);
    }
    return all;
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_THAT(sizes({}), ElementsAre(Pair(3, 4)));
  EXPECT_THAT(sizes({5}), ElementsAre(Pair(3, 3), Pair(2, 4)));
  EXPECT_THAT(sizes({0, 1, 2, 3}), ElementsAre(Pair(2, 4)));
  EXPECT_THAT(sizes({1, 2, 3, 7}), ElementsAre(Pair(2, 3), Pair(1, 4), Pair(3, 1)));
  EXPECT_THAT(sizes({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), IsEmpty());
}

// 7 combines with no option, and 6 nodes only with three stages.
TEST(UsableClusters, AreThoseInWhichOptionsCombine) {
  StrategyInstance instance;
  instance.model = {.hidden = 64, .heads = 8, .blocks = {{.count = 12, .ffn = 0}}};
  instance.cluster = {.nodes = 8, .devices_per_node = 8};
  instance.options = {.pp = {1, 2, 4}, .tp = {1, 2, 4, 8}};
  instance.lengths.assign(64, 100);
  const std::vector<std::int64_t> lost = {3, 16, 17, 18, 19, 20, 21, 22, 23};
  const auto sizes = [&] {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    for (const StrategyCluster& its : usable_clusters(instance, lost)) {
      all.emplace_back(its.nodes, its.devices_per_node);
    }
    return all;
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_THAT(sizes(), ElementsAre(Pair(4, 8)));
  instance.options.pp = {1, 2, 3, 4};
  EXPECT_THAT(sizes(), ElementsAre(Pair(6, 8)));
  instance.options.pp = {1, 7};
  EXPECT_THAT(sizes(), ElementsAre(Pair(4, 8), Pair(7, 4)));
}

// Two stages of two ranks: each device has half of two layers, and one half is lost.
TEST(LeastMove, OfTwoStagesOfTwoRanks) {
  StrategyInstance instance;
  instance.model = {.hidden = 64, .heads = 8, .blocks = {{.count = 4, .ffn = 0}}};
  instance.cluster = {.nodes = 1, .devices_per_node = 4};
  StrategyPlan old{.pp = 2, .tp = 2, .stages = {{.layers = 2}, {.layers = 2}}};
  StrategyPlan narrow{.pp = 2, .stages = {{.layers = 2}, {.layers = 2}}};
  const HeldStates before(instance, old);
  const double half = 2 * 8192 * 14 / kMib;
  const std::int64_t lost[] = {3};
  const Relocation moves =
      least_move(before, instance.cluster, lost, HeldStates(instance, narrow), 2);
  // Rank 1 stays on the device with half of its layers, and reads the other half.
  EXPECT_THAT(moves.device_of_rank[1], 2);
  EXPECT_LT(moves.device_of_rank[0], 2);
  EXPECT_EQ(moves.moved_mib, half);
  EXPECT_EQ(moves.most_mib, half);
  EXPECT_EQ(moves.lost_mib, half);
}

// Returns the minimum over all ways to place the nodes and devices of the new plan on the remaining
// ones.
double least_by_trying(const HeldStates& before, const StrategyCluster& cluster,
                       const std::vector<std::int64_t>& lost, const HeldStates& after,
                       std::int64_t per_node) {
  std::vector<std::int64_t> left;
  for (std::int64_t device = 0; device < cluster.devices(); ++device) {
    if (std::ranges::find(lost, device) == lost.end()) left.push_back(device);
  }
  const auto shared = after.shared_bytes(before);
  double least = kInfinity;
  do {
    double sum = 0;
    for (std::int64_t rank = 0; rank < after.devices(); ++rank) {
      const std::int64_t first = left[at(rank - rank % per_node)];
      const bool together =
          first / cluster.devices_per_node == left[at(rank)] / cluster.devices_per_node;
      sum += together ? after.bytes(rank) - shared[at(rank)][at(left[at(rank)])] : kInfinity;
    }
    // Two new nodes on one old node do not form a cluster with that number of nodes.
    for (std::int64_t rank = per_node; rank < after.devices(); rank += per_node) {
      for (std::int64_t other = 0; other < rank; other += per_node) {
        if (left[at(rank)] / cluster.devices_per_node ==
            left[at(other)] / cluster.devices_per_node) {
          sum = kInfinity;
        }
      }
    }
    least = std::min(least, sum);
  } while (std::ranges::next_permutation(left).found);
  return (least - before.missing_bytes(left)) / kMib;
}

TEST(LeastMove, NoMatchingMovesLess) {
  int tried = 0;
  int moving = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    StrategyInstance instance = seed % 3 > 0 ? tiny_strategy(seed) : tiny_experts(seed);
    instance.cluster.nodes = seed % 2 == 0 ? 1 : 2;
    instance.cluster.devices_per_node = seed % 2 == 0 ? 6 : 3;
    instance.cluster.memory_mib = 1e6;
    instance.lengths.assign(60, 100);
    instance.options.pp = {1, 2, 3};
    const std::int64_t device = static_cast<std::int64_t>(seed % 6);
    const std::vector<std::int64_t> lost = {device};
    const StrategyTable table(instance);
    const auto olds = fastest_homogeneous(table, 2, Budget());
    for (const StrategyCluster& cluster : remaining_clusters(instance.cluster, lost)) {
      StrategyInstance smaller = instance;
      smaller.cluster = cluster;
      const StrategyTable remaining(smaller);
      const auto news = fastest_homogeneous(remaining, 2, Budget());
      for (const StrategyPlan& old : olds) {
        const HeldStates before(instance, old);
        for (const StrategyPlan& fresh : news) {
          const HeldStates after(smaller, fresh);
          const Relocation moves =
              least_move(before, instance.cluster, lost, after, cluster.devices_per_node);
          const double least =
              least_by_trying(before, instance.cluster, lost, after, cluster.devices_per_node);
          EXPECT_NEAR(moves.moved_mib, least, 1e-9 * (1 + least)) << seed;
          EXPECT_THAT(moves.device_of_rank, Not(Contains(device)));
          ++tried;
          moving += moves.moved_mib > 0 ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GE(tried, 100);
  EXPECT_GE(moving, 50);
}

TEST(Replan, WithoutLossNothingMoves) {
  const StrategyInstance instance = two_nodes();
  const StrategyPlan plan = fastest(instance);
  const std::vector<Replanned> found = replanned(instance, plan, {}, 1e9);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().moves.moved_mib, 0);
  EXPECT_EQ(found.front().moves.lost_mib, 0);
  EXPECT_EQ(found.front().move_ms, 0);
  const StrategyPlan& again = found.front().plan;
  EXPECT_EQ(again.step_ms, plan.step_ms);
  EXPECT_EQ(configuration_name(again), configuration_name(plan));
}

TEST(Replan, AWeightOfZeroGivesTheFreshPlan) {
  const StrategyInstance instance = two_nodes();
  const std::vector<std::int64_t> lost = {9};
  const std::vector<Replanned> found = replanned(instance, fastest(instance), lost, 0);
  ASSERT_FALSE(found.empty());
  Ms fresh = kInfinity;
  for (const StrategyCluster& cluster : remaining_clusters(instance.cluster, lost)) {
    StrategyInstance smaller = instance;
    smaller.cluster = cluster;
    for (const StrategyPlan& plan : fastest_homogeneous(StrategyTable(smaller), 1, Budget())) {
      fresh = std::min(fresh, plan.step_ms);
    }
  }
  EXPECT_LE(found.front().plan.step_ms, fresh);
  EXPECT_EQ(found.front().cost_ms, found.front().plan.step_ms);
}

TEST(Replan, AHugeWeightGivesTheNearest) {
  const StrategyInstance instance = two_nodes(40'960);
  const StrategyPlan plan = fastest(instance);
  const std::vector<std::int64_t> lost = {9};
  const std::vector<Replanned> found = replanned(instance, plan, lost, 1e9);
  ASSERT_FALSE(found.empty());
  const HeldStates before(instance, plan);
  int others = 0;
  for (const StrategyCluster& cluster : remaining_clusters(instance.cluster, lost)) {
    StrategyInstance smaller = instance;
    smaller.cluster = cluster;
    for (const StrategyPlan& other : fastest_homogeneous(StrategyTable(smaller), 50, Budget())) {
      const Relocation moves = least_move(before, instance.cluster, lost,
                                          HeldStates(smaller, other), cluster.devices_per_node);
      const double bandwidth =
          cluster.nodes > 1 ? cluster.mib_per_ms.across : cluster.mib_per_ms.inside;
      EXPECT_LE(found.front().move_ms, moves.moved_mib / bandwidth + 1e-6);
      EXPECT_EQ(found.front().moves.lost_mib, moves.lost_mib);
      ++others;
    }
  }
  EXPECT_GE(others, 20);
  for (std::size_t i = 1; i < found.size(); ++i) {
    EXPECT_LE(found[i - 1].cost_ms, found[i].cost_ms);
  }
  for (const Replanned& each : found) {
    EXPECT_THAT(verify(Instance(each.instance), Plan(each.plan)), IsEmpty());
  }
  // With weight 0 the first plan is at least as fast, and its move takes at least as long.
  const std::vector<Replanned> fresh = replanned(instance, plan, lost, 0);
  EXPECT_LE(fresh.front().plan.step_ms, found.front().plan.step_ms);
  EXPECT_GE(fresh.front().move_ms, found.front().move_ms);
}

TEST(Replan, IsEmptyWhereNothingFits) {
  const StrategyInstance instance = two_nodes(16'384);
  const StrategyPlan plan = fastest(instance);
  EXPECT_THAT(replanned(instance, plan, {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14}, 0),
              IsEmpty());
}

}  // namespace
}  // namespace stowage::configure_replan_test
