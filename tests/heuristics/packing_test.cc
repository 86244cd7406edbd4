#include "heuristics/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "instances/numeric/random.h"

namespace stowage::packing_test {
namespace {

using Sizes = std::vector<Tokens>;

TEST(FirstFit, TakesTheItemsInTheirOrder) {
  const std::vector<Tokens> sizes = {4, 6, 5, 5};
  EXPECT_EQ(first_fit(sizes, 10), (Bins{{0, 1}, {2, 3}}));
  const std::vector<Tokens> rising = {2, 5, 6, 4};
  EXPECT_EQ(first_fit(rising, 10), (Bins{{0, 1}, {2, 3}}));
  EXPECT_EQ(first_fit(rising, 5), std::nullopt);
}

TEST(Packing, FirstFitTakesTheOldestBinWithRoom) {
  EXPECT_EQ(first_fit_decreasing(Sizes{6, 5, 4}, 10), (Bins{{0, 2}, {1}}));
  EXPECT_EQ(first_fit_decreasing(Sizes{4, 5, 6}, 10), (Bins{{2, 0}, {1}}));
}

TEST(Packing, BestFitTakesTheFullestBinWithRoom) {
  // 5 leaves room 5 in bin 0, 7 leaves 3 in bin 1; best fit puts 3 beside 7, first fit does not.
  EXPECT_EQ(best_fit_decreasing(Sizes{7, 6, 4, 3}, 11), (Bins{{0, 2}, {1, 3}}));
  EXPECT_EQ(best_fit_decreasing(Sizes{8, 6, 3, 2}, 11), (Bins{{0, 2}, {1, 3}}));
  EXPECT_EQ(first_fit_decreasing(Sizes{6, 8, 3}, 10), (Bins{{1}, {0, 2}}));
}

TEST(Packing, ItemsBeyondTheCapacityAreRefused) {
  EXPECT_FALSE(first_fit_decreasing(Sizes{1, 11}, 10));
  EXPECT_FALSE(best_fit_decreasing(Sizes{1, 11}, 10));
  EXPECT_FALSE(longest_processing_time(std::vector<double>{1, 1}, Sizes{1, 11}, 2, 10));
}

TEST(Packing, NothingPacksIntoNothing) {
  EXPECT_EQ(first_fit_decreasing(Sizes{}, 10), Bins{});
  EXPECT_EQ(best_fit_decreasing(Sizes{}, 10), Bins{});
  EXPECT_EQ(longest_processing_time({}, Sizes{}, 2, 10), Bins(2));
}

TEST(Packing, LongestProcessingTimeBalancesLoadsWithinTheCapacity) {
  EXPECT_EQ(longest_processing_time(std::vector<double>{5, 4, 3, 3}, Sizes{1, 1, 1, 1}, 2, 10),
            (Bins{{0, 3}, {1, 2}}));
  // The second bin is less loaded but full.
  EXPECT_EQ(longest_processing_time(std::vector<double>{5, 4, 3}, Sizes{1, 10, 1}, 2, 10),
            (Bins{{0, 2}, {1}}));
}

TEST(Packing, EveryItemStandsOnceAndNoBinOverflows) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    Sizes sizes;
    for (std::uint64_t n = draw(random, 60); n > 0; --n) {
      sizes.push_back(1 + static_cast<Tokens>(draw(random, 40)));
    }
    for (const auto& bins : {first_fit_decreasing(sizes, 40), best_fit_decreasing(sizes, 40)}) {
      ASSERT_TRUE(bins);
      std::vector<int> seen;
      for (const auto& bin : *bins) {
        Tokens sum = 0;
        for (const int item : bin) sum += sizes[static_cast<std::size_t>(item)];
        EXPECT_LE(sum, 40);
        seen.insert(seen.end(), bin.begin(), bin.end());
      }
      std::ranges::sort(seen);
      ASSERT_EQ(seen.size(), sizes.size());
      for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<int>(i));
    }
  }
}

}  // namespace
}  // namespace stowage::packing_test
