// Segments of steps: one for each peak between low valleys, with the steps near its maximum.
#include "solvers/memory/segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"

namespace stowage::stretches_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Stretches, OfNoStepsAreNone) { EXPECT_THAT(stretches({}, 100), IsEmpty()); }

TEST(Stretches, OfOneHillAreOne) {
  const std::vector<Bytes> needs = {10, 95, 90, 100, 93, 91, 20};
  EXPECT_THAT(stretches(needs, 100), ElementsAre(Segment{.first = 1, .last = 5, .highest = 100}));
}

TEST(Stretches, AreCutAtDeepValleysAlone) {
  const std::vector<Bytes> needs = {80, 70, 84, 60, 100, 87, 99, 50, 40, 55, 60};
  EXPECT_THAT(stretches(needs, 100), ElementsAre(Segment{.first = 0, .last = 3, .highest = 84},
                                                 Segment{.first = 4, .last = 7, .highest = 100},
                                                 Segment{.first = 9, .last = 11, .highest = 60}));
}

TEST(Stretches, StandOneBehindTheOther) {
  QuickRandom random(3);
  for (int round = 0; round < 1000; ++round) {
    std::vector<Bytes> needs(1 + random.below(40));
    for (Bytes& need : needs) need = random.below(100);
    const Bytes peak = std::max<Bytes>(1, *std::ranges::max_element(needs));
    const std::vector<Segment> found = stretches(needs, peak);
    ASSERT_FALSE(found.empty());
    int behind = 0;
    for (const Segment& its : found) {
      ASSERT_GE(its.first, behind);
      ASSERT_LT(its.first, its.last);
      behind = its.last;
      const auto begin = needs.begin() + its.first;
      ASSERT_EQ(*std::max_element(begin, needs.begin() + its.last), its.highest);
    }
    ASSERT_LE(behind, std::ssize(needs));
    EXPECT_EQ(std::ranges::max_element(found, {}, &Segment::highest)->highest,
              *std::ranges::max_element(needs));
  }
}

}  // namespace
}  // namespace stowage::stretches_test
