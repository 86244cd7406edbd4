#include "instances/layout/verify/number_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "instances/numeric/random.h"

namespace stowage::layout_truth_test {
namespace {

TEST(RankSet, AgreesWithAnOrderedSet) {
  std::mt19937_64 random(1);
  for (const std::size_t size : {0, 1, 63, 64, 65, 4095, 4096, 300000}) {
    RankSet ranks(size);
    std::set<std::size_t> expected;
    for (int change = 0; change < 4000 && size > 0; ++change) {
      const std::size_t member = draw(random, size);
      if (draw(random, 5) < 2) {
        ranks.erase(member);
        expected.erase(member);
      } else {
        ranks.insert(member);
        expected.insert(member);
      }
      const std::size_t asked = draw(random, size + 1);
      const auto at = expected.lower_bound(asked);
      ASSERT_EQ(ranks.next(asked), at == expected.end() ? RankSet::kNone : *at);
      ASSERT_EQ(ranks.previous(asked), at == expected.begin() ? RankSet::kNone : *std::prev(at));
      ASSERT_EQ(asked < size && ranks.contains(asked), expected.contains(asked));
    }
    for (const std::size_t member : expected) ranks.erase(member);
    EXPECT_EQ(ranks.next(0), RankSet::kNone);
    EXPECT_EQ(ranks.previous(size), RankSet::kNone);
  }
}

}  // namespace
}  // namespace stowage::layout_truth_test
