// The table of two plans: rows by label, and differences only between amounts of one unit.
#include "cli/answers/page/side_by_side.h"

#include <gtest/gtest.h>

namespace stowage::page_side_by_side_test {
namespace {

std::string difference(const Fact& one, const Fact& other) {
  return compare_facts({one}, {other}).front().difference;
}

TEST(SideBySide, StatesDifferencesOfAmounts) {
  EXPECT_EQ(difference({"time", "9 806 ms, verified"}, {"time", "10 296 ms, verified"}),
            "+490.0 ms (+5.00%)");
  EXPECT_EQ(difference({"peak", "1 024 bytes"}, {"peak", "768 bytes at step 3"}),
            "-256 bytes (-25.00%)");
  EXPECT_EQ(difference({"micro-batches", "12"}, {"micro-batches", "9"}), "-3");
  EXPECT_EQ(difference({"gap", "4.82%"}, {"gap", "5.29%"}), "+0.470 points");
  EXPECT_EQ(difference({"gap", "4.82%"}, {"gap", "4.82%"}), "none as rounded");
  EXPECT_EQ(difference({"gap", "4.82%", 4.82}, {"gap", "4.82%", 4.82}), "none");
  EXPECT_EQ(difference({"peak", "768 bytes"}, {"peak", "768 bytes"}), "none");
}

// Texts are rounded; equal texts may hide a difference.
TEST(SideBySide, TakesTheExactAmounts) {
  EXPECT_EQ(difference({"time", "9 806 ms", 9806.25}, {"time", "9 806 ms", 9806.5}),
            "+0.250 ms (+0.00%)");
  EXPECT_EQ(difference({"gap", "0.00%", 0.0}, {"gap", "0.00%", 1e-6}),
            "less than 0.001 points higher");
}

TEST(SideBySide, StatesNoDifferenceOfOtherTexts) {
  EXPECT_EQ(difference({"groups", "3 of 4"}, {"groups", "2 of 4"}), "");
  EXPECT_EQ(difference({"strategy", "2x1"}, {"strategy", "4x1"}), "");
  EXPECT_EQ(difference({"time", "3 ms"}, {"time", "3 bytes"}), "");
  EXPECT_EQ(difference({"search", "method auto"}, {"search", "method fast"}), "");
  EXPECT_EQ(difference({"name", ""}, {"name", "4"}), "");
}

TEST(SideBySide, HasARowForEachLabel) {
  const std::vector<ComparedFact> rows =
      compare_facts({{"objective", "3 ms"}, {"search", "method auto"}},
                    {{"objective", "4 ms"}, {"bound as claimed", "2 ms"}});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].label, "search");
  EXPECT_EQ(rows[1].texts[1], "");
  EXPECT_EQ(rows[2].label, "bound as claimed");
  EXPECT_EQ(rows[2].texts[0], "");
  EXPECT_EQ(rows[2].texts[1], "2 ms");
}

}  // namespace
}  // namespace stowage::page_side_by_side_test
