// Bounds of random strategies keep their values.
#include <gtest/gtest.h>

#include <cstdint>

#include "formulations/strategy/bounds.h"
#include "tests/pinned_values.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_bound_values_test {
namespace {

TEST(StrategyBoundValues, AreThoseOfTheFile) {
  PinnedValues values("tests/formulations/values/strategy.txt");
  for (std::uint64_t seed = 0; seed < 90; ++seed) {
    const StrategyInstance instance = tiny_with_shares(seed);
    const StrategyTable table(instance);
    values.add(seed, "work", work_bound(table));
    const LeastMemory least = least_memory(table);
    values.add(seed, "memory", least.mib);
    values.add(seed, "memory-stage", static_cast<double>(least.stage));
    values.add(seed, "memory-layers", static_cast<double>(least.layers));
    const auto prices = equal_prices(table, Budget());
    ASSERT_TRUE(prices);
    values.add(seed, "prices", prices->bound_ms);
    for (StrategyCertificate::Class its : prices->classes) {
      values.add(seed, "class", class_bound(table, its));
      const double half = its.prices.front() / 2;  // the prices sum to 1
      its.prices.front() -= half;
      its.prices.back() += half;
      values.add(seed, "priced", class_bound(table, its));
    }
  }
  values.compare();
}

}  // namespace
}  // namespace stowage::strategy_bound_values_test
