#include "heuristics/scatter/registry.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "instances/scatter/verify/verify.h"
#include "instances/violation.h"
#include "tests/long_run.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_registry_test {
namespace {

TEST(Registry, NamesAreUniqueAndBaselinesNameTheirSource) {
  const ScatterInstance instance = tiny_scatter(3);
  std::set<std::string> names;
  for (const ScatterHeuristic& heuristic : heuristics(instance)) {
    EXPECT_TRUE(names.insert(heuristic.name).second) << heuristic.name;
    EXPECT_FALSE(heuristic.summary.empty()) << heuristic.name;
  }
  EXPECT_TRUE(names.contains("batch-ada"));
  EXPECT_TRUE(names.contains("homogeneous-" + std::to_string(instance.cluster.degrees[0])));
}

// Every heuristic on a thousand unusual instances: its plans are valid, only homogeneous degrees
// and planners of powers of two may decline, and stowage's methods lose to no baseline.
TEST(Registry, EveryPlanVerifies) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(300, 1000));
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed, 14);
    if (!unplaceable_sequences(instance).empty()) continue;
    Ms best = std::numeric_limits<Ms>::infinity();  // best plan of the baselines, which come first
    for (const ScatterHeuristic& heuristic : heuristics(instance)) {
      const Budget budget;
      const auto plan = heuristic.run(instance, ScatterTable(instance), seed, budget);
      if (!plan) {
        EXPECT_TRUE(heuristic.name.starts_with("homogeneous-") ||
                    heuristic.name.starts_with("megatron-"))
            << heuristic.name << ' ' << seed;
        continue;
      }
      if (heuristic.source.empty()) {
        EXPECT_LE(plan->objective_ms, best * (1 + 1e-12)) << heuristic.name << ' ' << seed;
      } else {
        best = std::min(best, plan->objective_ms);
      }
      const std::vector<Violation> violations = verify(instance, *plan);
      EXPECT_TRUE(violations.empty())
          << heuristic.name << ' ' << seed << ' ' << to_string(violations.front());
    }
  }
}

// Methods that run before the first plan exists may give up; methods that a user calls may not.
TEST(Registry, AnExhaustedBudgetStillYieldsAPlan) {
  const ScatterInstance instance{.cluster = {.devices = 4, .memory_mib = 50, .degrees = {1, 2, 4}},
                                 .model = {.activation_mib_per_token = 1},
                                 .cost = {.linear_ms = 1},
                                 .lengths = {60, 50, 40, 30, 20, 10, 10}};
  for (const ScatterHeuristic& heuristic : heuristics(instance)) {
    const Budget budget({.time_limit_s = 0});
    const auto plan = heuristic.run(instance, ScatterTable(instance), 0, budget);
    EXPECT_TRUE(!plan || verify(instance, *plan).empty()) << heuristic.name;
    if (heuristic.name == "batch-ada" || heuristic.name == "fast" || heuristic.name == "joint") {
      EXPECT_TRUE(plan) << heuristic.name;
    }
  }
}

TEST(Registry, NothingToPlanNeedsNoMemory) {
  const ScatterInstance instance{.cluster = {.devices = 4, .memory_mib = 1, .degrees = {1, 2, 4}},
                                 .model = {.states_mib = 5, .activation_mib_per_token = 1}};
  for (const ScatterHeuristic& heuristic : heuristics(instance)) {
    const auto plan = heuristic.run(instance, ScatterTable(instance), 0, Budget());
    ASSERT_TRUE(plan) << heuristic.name;
    EXPECT_TRUE(plan->micro_batches.empty()) << heuristic.name;
  }
}

TEST(Registry, TheSameSeedGivesTheSamePlan) {
  const ScatterInstance instance = tiny_scatter(11, 14);
  for (const ScatterHeuristic& heuristic : heuristics(instance)) {
    const Budget budget;
    EXPECT_EQ(heuristic.run(instance, ScatterTable(instance), 5, budget),
              heuristic.run(instance, ScatterTable(instance), 5, budget))
        << heuristic.name;
  }
}

}  // namespace
}  // namespace stowage::scatter_registry_test
