#include "heuristics/layout/construct/circular_next_fit.h"

#include <gtest/gtest.h>

#include "tests/layout_check.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_ring_test {
namespace {

// `alive` buffers at any time, each for as long as the others.
LayoutInstance rolling(std::int64_t buffers, std::int64_t alive, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  LayoutInstance instance;
  for (std::int64_t i = 0; i < buffers; ++i) {
    const auto size = static_cast<Bytes>(1 + draw(random, 1000));
    instance.buffers.push_back({.lower = i, .upper = i + alive, .size = size});
  }
  return instance;
}

TEST(LayoutRing, GoesRound) {
  // 5 and 3 bytes at first; the third does not fit behind them in 10 bytes, but where the first
  // was.
  const LayoutInstance instance{.buffers = {{.lower = 0, .upper = 2, .size = 5},
                                            {.lower = 1, .upper = 4, .size = 3},
                                            {.lower = 2, .upper = 5, .size = 4},
                                            {.lower = 4, .upper = 6, .size = 6}}};
  const LayoutTable table(instance);
  EXPECT_EQ(lay_round_a_ring(table, 10, Budget()), (std::vector<Bytes>{0, 5, 0, 4}));
}

TEST(LayoutRing, MakesLayouts) {
  int laid = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const LayoutInstance instance = tiny_layout(seed, 14);
    const LayoutTable table(instance);
    if (instance.capacity) continue;
    const auto offsets = lay_round_a_ring(table, table.max_load(), Budget());
    EXPECT_EQ(offsets.has_value(), !table.any_pins());
    if (!offsets) continue;
    EXPECT_EQ(layout_fault(instance, *offsets, table.peak(*offsets)), "") << seed;
    ++laid;
  }
  EXPECT_GT(laid, 1000);
}

TEST(LayoutRing, IsNearTheLoadWhereLifetimesAreEqual) {
  const LayoutTable table(rolling(5000, 200, 1));
  const auto offsets = lay_round_a_ring(table, table.max_load(), Budget());
  ASSERT_TRUE(offsets);
  EXPECT_LE(static_cast<double>(table.peak(*offsets)),
            1.01 * static_cast<double>(table.max_load()));
}

TEST(LayoutRing, StopsWithItsBudget) {
  const LayoutTable table(rolling(100'000, 20, 1));
  EXPECT_FALSE(lay_round_a_ring(table, table.max_load(), Budget({.time_limit_s = 0})));
}

}  // namespace
}  // namespace stowage::layout_ring_test
