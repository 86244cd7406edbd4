// Bounds of random scatter steps keep their values.
#include <gtest/gtest.h>

#include <cstdint>

#include "formulations/scatter/bounds.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/oracles/scatter/mixed_brute_force.h"
#include "tests/pinned_values.h"
#include "tests/tiny_mixed_scatter.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_bound_values_test {
namespace {

ScatterInstance drawn(std::uint64_t seed) {
  switch (seed % 9) {
    case 0:
      return tiny_scatter(seed, 5);
    case 1:
      return tiny_ruled_scatter(seed, 5);
    case 2:
      return tiny_timed_scatter(seed, 5);
    case 3:
      return tiny_memory_scatter(seed, 5);
    case 4:
      return tiny_recomputing_scatter(seed, 4);
    case 5:
      return tiny_padded_scatter(seed, 5);
    case 6:
      return tiny_kinds_scatter(seed, 5);
    case 7:
      return tiny_measured_scatter(seed, 5);
    default:
      return tiny_pipeline_scatter(seed, 4);
  }
}

TEST(ScatterBoundValues, AreThoseOfTheFile) {
  PinnedValues values("tests/formulations/values/scatter.txt");
  for (std::uint64_t seed = 0; seed < 180; ++seed) {
    const ScatterInstance instance = drawn(seed);
    if (!brute_force(instance)) continue;
    const ScatterTable table(instance);
    const std::optional<std::int64_t> groups = least_groups(table);
    values.add(seed, "groups", groups ? static_cast<double>(*groups) : -1);
    const int least = least_micro_batches(table);
    values.add(seed, "micro-batches", least);
    values.add(seed, "two-more", step_of_more(table, least + 2));
    values.add(seed, "alone", longest_alone(table));
    for (const NamedBound& bound : scatter_bounds(table)) values.add(seed, bound.name, bound.value);
    if (instance.pipeline_stages > 1) values.add(seed, "simulated", simulated_bound(instance));
  }
  values.compare();
}

// No bound begins at a time of its own: in a unit of time that is ten thousand times as long, all
// bounds are ten thousand times as short.
TEST(ScatterBoundValues, FollowTheUnitOfTime) {
  int pigeonholes = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    ScatterInstance instance = tiny_scatter(seed, 9);
    instance.cost = {.quadratic_ms = 0.01, .linear_ms = 0.5, .fixed_ms = 2};
    if (instance.lengths.empty() || !brute_force(tiny_scatter(seed, 9))) continue;
    const std::vector<NamedBound> before = scatter_bounds(ScatterTable(instance));
    instance.cost = {.quadratic_ms = 1e-6, .linear_ms = 5e-5, .fixed_ms = 2e-4};
    const std::vector<NamedBound> after = scatter_bounds(ScatterTable(instance));
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t k = 0; k < before.size(); ++k) {
      EXPECT_NEAR(after[k].value, 1e-4 * before[k].value, 1e-12 * before[k].value)
          << before[k].name << ' ' << seed;
      pigeonholes += before[k].name == "pigeonhole" && before[k].value > before[0].value ? 1 : 0;
    }
  }
  EXPECT_GT(pigeonholes, 5);
}

// The same with mixed micro-batches, whose area weighs sequences on a device of their own against
// shared ones. The rates of the exchange are in the same unit.
TEST(ScatterBoundValues, OfMixedMicroBatchesFollowTheUnitOfTime) {
  int tried = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    ScatterInstance instance = tiny_mixed_scatter(seed, 6);
    if (instance.cost.exchange || instance.lengths.empty() || !mixed_brute_force(instance)) {
      continue;
    }
    AllToAll exchange = instance.cost.all_to_all;
    instance.cost = {.quadratic_ms = 0.01, .linear_ms = 0.5, .fixed_ms = 2};
    instance.cost.all_to_all = exchange;
    const std::vector<NamedBound> before = scatter_bounds(ScatterTable(instance));
    instance.cost = {.quadratic_ms = 1e-6, .linear_ms = 5e-5, .fixed_ms = 2e-4};
    for (auto& [degree, rate] : exchange.mib_per_ms) rate *= 1e4;
    for (auto& [degree, latency] : exchange.latency_ms) latency *= 1e-4;
    instance.cost.all_to_all = exchange;
    const std::vector<NamedBound> after = scatter_bounds(ScatterTable(instance));
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t k = 0; k < before.size(); ++k) {
      EXPECT_NEAR(after[k].value, 1e-4 * before[k].value, 1e-11 * before[k].value)
          << before[k].name << ' ' << seed;
    }
    ++tried;
  }
  EXPECT_GT(tried, 20);
}

}  // namespace
}  // namespace stowage::scatter_bound_values_test
