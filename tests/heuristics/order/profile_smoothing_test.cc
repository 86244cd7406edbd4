// Orders with a smoothed profile: they are valid, have the same peak, need less at other steps, and
// are deterministic.
#include "heuristics/order/profile_smoothing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "instances/order/generate/generate.h"
#include "instances/order/memory/running_memory.h"
#include "tests/every_order.h"
#include "tests/tiny_order.h"

namespace stowage::levelling_test {
namespace {

// Returns the sum of the fourth powers of the steps' shares of `peak`.
double beside(const OrderTable& table, const std::vector<int>& order, Bytes peak) {
  double sum = 0;
  for (const Bytes need : needs_of(table, order)) {
    const double share = static_cast<double>(need) / static_cast<double>(peak);
    sum += share * share * share * share;
  }
  return sum;
}

TEST(ProfileSmoothing, TinyOrdersStayOrdersAndGetNoHigher) {
  const Budget budget;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const OrderTable table(tiny_order(seed, 12));
    const std::vector<int> before = table.program_order();
    const std::vector<int> after = level_order(table, before, {.moves = 300, .seed = seed}, budget);
    std::vector<int> all = after;
    std::ranges::sort(all);
    std::vector<int> each(before.size());
    std::iota(each.begin(), each.end(), 0);
    ASSERT_EQ(all, each) << seed;
    ASSERT_TRUE(keeps_precedences(table, after)) << seed;
    ASSERT_LE(peak_of(table, after), peak_of(table, before)) << seed;
  }
}

TEST(ProfileSmoothing, LowersWhatIsBesideThePeak) {
  const Budget budget;
  for (const auto kind : {OrderGenerator::Kind::layered, OrderGenerator::Kind::layered_local}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const OrderTable table(*generate_order({.kind = kind, .operators = 150, .seed = seed}));
      const std::vector<int> before = table.program_order();
      const auto levelled = [&](std::int64_t moves) {
        return level_order(table, before, {.moves = moves, .seed = 5}, budget);
      };
      const Bytes peak = peak_of(table, before);
      const double first = beside(table, before, peak);
      const double some = beside(table, levelled(100'000), peak);
      EXPECT_LT(some, 0.8 * first) << seed;
      EXPECT_EQ(levelled(20'000), levelled(20'000));
    }
  }
}

TEST(ProfileSmoothing, LeavesWhatIsOutsideItsPlaces) {
  const Budget budget;
  const OrderTable table(
      *generate_order({.kind = OrderGenerator::Kind::layered, .operators = 100, .seed = 6}));
  const std::vector<int> before = table.program_order();
  const std::vector<int> after =
      level_order(table, before, {.moves = 50'000, .seed = 2, .from = 30, .to = 70}, budget);
  EXPECT_NE(after, before);
  EXPECT_TRUE(keeps_precedences(table, after));
  EXPECT_LE(peak_of(table, after), peak_of(table, before));
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + 30, after.begin()));
  EXPECT_TRUE(std::equal(before.begin() + 70, before.end(), after.begin() + 70));
  EXPECT_EQ(level_order(table, before, {.moves = 1000, .from = 30, .to = 31}, budget), before);
}

TEST(ProfileSmoothing, EndsWithTheBudget) {
  const OrderTable table(
      *generate_order({.kind = OrderGenerator::Kind::layered, .operators = 60, .seed = 4}));
  const Budget none({.time_limit_s = 0});
  EXPECT_EQ(level_order(table, table.program_order(), {.moves = 1'000'000'000'000}, none),
            table.program_order());
}

TEST(ProfileSmoothing, OfNothingAndOfOne) {
  const Budget budget;
  EXPECT_TRUE(level_order(OrderTable({}), {}, {.moves = 10}, budget).empty());
  const OrderTable one({.operators = {OrderOperator{}}});
  EXPECT_EQ(level_order(one, {0}, {.moves = 10}, budget), std::vector<int>{0});
}

}  // namespace
}  // namespace stowage::levelling_test
