// The pictures of a fit: a dot for each row, with outliers marked.
#include "instances/pictures/scatter/fit.h"

#include <gtest/gtest.h>

#include "instances/scatter/fit/fit.h"
#include "tests/svg_document.h"

namespace stowage::scatter_fit_test {
namespace {

std::vector<TimedRow> rows() {
  std::vector<TimedRow> rows;
  for (int i = 1; i <= 12; ++i) {
    for (const int degree : {1, 2}) {
      const Tokens tokens = 500 * i * degree;
      rows.push_back({.degree = degree,
                      .lengths = {tokens},
                      .ms = 3 + 0.1 * 500 * i + (degree == 2 ? 4 + 0.05 * 500 * i : 0) +
                            1e-5 * static_cast<double>(tokens * tokens) / degree});
    }
  }
  rows[7].ms *= 3;
  return rows;
}

TEST(FitPictures, ShowEveryRowTwiceAndMarkOutliers) {
  const std::vector<TimedRow> measured = rows();
  const Result<CostFit> fit = fit_cost(measured, structure_of(measured));
  ASSERT_TRUE(fit);
  ASSERT_EQ(fit->outliers, std::vector<std::size_t>{7});
  const std::string text = svg_document(fit_pictures(*fit, measured), "fit");
  const SvgDocument document(text);
  EXPECT_EQ(document.complaints(), "");
  EXPECT_EQ(document.rects("c0 t").size(), 24U);      // degree 1: 12 rows, twice
  EXPECT_EQ(document.rects("c1 t").size(), 2U * 11);  // and a legend's box has no edge
  EXPECT_EQ(document.rects("c1 n").size(), 2U);
  EXPECT_TRUE(document.has_tooltip("row 7, degree 2: 1 sequence, 4 000 tokens, measured "));
  EXPECT_TRUE(document.has_tooltip("counts nothing"));
  EXPECT_EQ(text, svg_document(fit_pictures(*fit, measured), "fit"));
}

}  // namespace
}  // namespace stowage::scatter_fit_test
