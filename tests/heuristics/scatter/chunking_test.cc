#include "heuristics/scatter/construct/chunking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "heuristics/scatter/construct/grouping.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_chunking_test {
namespace {

Tokens tokens_of(const ScatterTable& table, const std::vector<int>& chunk) {
  Tokens sum = 0;
  for (const int position : chunk) sum += table.length(position);
  return sum;
}

std::vector<int> sorted_union(const Chunks& chunks) {
  std::vector<int> all;
  for (const auto& chunk : chunks) {
    EXPECT_TRUE(std::ranges::is_sorted(chunk));
    all.insert(all.end(), chunk.begin(), chunk.end());
  }
  std::ranges::sort(all);
  return all;
}

std::vector<int> everyone(const ScatterTable& table) {
  std::vector<int> all;
  for (int position = 0; position < table.size(); ++position) all.push_back(position);
  return all;
}

// The best cost over all cuts of the sorted sequences into consecutive chunks.
template <class Combine>
double best_cut(const ScatterTable& table, int most_chunks, Combine combine) {
  double best = std::numeric_limits<double>::infinity();
  for (unsigned cuts = 0; cuts < 1U << (table.size() - 1); ++cuts) {
    if (__builtin_popcount(cuts) >= most_chunks) continue;
    Chunks chunks(1);
    for (int position = 0; position < table.size(); ++position) {
      if (position > 0 && (cuts >> (position - 1) & 1) != 0) chunks.emplace_back();
      chunks.back().push_back(position);
    }
    best = std::min(best, combine(chunks));
  }
  return best;
}

TEST(ScatterChunking, TokenChunksMinimiseTheLargestSum) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const ScatterTable table(tiny_scatter(seed, 9));
    if (table.size() == 0) continue;
    for (const int count : {1, 2, 3, 5}) {
      const auto largest = [&](const Chunks& chunks) {
        Tokens most = 0;
        for (const auto& chunk : chunks) most = std::max(most, tokens_of(table, chunk));
        return static_cast<double>(most);
      };
      const Chunks chunks = token_chunks(table, count);
      EXPECT_LE(chunks.size(), static_cast<std::size_t>(count));
      EXPECT_EQ(sorted_union(chunks), everyone(table));
      EXPECT_EQ(largest(chunks), best_cut(table, count, largest)) << seed << ' ' << count;
    }
  }
}

TEST(ScatterChunking, SpreadAndFirstFitRespectTheTokensOfAMicroBatch) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed, 20);
    if (!unplaceable_sequences(instance).empty()) continue;
    const ScatterTable table(instance);
    const Tokens capacity = table.devices() * table.device_tokens();
    const Chunks first_fit = first_fit_chunks(table);
    EXPECT_EQ(sorted_union(first_fit), everyone(table));
    for (const auto& chunk : first_fit) EXPECT_LE(tokens_of(table, chunk), capacity);
    const auto spread = spread_chunks(table, fewest_micro_batches(table) + 2);
    if (!spread) continue;
    EXPECT_EQ(sorted_union(*spread), everyone(table));
    for (const auto& chunk : *spread) EXPECT_LE(tokens_of(table, chunk), capacity);
  }
}

TEST(ScatterChunking, FewestMicroBatchesIsTheTokenQuotient) {
  ScatterInstance instance{.cluster = {.devices = 2, .memory_mib = 10, .degrees = {1, 2}},
                           .model = {.activation_mib_per_token = 1},
                           .lengths = {10, 10}};
  EXPECT_EQ(fewest_micro_batches(ScatterTable(instance)), 1);
  instance.lengths.push_back(1);
  EXPECT_EQ(fewest_micro_batches(ScatterTable(instance)), 2);
  instance.lengths.clear();
  EXPECT_EQ(fewest_micro_batches(ScatterTable(instance)), 0);
}

// With costs that the estimates never exceed, the lazy search finds the best consecutive cut.
TEST(ScatterChunking, ShortestPathIsTheBestConsecutiveCut) {
  int compared = 0;
  int other_counts = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed, 8);
    if (instance.lengths.empty() || !unplaceable_sequences(instance).empty()) continue;
    const ScatterTable table(instance);
    const Tokens capacity = table.devices() * table.device_tokens();
    const ChunkCost cost = [&](std::span<const int> positions) {
      return 3 * grouping_estimate(table, positions);
    };
    const auto price = [&](const Chunks& chunks) {
      Ms sum = 0;
      for (const auto& chunk : chunks) {
        sum +=
            tokens_of(table, chunk) > capacity ? std::numeric_limits<Ms>::infinity() : cost(chunk);
      }
      return sum;
    };
    const Budget budget;
    const auto [paths, outrun] =
        shortest_path_chunks(table, cost, {.rounds = 100000, .spread = 1}, budget);
    ASSERT_FALSE(paths.empty());
    EXPECT_NEAR(price(paths[0]), best_cut(table, table.size(), price), 1e-9 * price(paths[0]));
    for (const Chunks& chunks : paths) {
      EXPECT_EQ(sorted_union(chunks), everyone(table));
      EXPECT_GE(price(chunks), price(paths[0]) * (1 - 1e-12));
    }
    for (const Chunks& chunks : outrun) {
      EXPECT_EQ(sorted_union(chunks), everyone(table));
      EXPECT_GE(price(chunks), price(paths[0]) * (1 - 1e-12));
    }
    for (std::size_t i = 1; i < paths.size(); ++i) {
      const auto apart = std::abs(static_cast<int>(paths[i].size() - paths[0].size()));
      EXPECT_EQ(apart, 1);
      ++other_counts;
    }
    ++compared;
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(other_counts, 100);
}

}  // namespace
}  // namespace stowage::scatter_chunking_test
