#include "instances/numeric/radix_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "instances/numeric/random.h"

namespace stowage::radix_sort_test {
namespace {

struct Item {
  std::int64_t number = 0;
  int place = 0;

  bool operator==(const Item&) const = default;
};

// Few and many items, near and far apart, of either sign; equal ones stay in their order.
TEST(RadixSort, AgreesWithAStableSort) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {0, 1, 2, 499, 500, 501, 502, 3000, 70000}) {
    for (const int bits : {0, 1, 5, 11, 12, 23, 40, 53, 63}) {
      const auto number = [&] {
        const auto drawn = static_cast<std::int64_t>(random() & ((std::uint64_t{1} << bits) - 1));
        return draw(random, 2) == 0 ? drawn : -drawn;
      };
      std::vector<Item> items;
      for (std::size_t i = 0; i < count; ++i) items.push_back({number(), static_cast<int>(i)});
      std::vector<Item> expected = items;
      std::ranges::stable_sort(expected, {}, &Item::number);
      radix_sort(items, [](const Item& item) { return sort_key(item.number); });
      EXPECT_EQ(items, expected) << count << " items of " << bits << " bits";
    }
  }
}

TEST(RadixSort, OrdersDoublesAsNumbers) {
  std::mt19937_64 random(2);
  std::vector<double> values{0.0, -0.0, 1e300, -1e300, 5e-324, -5e-324};
  for (int i = 0; i < 2000; ++i)
    values.push_back((draw_unit(random) - 0.5) * std::ldexp(1, i % 99));
  for (const double a : values) {
    for (const double b : {values[0], values[1], values[2], values[3], values[4], values[5], a}) {
      EXPECT_EQ(sort_key(a) < sort_key(b), a < b) << a << ' ' << b;
    }
  }
  radix_sort(values, [](double value) { return ~sort_key(value); });
  EXPECT_TRUE(std::ranges::is_sorted(values, std::greater()));
}

}  // namespace
}  // namespace stowage::radix_sort_test
