#include "solvers/partition/balanced_partitions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "formulations/partition/bounds.h"
#include "instances/numeric/random.h"
#include "instances/partition/partition.h"
#include "tests/long_run.h"
#include "tests/oracles/partition/brute_force.h"

namespace stowage::partition_balanced_partitions_test {
namespace {

constexpr PartitionCounts kCounts[] = {PartitionCounts::any, PartitionCounts::equal,
                                       PartitionCounts::nearly_equal};

TEST(BalancedPartitions, TheHeadersExample) {
  const PartitionInstance batch{.lengths = {4000, 300, 2500, 900}, .bins = 2};
  ASSERT_TRUE(check(batch).empty());
  const PartitionOutcome outcome = balanced_partitions(batch);
  ASSERT_TRUE(outcome.partition);
  EXPECT_EQ(outcome.partition->bins[0].sequences, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(outcome.partition->bins[1].sequences, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(outcome.partition->largest, 4000 * (4000 + 24576));
  EXPECT_EQ(outcome.partition->bound_by, "pigeonhole");
  EXPECT_EQ(outcome.gap, 0);
}

TEST(BalancedPartitions, ErrorsAreThoseOfCheck) {
  const PartitionInstance batch{.lengths = {5}, .bins = 2};
  const PartitionOutcome outcome = balanced_partitions(batch);
  EXPECT_FALSE(outcome.partition);
  EXPECT_EQ(outcome.errors, check(batch));
  EXPECT_FALSE(outcome.errors.empty());
}

// Two bins of at most twelve sequences: the optimum lies between the bound and the heuristic's
// value, which need not reach it.
TEST(BalancedPartitions, OptimaLieBetweenBoundAndPartition) {
  std::mt19937_64 random(11);
  int tried = 0;
  int optimal = 0;
  for (int trial = 0; trial < in_long_run(120, 2000); ++trial) {
    PartitionInstance instance{.bins = static_cast<std::int64_t>(1 + draw(random, 4)),
                               .counts = kCounts[trial % 3],
                               .quadratic = static_cast<std::int64_t>(draw(random, 2)),
                               .linear = static_cast<std::int64_t>(1 + draw(random, 30))};
    auto n = static_cast<std::int64_t>(draw(random, 5)) + instance.bins;
    if (instance.counts == PartitionCounts::equal)
      n = std::max<std::int64_t>(1, n / instance.bins) * instance.bins;
    for (std::int64_t i = 0; i < n; ++i) {
      instance.lengths.push_back(static_cast<Tokens>(1 + draw(random, trial % 2 == 0 ? 9 : 200)));
    }
    const PartitionOutcome outcome = balanced_partitions(instance);
    ASSERT_TRUE(outcome.partition);
    EXPECT_TRUE(verify(instance, *outcome.partition).empty());
    const PartitionOptimum best = brute_force_partition(instance);
    const std::int64_t fewest = instance.counts == PartitionCounts::any ? 1 : n / instance.bins;
    for (const PartitionBound& bound :
         partition_bounds(partition_costs(instance), instance.bins, fewest)) {
      EXPECT_LE(bound.value, best.largest) << bound.name;
    }
    EXPECT_GE(outcome.partition->largest, best.largest);
    if (outcome.partition->largest == best.largest) {
      ++optimal;
      EXPECT_LE(outcome.partition->smallest, best.smallest);
    }
    ++tried;
  }
  EXPECT_GE(10 * optimal, 8 * tried) << optimal << " of " << tried;
}

TEST(BalancedPartitions, ProvesMostLargeBatchesToPartsOfAMillion) {
  std::mt19937_64 random(2);
  for (const PartitionCounts counts : kCounts) {
    PartitionInstance instance{.bins = 16, .counts = counts};
    for (int i = 0; i < 1024; ++i) {
      instance.lengths.push_back(static_cast<Tokens>(100 + draw(random, 8000)));
    }
    const PartitionOutcome outcome = balanced_partitions(instance);
    ASSERT_TRUE(outcome.partition);
    EXPECT_EQ(outcome.partition->bound_by, "average");
    EXPECT_LT(outcome.gap, 2e-6);
    EXPECT_EQ(balanced_partitions(instance).partition, outcome.partition);
  }
}

// The costs of the bins do not depend on the numbering of the sequences.
TEST(BalancedPartitions, TheOrderOfTheSequencesDoesNotMatter) {
  std::mt19937_64 random(4);
  PartitionInstance instance{.bins = 5};
  for (int i = 0; i < 90; ++i) {
    instance.lengths.push_back(static_cast<Tokens>(1 + i * 37 + draw(random, 5)));
  }
  const PartitionOutcome before = balanced_partitions(instance);
  std::ranges::reverse(instance.lengths);
  const PartitionOutcome after = balanced_partitions(instance);
  ASSERT_TRUE(before.partition && after.partition);
  EXPECT_EQ(before.partition->largest, after.partition->largest);
  EXPECT_EQ(before.partition->smallest, after.partition->smallest);
}

}  // namespace
}  // namespace stowage::partition_balanced_partitions_test
