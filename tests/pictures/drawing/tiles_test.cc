// Large tiles are drawn unchanged; merged tiles keep their area and their number.
#include "instances/pictures/drawing/tiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/pictures/drawing/panel.h"
#include "tests/svg_document.h"

namespace stowage::drawing_tiles_test {
namespace {

const Box kPlot{10, 10, 100, 50};

struct Drawn {
  Merged merged;
  SvgDocument document;
};

Drawn draw(const std::vector<Tile>& tiles, std::size_t most = kMaxShapes) {
  Svg svg;
  const Merged merged = draw_tiles(
      svg, kPlot, tiles, "things", [](std::int64_t i) { return "thing " + std::to_string(i); },
      most);
  return {merged, SvgDocument(svg_document({{"", svg.take(), 100}}, ""))};
}

std::vector<SvgDocument::Shape> shapes_of(const Drawn& drawn) {
  // The first is the background.
  return {drawn.document.shapes.begin() + 1, drawn.document.shapes.end()};
}

double area_of(const SvgDocument::Shape& shape) {
  const double area = shape.box.width * shape.box.height;
  if (shape.classes.ends_with("q1")) return area / 4;
  if (shape.classes.ends_with("q2")) return area / 2;
  return shape.classes.ends_with("q3") ? area * 3 / 4 : area;
}

TEST(Tiles, VisibleOnesAreDrawnOneByOne) {
  const Drawn drawn = draw({{.box = {10, 10, 20, 10}, .hue = 2, .item = 7},
                            {.box = {30, 10, 0.6, 10}, .hue = 3, .item = 8},
                            {.box = {40, 10, 0, 10}, .item = 9}});
  EXPECT_EQ(drawn.merged.tiles, 0);
  EXPECT_EQ(to_string(drawn.merged, "things"), "");
  const auto shapes = shapes_of(drawn);
  ASSERT_EQ(shapes.size(), 2U);  // a tile without width is not drawn
  EXPECT_EQ(shapes[0].title, "thing 7");
  EXPECT_EQ(shapes[0].classes, "c2 t");
  EXPECT_EQ(shapes[1].classes, "c3");  // an edge would hide it
}

TEST(Tiles, TinyOnesBecomeCellsOfTheirAreaAndNumber) {
  std::vector<Tile> tiles;
  // 40 columns of 0.25 px in each of 10 lanes: 10 by 10 px, all covered.
  for (int lane = 0; lane < 10; ++lane) {
    for (int k = 0; k < 40; ++k) {
      tiles.push_back({.box = {10 + k * 0.25, 10.0 + lane, 0.25, 1}, .hue = 1});
    }
  }
  const Drawn drawn = draw(tiles);
  EXPECT_EQ(drawn.merged.tiles, 400);
  EXPECT_THAT(to_string(drawn.merged, "things"),
              testing::StartsWith("400 things narrower or lower"));
  double area = 0;
  for (const auto& shape : shapes_of(drawn)) {
    EXPECT_EQ(shape.title, "40 things");
    EXPECT_EQ(shape.classes, "c1");
    area += area_of(shape);
  }
  EXPECT_DOUBLE_EQ(area, 100);
}

TEST(Tiles, WhatIsPartlyCoveredIsFainter) {
  // Half of each pixel for 20 px, in two hues of which the second covers more.
  std::vector<Tile> tiles;
  for (int k = 0; k < 20; ++k) {
    tiles.push_back({.box = {20.0 + k, 20, 0.2, 1}, .hue = 0});
    tiles.push_back({.box = {20.5 + k, 20, 0.3, 1}, .hue = 4});
  }
  const auto shapes = shapes_of(draw(tiles));
  ASSERT_EQ(shapes.size(), 1U);
  EXPECT_EQ(shapes[0].classes, "c4 q2");
  EXPECT_EQ(shapes[0].title, "40 things");
  EXPECT_DOUBLE_EQ(area_of(shapes[0]), 10);
}

TEST(Tiles, SomethingIsNeverDrawnAsNothing) {
  const auto shapes = shapes_of(draw({{.box = {20, 20, 1e-6, 1e-6}}}));
  ASSERT_EQ(shapes.size(), 1U);
  EXPECT_EQ(shapes[0].title, "1 things");
}

TEST(Tiles, ShapesStayWithinTheirNumber) {
  std::vector<Tile> tiles;
  for (int k = 0; k < 4000; ++k) {
    tiles.push_back({.box = {10 + (k % 100) * 1.0, 10 + (k / 100) * 1.0, 1 - k * 1e-4, 1},
                     .hue = static_cast<std::size_t>(k) % 7,
                     .item = k});
  }
  for (const std::size_t most : {10U, 100U, 1000U, 3999U, 4000U}) {
    const Drawn drawn = draw(tiles, most);
    EXPECT_LE(shapes_of(drawn).size(), 2 * most);
    std::size_t single = 0;
    for (const auto& shape : shapes_of(drawn)) single += shape.title.starts_with("thing ") ? 1 : 0;
    EXPECT_EQ(static_cast<std::int64_t>(single) + drawn.merged.tiles, 4000);
  }
}

}  // namespace
}  // namespace stowage::drawing_tiles_test
