// The knapsack on a grid, compared with all sets of its items.
#include "formulations/assign/lp/grid_knapsack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "instances/numeric/random.h"

namespace stowage::assign_grid_knapsack_test {
namespace {

constexpr std::size_t kParts = 20;

struct Item {
  std::size_t weight = 0;
  double price = 0;
};

double best_of_all(const std::vector<Item>& items, std::size_t next, std::size_t room) {
  if (next == items.size()) return 0;
  const double without = best_of_all(items, next + 1, room);
  if (items[next].weight > room) return without;
  return std::max(without,
                  items[next].price + best_of_all(items, next + 1, room - items[next].weight));
}

TEST(GridKnapsack, IsTheBestOfAllForEveryRoomAndSaysWhatItHolds) {
  std::mt19937_64 random(11);
  GridKnapsack knapsack(kParts);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    knapsack.clear();
    ASSERT_EQ(knapsack.value(kParts), 0);
    std::vector<Item> items;
    const std::size_t count = draw(random, 9);
    for (std::size_t i = 0; i < count; ++i) {
      // Some items weigh 0, some more than the capacity. Small prices tie often; eight of the large
      // ones reach the limit on sums.
      const std::uint64_t most =
          round % 2 == 0 ? 8 : static_cast<std::uint64_t>(GridKnapsack::kMaxPaid) / 8 + 1;
      items.push_back({draw(random, kParts + 3), static_cast<double>(draw(random, most))});
      knapsack.add(items.back().weight, static_cast<float>(items.back().price));
    }
    ASSERT_EQ(knapsack.items(), count);
    for (std::size_t room = 0; room <= kParts; ++room) {
      EXPECT_EQ(knapsack.value(room), best_of_all(items, 0, room)) << room;
      for (std::size_t first = 0; first <= count; ++first) {
        const std::vector<Item> some(items.begin(),
                                     items.begin() + static_cast<std::ptrdiff_t>(first));
        double paid = 0;
        std::size_t weight = 0;
        for (const std::size_t i : knapsack.held(first, room)) {
          ASSERT_LT(i, first);
          paid += items[i].price;
          weight += items[i].weight;
        }
        EXPECT_LE(weight, room);
        EXPECT_EQ(paid, best_of_all(some, 0, room)) << room << ' ' << first;
      }
    }
  }
}

}  // namespace
}  // namespace stowage::assign_grid_knapsack_test
