// The exact search for few sequences against brute force, for determinism, and within its limits.
#include "solvers/scatter/exact/subset_dp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "instances/scatter/json/json.h"
#include "instances/scatter/presets.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_subsets_test {
namespace {

using ::testing::IsEmpty;

// Returns the time of the trivial plan: each sequence in a micro-batch of its own.
Ms one_by_one(const ScatterTable& table) {
  Ms sum = 0;
  for (int kind = 0; kind < static_cast<int>(table.kinds().size()); ++kind) {
    sum += table.alone(kind) * table.kinds()[at(kind)].count;
  }
  return sum;
}

ScatterInstance twelve_of_all_sizes() {
  ScatterInstance instance = *scatter_preset({.model = "gpt-7b", .devices = 16});
  for (int i = 0; i < 12; ++i) instance.lengths.push_back(900 + 700 * i * i);
  return instance;
}

std::optional<WorkingStep> searched(const ScatterInstance& instance, Ms upper) {
  Budget budget;
  return best_of_subsets(ScatterTable(instance), upper, budget);
}

TEST(ScatterSubsets, EqualBruteForceWhateverIsKnown) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(in_long_run(600, 6000)); ++seed) {
    SCOPED_TRACE(seed);
    const ScatterInstance instance = tiny_scatter(seed + 30000, 7);
    const auto known = brute_force(instance);
    if (!known) continue;
    const ScatterTable table(instance);
    for (const Ms upper : {one_by_one(table), known->objective_ms}) {
      const auto step = searched(instance, upper);
      ASSERT_TRUE(step);
      const ScatterPlan plan = to_plan(instance, table, *step);
      EXPECT_THAT(verify(instance, plan), IsEmpty());
      EXPECT_NEAR(plan.objective_ms, known->objective_ms, 1e-9 * known->objective_ms);
    }
    ++compared;
  }
  EXPECT_GT(compared, 300);
}

// The oracle needs seconds for each.
TEST(ScatterSubsets, EqualBruteForceUpToItsLimit) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(in_long_run(4, 100)); ++seed) {
    SCOPED_TRACE(seed);
    const ScatterInstance instance = tiny_scatter(seed + 40000, kBruteForceSequences, 16);
    const auto known = brute_force(instance);
    if (!known) continue;
    const auto step = searched(instance, one_by_one(ScatterTable(instance)));
    ASSERT_TRUE(step);
    EXPECT_NEAR(total(*step), known->objective_ms, 1e-9 * known->objective_ms);
    ++compared;
  }
  EXPECT_GT(compared, 1);
}

// Twelve sequences are the oracle's limit; equal ones are few sets however many they are.
TEST(ScatterSubsets, ManyEqualSequencesAreFewSets) {
  ScatterInstance instance = *scatter_preset({.model = "gpt-7b", .devices = 16});
  for (int i = 0; i < 16; ++i) {
    instance.lengths.push_back(16384);
    instance.lengths.push_back(3000);
  }
  const ScatterTable table(instance);
  const auto step = searched(instance, one_by_one(table));
  ASSERT_TRUE(step);
  EXPECT_THAT(verify(instance, to_plan(instance, table, *step)), IsEmpty());
  // Twice the sequences take at least as long, and at most twice as long.
  ScatterInstance half = instance;
  half.lengths.resize(16);
  const auto half_step = searched(half, one_by_one(ScatterTable(half)));
  ASSERT_TRUE(half_step);
  EXPECT_GT(total(*step), total(*half_step));
  EXPECT_LE(total(*step), 2 * total(*half_step) * (1 + 1e-9));
}

TEST(ScatterSubsets, TooManySetsAreLeftAloneAtOnce) {
  ScatterInstance instance = *scatter_preset({.model = "gpt-7b", .devices = 64});
  for (int i = 0; i < 40; ++i) instance.lengths.push_back(1000 + 200 * i);
  Budget budget;
  const ScatterTable table(instance);
  EXPECT_FALSE(best_of_subsets(table, one_by_one(table), budget));
  EXPECT_EQ(budget.nodes(), 0);
}

TEST(ScatterSubsets, ABudgetThatIsTooSmallIsLeftForOthers) {
  ScatterInstance instance = *scatter_preset({.model = "gpt-7b", .devices = 16});
  for (int i = 0; i < 14; ++i) instance.lengths.push_back(1000 + 300 * i);
  const ScatterTable table(instance);
  Budget one({.node_limit = 1});
  EXPECT_FALSE(best_of_subsets(table, one_by_one(table), one));
  EXPECT_EQ(one.nodes(), 0);
  EXPECT_TRUE(searched(instance, one_by_one(table)));
}

TEST(ScatterSubsets, AnInterruptEndsIt) {
  ScatterInstance instance = *scatter_preset({.model = "gpt-7b", .devices = 16});
  for (int i = 0; i < 14; ++i) instance.lengths.push_back(1000 + 300 * i);
  const ScatterTable table(instance);
  const std::atomic<bool> stop = true;
  Budget stopped({.interrupt = &stop});
  EXPECT_FALSE(best_of_subsets(table, one_by_one(table), stopped));
}

// The command's promise: a proof for any step of up to 12 sequences on up to 16 devices.
TEST(ScatterSubsets, AutoAndExactProveTwelveSequencesOnSixteenDevices) {
  for (int seed = 0; seed < in_long_run(8, 200); ++seed) {
    SCOPED_TRACE(seed);
    ScatterInstance instance = tiny_scatter(static_cast<std::uint64_t>(seed) + 50000, 12, 16);
    for (const char* method : {"auto", "exact"}) {
      if (method == std::string("exact") && built_backends().empty()) continue;
      Budget budget({.node_limit = 200});
      const Outcome outcome = solve(Instance(instance), {.method = method}, budget);
      EXPECT_TRUE(outcome.status == Status::optimal || outcome.status == Status::infeasible);
    }
  }
}

// The search begins somewhere in this range of nodes; the plan never becomes worse.
TEST(ScatterSubsets, MoreNodesNeverMakeThePlanWorse) {
  const ScatterInstance instance = twelve_of_all_sizes();
  Ms last = kInfinity;
  bool was_open = false;
  bool is_proven = false;
  for (std::int64_t nodes = 1; nodes < 60; nodes += 4) {
    Budget budget({.node_limit = nodes});
    const Outcome outcome = solve(Instance(instance), {}, budget);
    ASSERT_TRUE(outcome.objective);
    EXPECT_LE(*outcome.objective, last);
    last = *outcome.objective;
    is_proven = outcome.status == Status::optimal;
    was_open = was_open || !is_proven;
  }
  EXPECT_TRUE(is_proven);
  EXPECT_TRUE(was_open);
}

}  // namespace
}  // namespace stowage::scatter_subsets_test
