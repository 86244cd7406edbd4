// The values that a scatter plan must state, computed from the page of the format, in cases worked
// out by hand.
#include "instances/scatter/verify/reference_model.h"

#include <gtest/gtest.h>

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
  // No row of sequences of only 5 or only 40 tokens is on the diagonal of that cell.
  EXPECT_TRUE(truth.takes_at_least({.ms = 5}, 1, 40, 40));
  EXPECT_TRUE(truth.takes_at_least({.ms = 5}, 1, 5, 5));
  // Rows between 5 and 40 tokens a sequence hold the entries that take nothing.
  EXPECT_FALSE(truth.takes_at_least({.ms = 5}, 1, 5, 40));
}

}  // namespace
}  // namespace stowage::scatter_truth_test
