// Failed states: the states that they refute, and trees that share them find the same results as
// single trees.
#include "solvers/layout/tree/failed_states.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "heuristics/layout/construct/buffer_orders.h"
#include "instances/layout/neighbours.h"
#include "instances/layout/planning_table.h"
#include "solvers/layout/tree/state.h"
#include "solvers/layout/tree/tree.h"
#include "tests/oracles/layout/brute_force.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_failed_states_test {
namespace {

// Three buffers at once, and one together with the last two.
LayoutInstance four_buffers() {
  return {.name = "four",
          .buffers = {{.lower = 0, .upper = 4, .size = 2},
                      {.lower = 0, .upper = 2, .size = 2},
                      {.lower = 0, .upper = 4, .size = 3},
                      {.lower = 2, .upper = 4, .size = 2}}};
}

struct Known {
  LayoutInstance instance = four_buffers();
  LayoutTable table{instance};
  LayoutNeighbours neighbours{table};
  LayoutState state(const std::vector<int>& placed) const {
    LayoutState made(table, neighbours, 20);
    for (const int b : placed) EXPECT_TRUE(made.place(b));
    return made;
  }
};

TEST(FailedStates, AKeyIsOfWhatIsUnplacedAndHowLowItLies) {
  const Known known;
  // The lower buffers do not affect the upper ones.
  EXPECT_EQ(known.state({0, 2}).key(), known.state({2, 0}).key());
  EXPECT_EQ(known.state({0, 1, 3}).key(), known.state({1, 3, 0}).key());
  // Other buffers, or other offsets.
  EXPECT_FALSE(known.state({0}).key() == known.state({1}).key());
  EXPECT_FALSE(known.state({0, 1}).key() == known.state({0, 3}).key());
  EXPECT_FALSE(known.state({}).key() == known.state({0}).key());
}

TEST(FailedStates, RefuteWhereBoundsAreNoLower) {
  const Known known;
  LayoutState state = known.state({2});
  FailedStates failed;
  EXPECT_FALSE(failed.refutes(state.key(), state));
  ASSERT_TRUE(state.pass_over(0, 3));
  ASSERT_GT(state.bound(0), state.lowest(0));
  const Bytes bound = state.bound(0);
  failed.add(state.key(), std::vector{FailedStates::PassedOver{0, bound}});
  EXPECT_TRUE(failed.refutes(state.key(), state));
  failed.add(state.key(), std::vector{FailedStates::PassedOver{0, bound + 1}});
  EXPECT_FALSE(failed.refutes(state.key(), state));
  failed.add(state.key(), {});
  EXPECT_TRUE(failed.refutes(state.key(), state));
  const LayoutState fresh = known.state({2});
  EXPECT_EQ(fresh.key(), state.key());
  EXPECT_TRUE(failed.refutes(fresh.key(), fresh));
  failed.add(state.key(), std::vector{FailedStates::PassedOver{0, bound}});
  EXPECT_FALSE(failed.refutes(fresh.key(), fresh));  // there the bound may be lower
  EXPECT_FALSE(failed.refutes(known.state({0}).key(), known.state({0})));
}

// Entries that were overwritten are not read.
TEST(FailedStates, ForgetTheOldest) {
  const Known known;
  const LayoutState state = known.state({2});
  FailedStates failed;
  failed.add(state.key(), std::vector(3, FailedStates::PassedOver{0, 0}));
  EXPECT_TRUE(failed.refutes(state.key(), state));
  const std::vector many(1000, FailedStates::PassedOver{1, 0});
  for (std::uint64_t i = 0; i < 300; ++i) failed.add({i << 40, i}, many);
  EXPECT_FALSE(failed.refutes(state.key(), state));
}

// Trees of several orders alternate and share one memory: all find the truth, with fewer nodes.
TEST(FailedStates, TreesThatShareThemFindTheTruth) {
  std::int64_t shared_nodes = 0;
  std::int64_t own_nodes = 0;
  int exhausted = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    LayoutInstance instance = tiny_layout(seed);
    instance.capacity.reset();
    const LayoutTable table(instance);
    if (table.clash() || table.max_load() == 0) continue;
    const LayoutNeighbours neighbours(table);
    const Bytes least = brute_force(instance)->peak_bytes;
    for (const Bytes capacity : {least, least - 1}) {
      const LayoutTree::End truth =
          capacity == least ? LayoutTree::End::layout : LayoutTree::End::exhausted;
      FailedStates shared;
      std::vector<std::vector<int>> orders;
      for (const char* keys : {"TCA", "Z", "L", "WO"}) orders.push_back(static_order(table, keys));
      std::vector<LayoutTree> trees;
      for (std::size_t i = 0; i < orders.size(); ++i) {
        trees.emplace_back(table, neighbours, orders[i], capacity, shared,
                           i % 2 == 0 ? LayoutTree::Choice::order : LayoutTree::Choice::flush);
      }
      for (int turn = 0; turn < 100'000; ++turn) {
        for (LayoutTree& tree : trees) tree.run(5);
        if (std::ranges::all_of(
                trees, [](LayoutTree& tree) { return tree.run(0) != LayoutTree::End::open; })) {
          break;
        }
      }
      for (std::size_t i = 0; i < orders.size(); ++i) {
        EXPECT_EQ(trees[i].run(0), truth) << seed << ' ' << i;
        shared_nodes += trees[i].nodes();
        FailedStates own;
        LayoutTree alone(table, neighbours, orders[i], capacity, own,
                         i % 2 == 0 ? LayoutTree::Choice::order : LayoutTree::Choice::flush);
        EXPECT_EQ(alone.run(1'000'000), truth) << seed << ' ' << i;
        own_nodes += alone.nodes();
      }
      exhausted += truth == LayoutTree::End::exhausted;
    }
  }
  EXPECT_GT(exhausted, 100);
  EXPECT_LT(shared_nodes, own_nodes);
}

}  // namespace
}  // namespace stowage::layout_failed_states_test
