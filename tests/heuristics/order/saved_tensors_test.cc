// The minimum cut of saved tensors: by hand, against every set of saved tensors, and in plans.
#include "heuristics/order/recompute/saved_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <ranges>

#include "heuristics/order/recompute/evictions.h"
#include "heuristics/order/recompute/reruns.h"
#include "instances/order/memory/flow_network.h"
#include "instances/order/memory/running_memory.h"
#include "tests/tiny_rerun.h"

namespace stowage::order_saved_tensors_test {
namespace {

using ::testing::ElementsAre;

constexpr Ms kAny = std::numeric_limits<Ms>::infinity();

// x -> f -> a -> g -> b -> h -> c; the operator behind h reads b and c. The bytes of a are the
// fewest from which b can be made again.
OrderInstance wide_middle() {
  return {.tensors = {{.size = 9, .input = true},
                      {.size = 2},
                      {.size = 30},
                      {.size = 5},
                      {.size = 1, .output = true}},
          .operators = {{.reads = {0}, .writes = {1}, .ms = 8, .recompute = true},
                        {.reads = {1}, .writes = {2}, .ms = 1, .recompute = true},
                        {.reads = {2}, .writes = {3}, .ms = 4, .recompute = true},
                        {.reads = {2, 3}, .writes = {4}, .ms = 1}}};
}

TEST(OrderSavedTensors, FewestBytesAreSaved) {
  const OrderInstance graph = wide_middle();
  const OrderTable table(graph);
  const std::vector<int>& order = table.program_order();
  EXPECT_THAT(with_saved_tensors(table, order, 3, kAny), ElementsAre(0, 1, 2, 1, 2, 3));
  EXPECT_THAT(with_saved_tensors(table, order, 3, 2), ElementsAre(0, 1, 2, 1, 3));
  EXPECT_THAT(with_saved_tensors(table, order, 3, 0.5), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(with_saved_tensors(table, order, 0, kAny), ElementsAre(0, 1, 2, 3));
}

// Every set of tensors is a possible cut of a network of at most 8 nodes.
TEST(OrderSavedTensors, FlowEqualsTheLeastOfAllCuts) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 500; ++trial) {
    const int nodes = 2 + static_cast<int>(draw(random, 7));
    FlowNetwork network;
    for (int k = 2; k < nodes; ++k) network.new_node();
    std::vector<std::array<int, 3>> arcs;
    for (std::uint64_t k = draw(random, 20); k > 0; --k) {
      const int from = static_cast<int>(draw(random, static_cast<std::uint64_t>(nodes)));
      const int to = static_cast<int>(draw(random, static_cast<std::uint64_t>(nodes)));
      if (from == to) continue;
      arcs.push_back({from, to, static_cast<int>(draw(random, 9))});
      network.add_arc(from, to, arcs.back()[2]);
    }
    const auto cut_by = [&](auto in_source_side) {
      Bytes sum = 0;
      for (const auto& [from, to, room] : arcs) {
        if (in_source_side(from) && !in_source_side(to)) sum += room;
      }
      return sum;
    };
    Bytes least = FlowNetwork::kNoLimit;
    for (int set = 0; set < 1 << nodes; ++set) {
      if ((set & 1) == 0 || (set & 2) != 0) continue;
      least = std::min(least, cut_by([&](int node) { return (set >> node & 1) != 0; }));
    }
    network.push_all();
    EXPECT_EQ(network.value(), least) << trial;
    EXPECT_EQ(cut_by([&](int node) { return !network.reaches_sink(node); }), least) << trial;
    const std::vector<char> reached = network.reached_from_source();
    EXPECT_EQ(cut_by([&](int node) { return reached[static_cast<std::size_t>(node)] != 0; }), least)
        << trial;
  }
}

TEST(OrderSavedTensors, StepsAreValidAndSaveNoMoreThanTheOrder) {
  int again = 0;
  int less = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const OrderInstance graph = tiny_rerun(seed, 10);
    const OrderTable table(graph);
    const std::vector<int>& order = table.program_order();
    const Evictions evictions(table);
    for (std::size_t split = 0; split <= order.size(); ++split) {
      for (const Ms longest : {1.0, kAny}) {
        const std::vector<int> steps = with_saved_tensors(table, order, split, longest);
        ASSERT_TRUE(evictions.valid(steps)) << seed;
        ASSERT_TRUE(
            std::equal(steps.begin(), steps.begin() + static_cast<long>(split), order.begin()))
            << seed;
        again += steps.size() > order.size() ? 1 : 0;
        for (std::size_t k = split; k < steps.size(); ++k) {
          if (std::count(steps.begin(), steps.begin() + static_cast<long>(k), steps[k]) > 0) {
            ASSERT_TRUE(table.may_rerun(steps[k]) && table.ms(steps[k]) <= longest) << seed;
          }
        }
        less += peak_of(table, steps) < peak_of(table, order) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(again, 100);
  EXPECT_GT(less, 20);
}

// Layers of a cheap operator with a wide result and an expensive one with a narrow result. The
// backward pass reads both. Bytes per time favour the expensive operators of the last layers, which
// are dropped for a short time; cheap operators alone suffice.
OrderInstance layers(std::int64_t count) {
  OrderInstance graph{.objective = OrderObjective::time};
  const auto tensor = [&](Bytes size) {
    graph.tensors.push_back({.size = size});
    return std::ssize(graph.tensors) - 1;
  };
  graph.tensors.push_back({.size = 10, .input = true});
  std::int64_t last = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> made;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t norm = tensor(20);
    graph.operators.push_back({.reads = {last}, .writes = {norm}, .ms = 1, .recompute = true});
    const std::int64_t product = tensor(20);
    graph.operators.push_back({.reads = {norm}, .writes = {product}, .ms = 50, .recompute = true});
    const std::int64_t wide = tensor(80);
    graph.operators.push_back({.reads = {product}, .writes = {wide}, .ms = 1, .recompute = true});
    last = tensor(10);
    graph.operators.push_back({.reads = {wide}, .writes = {last}, .ms = 100, .recompute = true});
    made.emplace_back(norm, wide);
  }
  for (const auto& [norm, wide] : made | std::views::reverse) {
    const std::int64_t gradient = tensor(10);
    graph.operators.push_back({.reads = {norm, wide, last}, .writes = {gradient}, .ms = 100});
    last = gradient;
  }
  graph.tensors.back().output = true;
  return graph;
}

TEST(OrderSavedTensors, CheapPlansRunCheapOperatorsAgain) {
  const OrderInstance graph = layers(12);
  const OrderTable table(graph);
  const Budget budget;
  // All 12 results of 80 bytes do not fit; what they are made from does.
  const Bytes capacity = 12 * 40 + 3 * 80;
  ASSERT_GT(peak_of(table, table.program_order()), capacity);
  const Evictions evictions(table);
  Ms least = kAny;
  std::vector<Ms> told;
  const auto take = [&](const std::vector<int>& steps) {
    EXPECT_TRUE(evictions.valid(steps));
    EXPECT_LE(peak_of(table, steps), capacity);
    told.push_back(evictions.time_of(steps));
    least = std::min(least, told.back());
    return false;
  };
  tell_cheap_plans(table, table.program_order(), capacity, budget, take);
  EXPECT_GT(told.size(), 1U);
  EXPECT_LE(least, table.work_ms() + 12) << "an expensive operator runs again";
  told.clear();
  tell_cheap_plans(table, table.program_order(), capacity, budget, [&](const std::vector<int>&) {
    told.push_back(0);
    return true;
  });
  EXPECT_EQ(told.size(), 1U);
}

}  // namespace
}  // namespace stowage::order_saved_tensors_test
