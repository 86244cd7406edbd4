#include "instances/scatter/cost/time_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "instances/scatter/json/json.h"
#include "tests/instances/json_fixture.h"

namespace stowage::scatter_time_grid_test {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

const TimeGrid kGrid{.tokens = {0, 10, 30},
                     .squares = {0, 100, 900},
                     .ms = {1, 2, 3,  //
                            5, 6, 9,  //
                            8, 12, 20}};

TEST(TimeGrid, HasItsEntriesAndPlanesBetweenThem) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_DOUBLE_EQ(kGrid.at(kGrid.tokens[i], kGrid.squares[j]), kGrid.entry(i, j));
    }
  }
  EXPECT_DOUBLE_EQ(kGrid.at(5, 0), 3);     // half way from 1 to 5
  EXPECT_DOUBLE_EQ(kGrid.at(5, 50), 3.5);  // on the diagonal from 1 to 6
  EXPECT_DOUBLE_EQ(kGrid.at(5, 25), 1 + 0.5 * 4 + 0.25 * 1);
  EXPECT_DOUBLE_EQ(kGrid.at(2.5, 50), 1 + 0.5 * 1 + 0.25 * 4);
  EXPECT_DOUBLE_EQ(kGrid.at(20, 300), 6 + 0.5 * 6 + 0.25 * 8);
}

TEST(TimeGrid, CornersAreWhereRowsCanBe) {
  const std::vector<GridPoint> all = corners(kGrid, {.shortest = 5, .longest = 30});
  for (const GridPoint& corner : all) {
    EXPECT_GE(corner.squares, 5 * corner.tokens - 1e-9);
    EXPECT_LE(corner.squares, 30 * corner.tokens + 1e-9);
    EXPECT_DOUBLE_EQ(corner.ms, kGrid.at(corner.tokens, corner.squares));
  }
  const auto has = [&](double tokens, double squares) {
    return std::ranges::any_of(all, [&](const GridPoint& corner) {
      return std::abs(corner.tokens - tokens) < 1e-9 && std::abs(corner.squares - squares) < 1e-6;
    });
  };
  EXPECT_TRUE(has(0, 0));
  EXPECT_TRUE(has(10, 100));   // an entry
  EXPECT_FALSE(has(30, 100));  // five tokens at least to a sequence: 150 squares
  EXPECT_TRUE(has(30, 150));   // where the lower ray ends
  EXPECT_TRUE(has(30, 900));
  EXPECT_TRUE(has(20, 100));        // the lower ray meets a line
  EXPECT_TRUE(has(10.0 / 3, 100));  // and so does the upper one
  EXPECT_FALSE(has(0, 100));
}

TEST(TimeGrid, ThePlaneBelowIsHighestWhereAsked) {
  const std::vector<GridPoint> all = corners(kGrid, {.shortest = 1, .longest = 30});
  for (const auto& [tokens, squares] :
       std::vector<std::pair<double, double>>{{30, 900}, {10, 100}, {20, 200}, {1, 1}}) {
    const AffineTime best = highest_below(all, tokens, squares);
    for (const GridPoint& corner : all) {
      EXPECT_LE(best.at(corner.tokens, corner.squares), corner.ms);
    }
    // No plane of a raster of planes that lie below is higher there.
    for (double ms = 0; ms <= 1; ms += 0.125) {
      for (double token = 0; token < 0.6; token += 0.0125) {
        double square = 1e300;
        for (const GridPoint& corner : all) {
          const double left = corner.ms - ms - token * corner.tokens;
          if (corner.squares > 0) square = std::min(square, left / corner.squares);
          if (left < 0) square = -1;
        }
        if (square < 0) continue;
        EXPECT_LE(ms + token * tokens + square * squares,
                  best.at(tokens, squares) * (1 + 1e-6) + 1e-9);
      }
    }
  }
}

// A grid that is a plane is its own plane, below and near.
TEST(TimeGrid, PlanesOfAPlane) {
  TimeGrid grid = kGrid;
  const AffineTime plane{.ms = 2, .token_ms = 0.5, .square_ms = 0.25};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      grid.ms[i * 3 + j] = plane.at(grid.tokens[i], grid.squares[j]);
    }
  }
  const std::vector<GridPoint> all = corners(grid, {.shortest = 2, .longest = 20});
  for (const AffineTime& found : {highest_below(all, 20, 200), nearest(grid, all, 30)}) {
    EXPECT_NEAR(found.ms, plane.ms, 1e-6);
    EXPECT_NEAR(found.token_ms, plane.token_ms, 1e-6);
    EXPECT_NEAR(found.square_ms, plane.square_ms, 1e-6);
  }
}

constexpr char kMeasured[] = R"({"format": "stowage/instance", "version": 1, "problem": "scatter",
  "cluster": {"devices": 2, "memory_mib": 120},
  "model": {"states_mib": 20, "activation_mib_per_token": 1},
  "cost": {"table": {
    "1": {"tokens": [0, 50, 100], "squares": [0, 10000], "ms": [[4, 6], [30, 37], [50, 61]]},
    "2": {"tokens": [0, 200], "squares": [0, 40000], "ms": [[6, 12], [54, 72]]}}},
  "lengths": [150, 60, 40, 30]})";

std::vector<std::string> told(const std::string& from, const std::string& to) {
  const auto instance = read_scatter_instance(with(kMeasured, from, to));
  std::vector<std::string> errors;
  if (instance) return errors;
  for (const InputError& error : instance.errors()) errors.push_back(to_string(error));
  return errors;
}

TEST(TimeGrid, IsReadFromAnInstance) {
  const auto instance = read_scatter_instance(kMeasured);
  ASSERT_TRUE(instance);
  const TimeGrid& grid = instance->cost.table.at(1);
  EXPECT_THAT(grid.tokens, ElementsAre(0, 50, 100));
  EXPECT_THAT(grid.ms, ElementsAre(4, 6, 30, 37, 50, 61));
}

TEST(TimeGrid, SaysWhatIsWrongWithATable) {
  const auto expect = [](const char* from, const char* to, const char* error) {
    EXPECT_THAT(told(from, to), ElementsAre(StartsWith(error))) << to;
  };
  expect("[0, 50, 100]", "[0, 100, 50]",
         "E310 /cost/table/1/tokens/2: must be above the entry before it, 100, by 1e-09 or more, "
         "is 50");
  expect("[0, 50, 100]", "[10, 50, 100]",
         "E310 /cost/table/1/tokens/0: must be 0, where a group has no sequence yet, is 10");
  expect("[0, 10000]", "[10000]", "E310 /cost/table/1/squares: must have 2 to 64 entries, has 1");
  expect("[50, 61]]", "[50, 61], [70, 80]]",
         "E310 /cost/table/1/ms: must have a row for each of the 3 entries of tokens, has 4");
  expect("[30, 37]", "[30]",
         "E310 /cost/table/1/ms/1: must have a time for each of the 2 entries of squares, has 1");
  expect("[30, 37]", "[30, 62]",
         "E310 /cost/table/1/ms/2/1: must be at least the time of fewer tokens, 62, is 61: more "
         "work takes no less time");
  expect("[30, 37]", "[30, 29]",
         "E310 /cost/table/1/ms/1/1: must be at least the time of fewer squares, 30, is 29");
  expect("[4, 6]", "[-4, 6]", "E206 /cost/table/1/ms/0/0");
  expect("[4, 6]", "[\"a\", 6]", "E203 /cost/table/1/ms/0/0");
  expect("[[4, 6], [30, 37], [50, 61]]", "4", "E203 /cost/table/1/ms");
  expect("\"2\": {", "\"4\": {",
         "E310 /cost/table: must have a grid for every allowed degree, lacks 2");
  expect("[0, 50, 100]", "[0, 50, 99]",
         "E310 /cost/table/1/tokens: must reach the 100 tokens that groups of degree 1 may hold, "
         "ends at 99: measure larger groups, or limit them with rules.max_tokens_per_rank");
  expect("[0, 40000]", "[0, 30000]",
         "E310 /cost/table/2/squares: must reach 40000, the most squares that groups of degree 2 "
         "may have, ends at 30000");
  expect("\"activation_mib_per_token\": 1",
         "\"activation_mib_per_token\": 1, \"recomputation\": [{\"name\": \"full\"}]",
         "E310 /cost/table: must stand without model.recomputation");
  expect("\"memory_mib\"", "\"devices_per_node\": 1, \"kinds\": [{\"nodes\": 2}], \"memory_mib\"",
         "E310 /cost/table: must stand without cluster.kinds");
  expect("\"lengths\"", "\"rules\": {\"packed\": false}, \"lengths\"",
         "E310 /cost/table: must stand without \"packed\": false");
  expect("\"table\": {", "\"tile_tokens\": 8, \"table\": {",
         "E310 /cost/tile_tokens: must not stand beside a table");
  // A rule that keeps groups inside the grid is a remedy.
  EXPECT_THAT(told("[0, 50, 100]", "[0, 50, 99]").size(), 1);
  EXPECT_TRUE(
      read_scatter_instance(with(with(kMeasured, "[0, 50, 100]", "[0, 50, 99]"), "\"lengths\"",
                                 "\"rules\": {\"max_tokens_per_rank\": 99}, \"lengths\"")));
}

}  // namespace
}  // namespace stowage::scatter_time_grid_test
