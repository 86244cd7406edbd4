// The verifier's rules of chunks: both sides of every boundary, by hand.
#include "instances/assign/verify/chunk_reference.h"

#include <gtest/gtest.h>

namespace stowage::assign_chunk_truth_test {
namespace {

TEST(ChunkReference, PartsAndRanges) {
  const ChunkRule rule{.size = 4};
  const ChunkReference truth(rule);
  EXPECT_EQ(truth.parts(1), 1);
  EXPECT_EQ(truth.parts(4), 1);
  EXPECT_EQ(truth.parts(5), 2);
  EXPECT_EQ(truth.parts(8), 2);
  EXPECT_EQ(truth.most_parts(8), 8);
  EXPECT_EQ(truth.range(10, 1), (TokenRange{4, 8}));
  EXPECT_EQ(truth.range(10, 2), (TokenRange{8, 10}));
}

TEST(ChunkReference, TheLastPartsGoOnce) {
  const ChunkRule rule{.size = 4, .retained = 2};
  const ChunkReference truth(rule);
  EXPECT_TRUE(truth.goes_twice(0, 3));
  EXPECT_FALSE(truth.goes_twice(1, 3));
  EXPECT_FALSE(truth.goes_twice(0, 2));
}

// Memory holds the activations of two chunks of 4 tokens, and the keys and values of the others: 10
// tokens need 8 x 10 + 2 x 3 = 86 bytes. Each stage has room for the activations of `max_tokens`.
TEST(ChunkReference, MemoryHoldsUpToItsLastByte) {
  const ChunkRule rule{.size = 4, .retained = 2, .activation_bytes = 10, .key_value_bytes = 3};
  const ChunkReference truth(rule);
  const auto fits = [&](Tokens length, Tokens most, int pp) {
    return truth.fits(length, {.pp = pp, .max_tokens = most});
  };
  EXPECT_TRUE(fits(10, 9, 1));
  EXPECT_FALSE(fits(10, 8, 1));
  EXPECT_TRUE(fits(10, 3, 3));
  EXPECT_FALSE(fits(10, 4, 2));
  EXPECT_TRUE(fits(8, 8, 1));
  EXPECT_FALSE(fits(9, 8, 1));
  EXPECT_TRUE(fits(11, 9, 1));   // 89 bytes
  EXPECT_FALSE(fits(12, 9, 1));  // 92 bytes
  EXPECT_TRUE(fits(3, 3, 1));    // fewer tokens than are retained
  EXPECT_FALSE(fits(3, 2, 1));
}

TEST(ChunkReference, MemoryTooLargeForAnInteger) {
  constexpr Tokens kMany = Tokens{1} << 40;
  const ChunkRule large{
      .size = kMany, .retained = 1, .activation_bytes = Tokens{1} << 30, .key_value_bytes = 1};
  EXPECT_FALSE(ChunkReference(large).fits(kMany, {.max_tokens = 1024}));  // activations
  const ChunkRule rest{
      .size = 1, .retained = 1, .activation_bytes = 1, .key_value_bytes = Tokens{1} << 30};
  EXPECT_FALSE(ChunkReference(rest).fits(kMany, {.max_tokens = 1024}));  // keys and values
  EXPECT_TRUE(
      ChunkReference(large).fits(kMany, {.max_tokens = kMany}));  // the room is equally large
}

// A forward pass takes a third of a row's time, a backward pass two thirds.
TEST(ChunkReference, PipelinesByHand) {
  const auto ends = [](std::vector<TimedChunk> rows, int stages) {
    return ChunkReference::simulated(rows, stages);
  };
  EXPECT_EQ(ends({}, 2), 0);
  EXPECT_DOUBLE_EQ(ends({{.once = 3}}, 1), 3);
  EXPECT_DOUBLE_EQ(ends({{.once = 3}}, 2), 6);
  EXPECT_DOUBLE_EQ(ends({{.once = 3}, {.once = 3}}, 2), 9);
  EXPECT_DOUBLE_EQ(ends({{.once = 3, .twice = true}}, 1), 4);
  // Cut in two: forward, forward, backward of the second part, forward of the first part again,
  // backward.
  EXPECT_DOUBLE_EQ(ends({{.once = 3, .twice = true, .parts = 2}, {.once = 6, .parts = 0}}, 1), 10);
}

}  // namespace
}  // namespace stowage::assign_chunk_truth_test
