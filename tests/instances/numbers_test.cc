#include "instances/numeric/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace stowage::numbers_test {
namespace {

TEST(Numbers, ThousandsStandApart) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1842560), "1 842 560");
  EXPECT_EQ(grouped(-1000), "-1 000");
  EXPECT_EQ(grouped(std::numeric_limits<std::int64_t>::min()), "-9 223 372 036 854 775 808");
}

TEST(Numbers, MillisecondsHaveFourDigits) {
  EXPECT_EQ(ms_text(15310.4), "15 310");
  EXPECT_EQ(ms_text(1000), "1 000");
  EXPECT_EQ(ms_text(999.96), "1 000");
  EXPECT_EQ(ms_text(999.94), "999.9");
  EXPECT_EQ(ms_text(43.256), "43.26");
  EXPECT_EQ(ms_text(0), "0.000");
  EXPECT_EQ(ms_text(-0.0001), "0.000");
  EXPECT_EQ(ms_text(-2.5), "-2.500");
  EXPECT_EQ(ms_text(std::nullopt), "-");
  EXPECT_EQ(ms_text(-std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(ms_text(std::nan("")), "-");
  EXPECT_GT(ms_text(std::numeric_limits<double>::max()).size(), 309U);
}

TEST(Numbers, SharesAndSeconds) {
  EXPECT_EQ(percent_text(0.0529), "5.29%");
  EXPECT_EQ(percent_text(0), "0.00%");
  EXPECT_EQ(percent_text(std::nullopt), "-");
  EXPECT_EQ(seconds_text(0.05), "0.05s");
  EXPECT_EQ(seconds_text(1204), "1 204.00s");
  EXPECT_EQ(shortest(0.1), "0.1");
}

TEST(Numbers, OneOfAThingIsNotMany) {
  EXPECT_EQ(counted(0, "group"), "0 groups");
  EXPECT_EQ(counted(1, "group"), "1 group");
  EXPECT_EQ(counted(1842, "micro-batch", "micro-batches"), "1 842 micro-batches");
  EXPECT_EQ(counted(1, "micro-batch", "micro-batches"), "1 micro-batch");
}

TEST(Numbers, DigitsThatMatter) {
  EXPECT_EQ(significant(4), "4");
  EXPECT_EQ(significant(0.0125), "0.0125");
  EXPECT_EQ(significant(1'234'567), "1.23e+06");
  EXPECT_EQ(scientific(1.2e-7), "1.2e-07");
  EXPECT_EQ(scientific(std::nan("")), "nan");
  EXPECT_EQ(scientific(std::numeric_limits<double>::infinity()), "inf");
}

}  // namespace
}  // namespace stowage::numbers_test
