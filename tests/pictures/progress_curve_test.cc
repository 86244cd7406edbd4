// The curves contain the outcome's values, with times and without.
#include "instances/pictures/progress_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/svg_document.h"

namespace stowage::progress_curve_test {
namespace {

SvgDocument document_of(const ProgressHistory& history, Quantity quantity = Quantity::time_ms) {
  return SvgDocument(svg_document({progress_curve(history, quantity)}, "search"));
}

TEST(ProgressCurve, NamesWhatFoundEachImprovement) {
  const ProgressHistory history{.points = {{0.0, 50, std::nullopt, "area"},
                                           {0.01, 50, 100.0, "lpt"},
                                           {0.5, 80, 90.0, "a<b>"}},
                                .end_seconds = 2};
  const SvgDocument document = document_of(history);
  EXPECT_EQ(document.complaints(), "");
  for (const char* text :
       {"bound 50.00 ms by area after 0.000 ms", "best 100.0 ms by lpt after 10.00 ms",
        "best 90.00 ms by a<b> after 500.0 ms", "bound 80.00 ms by a<b>"}) {
    EXPECT_TRUE(document.has_tooltip(text)) << text;
  }
}

TEST(ProgressCurve, NeedsNeitherTimesNorPlans) {
  ProgressHistory history{.points = {{std::nullopt, 1024, std::nullopt, "load"}}};
  const SvgDocument document = document_of(history, Quantity::bytes);
  EXPECT_EQ(document.complaints(), "");
  EXPECT_TRUE(document.has_tooltip("bound 1 024 bytes by load"));
  EXPECT_EQ(document_of({}).complaints(), "");
}

TEST(ProgressCurve, ABoundThatRoundingAloneTellsFromThePlan) {
  const SvgDocument document = document_of(
      {.points = {{0.1, 44704.1, std::nextafter(44704.1, 1e9), "x"}}, .end_seconds = 1});
  EXPECT_EQ(document.complaints(), "");
  EXPECT_TRUE(document.has_tooltip("best 44 704 ms by x"));
}

TEST(ProgressCurve, LeavesOutWhatIsNotFinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  const SvgDocument document = document_of(
      {.points = {{0.1, -infinite, infinite, "x"}, {0.2, 5, 7.0, "y"}}, .end_seconds = 1});
  EXPECT_EQ(document.complaints(), "");
  EXPECT_FALSE(document.has_tooltip("by x"));
}

}  // namespace
}  // namespace stowage::progress_curve_test
