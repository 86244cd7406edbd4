// Lower bounds on the number of bins, against values by hand and against bins that exist.
#include "formulations/partition/bin_count.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "instances/numeric/random.h"
#include "instances/partition/bound_check.h"

namespace stowage::partition_bin_count_test {
namespace {

TEST(LeastRows, ByHand) {
  const auto rows = [](std::vector<Tokens> lengths) {
    std::ranges::sort(lengths, std::greater());
    return least_rows(lengths, 100);
  };
  EXPECT_EQ(rows({}), 0);
  EXPECT_EQ(rows({100, 100}), 2);
  EXPECT_EQ(rows({50, 50, 50, 50}), 2);
  EXPECT_EQ(rows({51, 51, 51, 51}), 4);
  EXPECT_EQ(rows({60, 60, 41, 41}), 3);
  EXPECT_EQ(rows({60, 60, 40, 40}), 2);
  EXPECT_EQ(rows({60, 45, 45}), 2);
}

TEST(BinCountBounds, ByHand) {
  const auto best = [](std::vector<Tokens> sizes) {
    std::ranges::sort(sizes, std::greater());
    const PartitionBound bound = bin_count_bounds(sizes, 100).back();
    return bound.name + ' ' + std::to_string(bound.value);
  };
  EXPECT_EQ(best({50, 50}), "tokens 1");
  EXPECT_EQ(best({60, 60, 41}), "large 3");
  EXPECT_EQ(best({34, 34, 34, 34, 34, 34, 34, 34}), "staircase 4");
}

// Sizes that fill bins exactly: no bound exceeds the number of those bins. The verifier's code
// computes the same values.
TEST(BinCountBounds, HoldForBinsThatExist) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 400; ++trial) {
    const auto capacity = static_cast<Tokens>(20 + draw(random, 200));
    const auto bins = static_cast<std::int64_t>(1 + draw(random, 6));
    std::vector<Tokens> sizes;
    for (std::int64_t b = 0; b < bins; ++b) {
      Tokens room = capacity;
      while (room > 0) {
        sizes.push_back(1 + static_cast<Tokens>(draw(random, static_cast<std::uint64_t>(room))));
        room -= sizes.back();
      }
    }
    std::ranges::sort(sizes, std::greater());
    for (const PartitionBound& bound : bin_count_bounds(sizes, capacity)) {
      EXPECT_LE(bound.value, bins) << bound.name;
      const auto checked = checked_bin_count(bound.name, sizes, capacity);
      ASSERT_TRUE(checked) << bound.name;
      if (bound.name == "large") {
        EXPECT_LE(*checked, bound.value);  // which counts all tokens as well
      } else {
        EXPECT_EQ(*checked, bound.value) << bound.name;
      }
    }
  }
}

}  // namespace
}  // namespace stowage::partition_bin_count_test
