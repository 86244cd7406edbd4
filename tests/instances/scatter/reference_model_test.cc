// The values that a scatter plan must state, computed from the page of the format, in cases worked
// out by hand.
#include "instances/scatter/verify/reference_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/instances/draw.h"

namespace stowage::scatter_truth_test {
namespace {

// Times that are 0 at both ends of the diagonal of the upper cell and 100 elsewhere: 0 along that
// diagonal, more beside it.
ScatterInstance kinked() {
  ScatterInstance instance{.cluster = {.devices = 1, .memory_mib = 100, .degrees = {1}},
                           .model = {.activation_mib_per_token = 1},
                           .lengths = {15}};
  instance.cost.table[1] = {.tokens = {0, 10, 20},
                            .squares = {0, 100, 400},
                            .ms = {100, 100, 100, 100, 0, 100, 100, 100, 0}};
  return instance;
}

// Sequences of 15 tokens meet the diagonal at 13 1/3 tokens, between all entries of the grid.
TEST(ScatterReferenceModel, APlaneIsBelowTheTimesOnTheDiagonalAsWell) {
  const ScatterInstance instance = kinked();
  const ScatterReferenceModel truth(instance);
  EXPECT_TRUE(truth.takes_at_least({.ms = 0}, 1, 15, 15));
  EXPECT_FALSE(truth.takes_at_least({.ms = 5}, 1, 15, 15));
  // A plane may touch the times.
  ScatterInstance flat = instance;
  for (double& ms : flat.cost.table[1].ms) ms = 64;
  EXPECT_TRUE(ScatterReferenceModel(flat).takes_at_least({.ms = 64}, 1, 15, 15));
  EXPECT_FALSE(ScatterReferenceModel(flat).takes_at_least({.ms = 64.001}, 1, 15, 15));
  // No row of sequences of only 5 or only 40 tokens is on the diagonal of that cell.
  EXPECT_TRUE(truth.takes_at_least({.ms = 5}, 1, 40, 40));
  EXPECT_TRUE(truth.takes_at_least({.ms = 5}, 1, 5, 5));
  // Rows between 5 and 40 tokens a sequence hold the entries that take nothing.
  EXPECT_FALSE(truth.takes_at_least({.ms = 5}, 1, 5, 40));
}

// A plane that is above the time of some row is refused: rows of the shortest and of the longest
// sequences and of both are tried at many sums, on random grids.
TEST(ScatterReferenceModel, NoPlaneIsAboveARow) {
  Draw draw(7);
  int near = 0;
  for (int trial = 0; trial < 300; ++trial) {
    ScatterInstance instance = kinked();
    TimeGrid& grid = instance.cost.table[1];
    for (double& ms : grid.ms) ms = static_cast<double>(draw.whole(0, 100));
    const Tokens shortest = draw.whole(1, 15);
    const Tokens longest = draw.whole(shortest, 25);
    AffineTime plane{.token_ms = draw.real(-5, 5), .square_ms = draw.real(-0.3, 0.3)};
    const ScatterReferenceModel truth(instance);
    double least = 1e300;
    for (int i = 0; i <= 200; ++i) {
      const double tokens = i * grid.tokens.back() / 200;
      for (int j = 0; j <= 20; ++j) {
        const double mean =
            static_cast<double>(shortest) + j * static_cast<double>(longest - shortest) / 20;
        const double squares = tokens * mean;
        if (squares > grid.squares.back()) continue;
        const double time = static_cast<double>(truth.looked_up(grid, tokens, squares));
        least = std::min(least, time - plane.token_ms * tokens - plane.square_ms * squares);
      }
    }
    plane.ms = least + 1e-6;
    EXPECT_FALSE(truth.takes_at_least(plane, 1, shortest, longest)) << trial;
    plane.ms = least - 3;  // more than the time changes between two points that are tried
    near += truth.takes_at_least(plane, 1, shortest, longest) ? 1 : 0;
  }
  EXPECT_GT(near, 250);
}

// Memory without end holds more than any sum of tokens.
TEST(ScatterReferenceModel, CapacityBeyondTheIntegerRange) {
  const ScatterInstance instance{.cluster = {.devices = 4096, .memory_mib = 1e300},
                                 .model = {.activation_mib_per_token = 1}};
  const ScatterReferenceModel truth(instance);
  EXPECT_EQ(truth.capacity(1), kMaxExact);
  EXPECT_GT(truth.capacity(4096), kMaxExact);
  EXPECT_TRUE(truth.fits_memory(truth.sums_of(kMaxExact), 4096));
}

// 50 tokens of 2 MiB, or 100 of which a MiB is on the host, if that has room for what has left.
TEST(ScatterReferenceModel, CapacityOfWhatStays) {
  ScatterInstance instance{.cluster = {.devices = 1, .memory_mib = 100},
                           .model = {.activation_mib_per_token = 2}};
  instance.model.offload = ActivationOffload{.mib_per_token = 1};
  const ScatterReferenceModel truth(instance);
  EXPECT_EQ(truth.whole_per_device(1), 50);
  EXPECT_EQ(truth.per_device(1), 100);
  instance.model.offload->host_mib = 40;
  EXPECT_EQ(truth.per_device(1), 50 + 20);
}

TEST(ScatterReferenceModel, OnlyGroupsThatThereMayBeTakeATime) {
  const ScatterInstance instance{
      .cluster = {.devices = 4, .degrees = {1, 2}}, .cost = {.linear_ms = 1}, .lengths = {8}};
  const ScatterReferenceModel truth(instance);
  const GroupSums sums = truth.sums_of(8);
  EXPECT_EQ(truth.time(sums, {2}), 4);
  for (const int degree : {-1, 0, 3}) EXPECT_EQ(truth.time(sums, {degree}), std::nullopt);
  EXPECT_EQ(truth.time(sums, {2, ExchangeKind::ring}), std::nullopt);
  GroupSums unknown = sums;
  unknown.all_known = false;
  EXPECT_EQ(truth.time(unknown, {2}), std::nullopt);
  GroupSums endless = sums;
  endless.tokens.reset();
  EXPECT_EQ(truth.time(endless, {2}), std::nullopt);
}

// Two nodes of the first kind and one of each other: groups of one kind have its number, those of
// several the number of the first behind all kinds.
TEST(ScatterReferenceModel, PlacesOfGroups) {
  ScatterInstance instance;
  instance.cluster = {.devices = 8, .devices_per_node = 2, .degrees = {1, 2, 4, 8}};
  EXPECT_EQ(ScatterReferenceModel(instance).place(4, 4), 0);
  instance.cluster.kinds = {{.nodes = 2}, {.nodes = 1}, {.nodes = 1}};
  const ScatterReferenceModel truth(instance);
  EXPECT_EQ(truth.place(4, 0), 0);
  EXPECT_EQ(truth.place(2, 4), 1);
  EXPECT_EQ(truth.place(1, 7), 2);
  EXPECT_EQ(truth.place(8, 0), 3 + 0);
  EXPECT_EQ(truth.place(4, 4), 3 + 1);
  for (const auto& [degree, first] : {std::pair{0, 0}, {2, -2}, {2, 1}, {4, 8}, {8, 4}}) {
    EXPECT_EQ(truth.place(degree, first), std::nullopt) << degree << ' ' << first;
  }
}

}  // namespace
}  // namespace stowage::scatter_truth_test
