#include "heuristics/scatter/construct/step_coarsening.h"

#include <gtest/gtest.h>

#include "heuristics/scatter/published/homogeneous.h"
#include "heuristics/scatter/registry.h"
#include "instances/numeric/random.h"
#include "instances/scatter/verify/verify.h"

namespace stowage::scatter_coarse_test {
namespace {

ScatterInstance large(int devices, int sequences) {
  ScatterInstance instance{
      .cluster = {.devices = devices, .memory_mib = 1000, .degrees = {1, 2, 4, 8}},
      .model = {.activation_mib_per_token = 1},
      .cost = {.quadratic_ms = 1e-4, .linear_ms = 0.01, .fixed_ms = 5}};
  std::mt19937_64 random(7);
  for (int i = 0; i < sequences; ++i) {
    const auto most = i % 10 == 0 ? 7000 : 500;
    instance.lengths.push_back(1 + static_cast<Tokens>(draw(random, most)));
  }
  return instance;
}

TEST(ScatterCoarse, SmallStepsStayAsTheyAre) {
  EXPECT_FALSE(coarsen(ScatterTable(large(96, 100))));
}

// The copies of a valid plan form one plan, and no micro-batch lasts longer than its model.
TEST(ScatterCoarse, CopiesCoverEveryoneAndTakeNoLonger) {
  for (const int devices : {96, 100, 8}) {
    for (const int sequences : {2000, 2001, 2003}) {
      const ScatterInstance instance = large(devices, sequences);
      const ScatterTable table(instance);
      const std::optional<CoarsenedStep> coarse = coarsen(table);
      ASSERT_TRUE(coarse);
      EXPECT_EQ(coarse->fewer_devices, devices > 8);
      EXPECT_EQ(coarse->table.size(), (sequences + 3) / 4);
      const WorkingStep small = *batch_ada(coarse->table);
      const WorkingStep step = refine(table, *coarse, small);
      EXPECT_TRUE(verify(instance, to_plan(instance, table, step)).empty());
      const double copies = coarse->fewer_devices ? 1 : coarse->factor;
      EXPECT_LE(total(step), copies * total(small) * (1 + 1e-9));
    }
  }
}

// A large step ends by counted moves instead of a clock, and is no worse than the best baseline.
TEST(ScatterCoarse, AHundredThousandSequencesArePlanned) {
  const ScatterInstance instance = large(1000, 100000);
  const ScatterTable table(instance);
  for (const ScatterHeuristic& heuristic : heuristics(instance)) {
    if (heuristic.name != "fast") continue;
    const auto plan = heuristic.run(instance, ScatterTable(instance), 1, Budget());
    ASSERT_TRUE(plan);
    EXPECT_TRUE(verify(instance, *plan).empty());
    EXPECT_LT(plan->objective_ms, total(*batch_ada(table)));
  }
}

}  // namespace
}  // namespace stowage::scatter_coarse_test
