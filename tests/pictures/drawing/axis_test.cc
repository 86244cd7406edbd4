// Axes have round ticks, labels that neither touch nor leave the canvas, and scales within their
// range.
#include "instances/pictures/drawing/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "instances/pictures/drawing/panel.h"
#include "tests/svg_document.h"

namespace stowage::drawing_axis_test {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> texts;
  for (const Tick& tick : axis.ticks) texts.push_back(tick.label);
  return texts;
}

TEST(Axis, TicksAreRound) {
  EXPECT_THAT(labels(linear_axis(Quantity::count, 0, 64, 8)),
              ElementsAre("0", "10", "20", "30", "40", "50", "60"));
  EXPECT_THAT(labels(linear_axis(Quantity::count, 0, 1, 8)), ElementsAre("0", "1"));
  const Axis times = linear_axis(Quantity::time_ms, 0, 9806, 5);
  EXPECT_EQ(times.unit, "s");
  EXPECT_THAT(labels(times), ElementsAre("0", "2", "4", "6", "8"));
  EXPECT_DOUBLE_EQ(times.ticks[1].value, 2000);
  EXPECT_THAT(labels(linear_axis(Quantity::time_ms, 0, 6000, 8)),
              ElementsAre("0", "1", "2", "3", "4", "5", "6"));
  EXPECT_THAT(labels(linear_axis(Quantity::time_ms, 0, 0.002, 4)),
              ElementsAre("0.0", "0.5", "1.0", "1.5", "2.0"));
}

// A bound and a plan that differ only by rounding.
TEST(Axis, EndsWithNoNumberBetweenHaveFewTicks) {
  for (const Quantity quantity : {Quantity::count, Quantity::time_ms, Quantity::bytes}) {
    for (double low = 1e-3; low < 1e18; low *= 7.3) {
      for (const double high : {low, std::nextafter(low, 1e300), low * (1 + 1e-12)}) {
        EXPECT_LE(linear_axis(quantity, low, high, 5).ticks.size(), 7U) << low << ' ' << high - low;
      }
    }
  }
}

TEST(Axis, BytesAreCountedInPowersOfTwo) {
  const Axis axis = linear_axis(Quantity::bytes, 0, 0x1p20, 4);
  EXPECT_EQ(axis.unit, "KiB");
  EXPECT_THAT(labels(axis), ElementsAre("0", "256", "512", "768", "1 024"));
  EXPECT_THAT(labels(linear_axis(Quantity::bytes, 0, 12, 8)),
              ElementsAre("0", "2", "4", "6", "8", "10", "12"));
  EXPECT_THAT(labels(linear_axis(Quantity::bytes, 0, 1, 8)), ElementsAre("0", "1"));
}

TEST(Axis, LargeValuesGetALargerUnit) {
  const Axis axis = linear_axis(Quantity::count, 0, 4e7, 4);
  EXPECT_EQ(axis.unit, "10^3");
  EXPECT_THAT(labels(axis), ElementsAre("0", "10 000", "20 000", "30 000", "40 000"));
  EXPECT_DOUBLE_EQ(axis.ticks[1].value, 1e7);
}

TEST(Axis, LogarithmicTicksArePowers) {
  EXPECT_THAT(labels(logarithmic_axis(0.001, 2, 10)), ElementsAre("0.001", "0.01", "0.1", "1"));
  EXPECT_THAT(labels(logarithmic_axis(64, 512, 2)), ElementsAre("64", "128", "256", "512"));
}

TEST(Scale, KeepsValuesInside) {
  const Scale linear = Scale::linear(0, 10, 100, 200);
  EXPECT_DOUBLE_EQ(linear(5), 150);
  EXPECT_DOUBLE_EQ(linear(-1), 100);
  EXPECT_DOUBLE_EQ(linear(11), 200);
  EXPECT_DOUBLE_EQ(Scale::linear(0, 0, 100, 200)(0), 100);
  const Scale logarithmic = Scale::logarithmic(1, 100, 0, 10);
  EXPECT_DOUBLE_EQ(logarithmic(10), 5);
  EXPECT_DOUBLE_EQ(logarithmic(0), 0);
}

TEST(Axis, LabelsNeverTouchWhateverTheRange) {
  for (const Quantity quantity : {Quantity::count, Quantity::time_ms, Quantity::bytes}) {
    for (double high = 1e-6; high < 1e16; high *= 3.7) {
      Panel panel("axis");
      const Box plot = panel.plot(120);
      const Axis axis = linear_axis(quantity, 0, high, 9);
      draw_bottom_axis(panel.svg, plot, Scale::linear(0, high, plot.x, plot.right()), axis, "x");
      draw_left_axis(panel.svg, plot, Scale::linear(0, high, plot.bottom(), plot.y), axis, "y");
      const SvgDocument document(svg_document({std::move(panel).finish()}, ""));
      EXPECT_EQ(document.complaints(), "") << high;
      EXPECT_LE(axis.ticks.size(), 11U) << high;
      EXPECT_GE(axis.ticks.size(), 1U) << high;
    }
  }
}

}  // namespace
}  // namespace stowage::drawing_axis_test
