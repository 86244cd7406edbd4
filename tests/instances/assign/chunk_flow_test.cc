#include "instances/assign/chunks/chunk_flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/instances/draw.h"

namespace stowage::assign_chunk_flow_test {
namespace {

TEST(ChunkFlow, ShortSequencesArePackedAndLongOnesCut) {
  const std::vector<Chunk> chunks = cut_into_chunks({3, 10, 2, 4, 1, 9}, 4);
  const std::vector<Chunk> expected = {
      {{{3, 0, 4}}},       {{{0, 0, 3}, {4, 0, 1}}}, {{{2, 0, 2}}},
      {{{1, 0, 4}}, 0, 3}, {{{1, 4, 8}}, 1, 3},      {{{1, 8, 10}}, 2, 3},
      {{{5, 0, 4}}, 0, 3}, {{{5, 4, 8}}, 1, 3},      {{{5, 8, 9}}, 2, 3}};
  EXPECT_EQ(chunks, expected);
  EXPECT_TRUE(cut_into_chunks({}, 4).empty());
}

TEST(ChunkFlow, EachTokenIsInOneChunkAndNoChunkIsTooLarge) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Draw draw(seed);
    std::vector<Tokens> lengths(static_cast<std::size_t>(draw.whole(0, 40)));
    for (Tokens& length : lengths) length = draw.whole(1, 200);
    const Tokens size = draw.whole(1, 150);
    std::vector<Tokens> next(lengths.size(), 0);
    for (const Chunk& chunk : cut_into_chunks(lengths, size)) {
      Tokens tokens = 0;
      for (const ChunkPiece& piece : chunk.pieces) {
        Tokens& from = next[static_cast<std::size_t>(piece.sequence)];
        ASSERT_EQ(piece.begin, from);
        from = piece.end;
        tokens += piece.end - piece.begin;
      }
      ASSERT_LE(tokens, size);
      ASSERT_LT(chunk.index, chunk.count);
      ASSERT_TRUE(chunk.count == 1 || chunk.pieces.size() == 1);
    }
    ASSERT_EQ(next, lengths);
  }
}

TEST(ChunkFlow, ThePiecesOfASequenceCostWhatItCostsWhole) {
  const Scheme scheme{.quadratic_ms = 0.25, .linear_ms = 2, .fixed_ms = 0};
  for (const Tokens size : {1, 3, 7, 100}) {
    Ms sum = 0;
    for (const Chunk& chunk : cut_into_chunks({100}, size)) sum += chunk_ms(chunk, scheme);
    EXPECT_EQ(sum, 0.25 * 100 * 100 + 2 * 100);
  }
  EXPECT_EQ(chunk_ms({{{0, 0, 2}, {1, 0, 4}}}, {.quadratic_ms = 1, .linear_ms = 2, .fixed_ms = 5}),
            5 + 4 + 16 + 12);
}

// The example of the paper: sequences of 4, 2, 1 and 1 units on four stages.
TEST(ChunkFlow, PublishedExample) {
  const Scheme scheme{.pp = 4, .linear_ms = 3};
  EXPECT_EQ(simulate_1f1b({12, 6, 3, 3}, 4), 56);
  const std::vector<Chunk> chunks = cut_into_chunks({4, 2, 1, 1}, 2);
  ASSERT_EQ(chunks.size(), 4U);
  const PipelineRun run = run_chunks(chunks, scheme, 2, {});
  EXPECT_EQ(run.end, 46);
  EXPECT_EQ(run.busy, 24);
  EXPECT_NEAR(run.bubble(), 0.478, 5e-4);
}

// Memory follows the chunk size and K, not the longest sequence.
TEST(ChunkFlow, RecomputingBoundsTheMemory) {
  const Scheme scheme{.pp = 1, .linear_ms = 3};
  const std::vector<Chunk> chunks = cut_into_chunks({100}, 10);
  const ChunkMemory memory{.activation = 20, .key_value = 1};
  // Ten chunks: those before the last K keep keys and values only.
  EXPECT_EQ(run_chunks(chunks, scheme, 10, memory).memory, std::vector<Bytes>{100 * 20});
  EXPECT_EQ(run_chunks(chunks, scheme, 1, memory).memory, std::vector<Bytes>{90 + 10 * 20});
  EXPECT_EQ(run_chunks(chunks, scheme, 3, memory).memory, std::vector<Bytes>{70 + 30 * 20});
  EXPECT_EQ(run_chunks(chunks, scheme, 10, memory).end, 300);
  EXPECT_EQ(run_chunks(chunks, scheme, 1, memory).end, 300 + 90);  // nine forward passes more
  EXPECT_EQ(run_chunks(chunks, scheme, 3, memory).busy, 300 + 70);
}

TEST(ChunkFlow, RetainingMoreIsNoSlower) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    std::vector<Tokens> lengths(static_cast<std::size_t>(draw.whole(1, 12)));
    for (Tokens& length : lengths) length = draw.whole(1, 60);
    const Scheme scheme{.pp = static_cast<int>(draw.whole(1, 4)), .linear_ms = 3, .fixed_ms = 6};
    const std::vector<Chunk> chunks = cut_into_chunks(lengths, draw.whole(4, 20));
    PipelineRun before = run_chunks(chunks, scheme, 1, {.activation = 20, .key_value = 1});
    for (const std::size_t retained : {2U, 4U, 8U, 16U}) {
      const PipelineRun run =
          run_chunks(chunks, scheme, retained, {.activation = 20, .key_value = 1});
      EXPECT_LE(run.end, before.end);
      EXPECT_GE(run.memory, before.memory);
      before = run;
    }
  }
}

}  // namespace
}  // namespace stowage::assign_chunk_flow_test
