#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "heuristics/scatter/published/flexsp_length_buckets.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_buckets_test {
namespace {

Tokens added(const ScatterTable& table, const std::vector<Bucket>& buckets) {
  Tokens sum = 0;
  for (const Bucket& bucket : buckets) {
    for (const int position : bucket.positions) sum += bucket.length - table.length(position);
  }
  return sum;
}

// The least addition over all cuts of the distinct lengths into at most `count` runs.
Tokens least_by_trying(const ScatterTable& table, int count) {
  const int kinds = static_cast<int>(table.kinds().size());
  Tokens least = std::numeric_limits<Tokens>::max();
  for (unsigned cuts = 0; cuts < 1U << (kinds - 1); ++cuts) {
    if (__builtin_popcount(cuts) >= count) continue;
    Tokens sum = 0;
    Tokens top = table.kinds()[0].length;
    for (int k = 0; k < kinds; ++k) {
      const DistinctLength& kind = table.kinds()[static_cast<std::size_t>(k)];
      if (k > 0 && (cuts >> (k - 1) & 1) != 0) top = kind.length;
      sum += (top - kind.length) * kind.count;
    }
    least = std::min(least, sum);
  }
  return least;
}

TEST(ScatterBuckets, AddTheFewestTokens) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const ScatterTable table(tiny_scatter(seed, 12));
    if (table.size() == 0) continue;
    std::vector<int> positions(static_cast<std::size_t>(table.size()));
    std::iota(positions.begin(), positions.end(), 0);
    for (const int count : {1, 2, 3, 16}) {
      const std::vector<Bucket> buckets = bucket_lengths(table, positions, count);
      EXPECT_LE(buckets.size(), static_cast<std::size_t>(count));
      EXPECT_EQ(added(table, buckets), least_by_trying(table, count)) << seed << ' ' << count;
      std::vector<int> seen;
      for (const Bucket& bucket : buckets) {
        EXPECT_EQ(bucket.length, table.length(bucket.positions.front()));
        seen.insert(seen.end(), bucket.positions.begin(), bucket.positions.end());
      }
      EXPECT_EQ(seen, positions);
    }
  }
}

}  // namespace
}  // namespace stowage::scatter_buckets_test
