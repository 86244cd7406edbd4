#include "heuristics/scatter/improve/anneal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heuristics/scatter/construct/starts/chunk_starts.h"
#include "heuristics/scatter/published/homogeneous.h"
#include "instances/scatter/verify/verify.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_anneal_test {
namespace {

// Every sequence is in a micro-batch of its own: a valid and bad plan.
WorkingStep apart(const ScatterTable& table) {
  Chunks chunks;
  for (int position = 0; position < table.size(); ++position) chunks.push_back({position});
  return *group_chunks(table, chunks, {}, Budget());
}

TEST(ScatterAnneal, StaysValidAndNeverLoses) {
  int improved = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed, 12);
    if (instance.lengths.size() < 2 || !unplaceable_sequences(instance).empty()) continue;
    const ScatterTable table(instance);
    WorkingStep step = *batch_ada(table);
    const Ms start = total(step);
    anneal(table, step, {.steps = 3000}, seed, Budget());
    EXPECT_LE(total(step), start);
    EXPECT_TRUE(verify(instance, to_plan(instance, table, step)).empty()) << seed;
    improved += total(step) < start;
  }
  EXPECT_GT(improved, 100);
}

TEST(ScatterAnneal, EmptiesMicroBatchesThatAreNotNeeded) {
  const ScatterInstance instance{.cluster = {.devices = 4, .memory_mib = 100, .degrees = {1, 2, 4}},
                                 .model = {.activation_mib_per_token = 1},
                                 .cost = {.linear_ms = 1, .fixed_ms = 50},
                                 .lengths = {60, 50, 40, 30, 20, 10, 10}};
  const ScatterTable table(instance);
  WorkingStep step = apart(table);
  ASSERT_EQ(step.size(), 7U);
  anneal(table, step, {.steps = 20000}, 1, Budget());
  EXPECT_EQ(step.size(), 1U);
}

TEST(ScatterAnneal, TheSeedDecidesAndTheBudgetEndsIt) {
  const ScatterInstance instance = tiny_scatter(11, 14);
  const ScatterTable table(instance);
  const WorkingStep start = *batch_ada(table);
  const auto annealed = [&](const Budget& budget) {
    WorkingStep step = start;
    anneal(table, step, {.steps = 5000}, 3, budget);
    return to_plan(instance, table, step);
  };
  EXPECT_EQ(annealed(Budget()), annealed(Budget()));
  EXPECT_EQ(annealed(Budget({.node_limit = 0})), to_plan(instance, table, start));
}

}  // namespace
}  // namespace stowage::scatter_anneal_test
