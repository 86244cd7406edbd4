#include "bench/kernels/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowage::bench::ranks_test {
namespace {

using ::testing::HasSubstr;

TEST(RankRows, EveryFigureIsMeasured) {
  const std::vector<RankRow> rows = rank_rows({.length = 1000, .heads = 4, .repeats = 1});
  ASSERT_EQ(rows.size(), 7U);
  for (const RankRow& row : rows) {
    EXPECT_GT(row.measured, row.at_least ? 0 : -1) << row.name;
    EXPECT_EQ(row.met(), row.at_least ? row.measured >= row.target : row.measured <= row.target);
  }
}

// Thread CPU time does not depend on the number of cores. The contiguous ring's last rank has work
// in every step.
TEST(RankRows, ZigzagBeatsTheContiguousRing) {
  const RankSetting setting{.length = 2048, .heads = 2};
  EXPECT_LT(critical_path_s(setting, kernels::ExchangeKind::zigzag, 4),
            critical_path_s(setting, kernels::ExchangeKind::ring, 4));
}

TEST(RankRows, AreWrittenAsJsonAndMarkdown) {
  const RankRow row{.name = "Ulysses",
                    .measured = 0.5,
                    .target = 0.92,
                    .at_least = true,
                    .unit = "T(1) / (P T(P))"};
  const std::string want =
      "{\"name\": \"Ulysses\", \"measured\": 0.5000, \"target\": 0.9200, \"at_least\": true, "
      "\"unit\": \"T(1) / (P T(P))\", \"met\": false}";
  EXPECT_EQ(json_line(row), want);
  EXPECT_THAT(markdown({row}),
              HasSubstr("| Ulysses | 0.5000 | >= 0.9200 | T(1) / (P T(P)) | no |"));
}

}  // namespace
}  // namespace stowage::bench::ranks_test
