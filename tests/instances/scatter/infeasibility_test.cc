// Proofs that a scatter step has no plan, on both sides of every boundary.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "instances/scatter/verify/reference_counts.h"
#include "instances/scatter/verify/verify.h"
#include "tests/instances/every_proof.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_infeasibility_test {
namespace {

// 10 tokens a device.
ScatterInstance of(int devices, std::vector<int> degrees, std::vector<Tokens> lengths) {
  return {.cluster = {.devices = devices,
                      .memory_mib = 10,
                      .degrees = std::move(degrees),
                      .aligned = false},
          .model = {.activation_mib_per_token = 1},
          .cost = {.linear_ms = 1},
          .lengths = std::move(lengths)};
}

ScatterInstance busy(int devices, std::vector<int> degrees, std::vector<Tokens> lengths) {
  ScatterInstance instance = of(devices, std::move(degrees), std::move(lengths));
  instance.rules.no_idle_ranks = true;
  return instance;
}

bool holds(const ScatterInstance& instance, const InfeasibilityProof& proof) {
  return check_infeasibility(instance, proof).empty();
}

const InfeasibilityProof kBatches = {.by = "micro_batches"};

TEST(ScatterInfeasibility, SequencesAreLongerThanTheLargestGroupHolds) {
  EXPECT_FALSE(holds(of(4, {1, 2}, {20}), {.by = "sequences", .witnesses = {0}}));
  EXPECT_TRUE(holds(of(4, {1, 2}, {21}), {.by = "sequences", .witnesses = {0}}));
  EXPECT_FALSE(holds(of(4, {1, 2}, {21, 3}), {.by = "sequences", .witnesses = {0, 1}}));
  EXPECT_FALSE(holds(of(4, {1, 2}, {21}), {.by = "sequences"}));
  EXPECT_FALSE(holds(of(4, {1, 2}, {21}), {.by = "sequences", .witnesses = {1}}));
  ScatterInstance padded = of(4, {1, 2}, {19});
  padded.pad_multiple = 8;
  EXPECT_TRUE(holds(padded, {.by = "sequences", .witnesses = {0}}));
  // Rows of a multiple of 8 tokens have 16 of the 20.
  ScatterInstance rows = of(4, {1, 2}, {16});
  rows.padding = Padding{.row_multiple = 8, .per_degree = false};
  EXPECT_FALSE(holds(rows, {.by = "sequences", .witnesses = {0}}));
  rows.lengths = {17};
  EXPECT_TRUE(holds(rows, {.by = "sequences", .witnesses = {0}}));
}

// If the degrees are not a chain of divisors, the groups that use all ranks need not begin with the
// largest one.
TEST(ScatterInfeasibility, GroupsThatMakeUpAllRanksAreMoreThanSequences) {
  EXPECT_FALSE(holds(busy(6, {2, 3}, {5, 5}), kBatches));
  EXPECT_TRUE(holds(busy(6, {2, 3}, {5}), kBatches));
  EXPECT_FALSE(holds(busy(7, {2, 3}, {5, 5, 5}), kBatches));
  EXPECT_TRUE(holds(busy(7, {2, 3}, {5, 5}), kBatches));
  EXPECT_FALSE(holds(busy(3, {1, 2}, {5, 5}), kBatches));
  EXPECT_TRUE(holds(busy(3, {1, 2}, {5}), kBatches));
  EXPECT_TRUE(holds(busy(9, {4, 6}, {5, 5, 5}), kBatches));  // no groups make up 9
  EXPECT_TRUE(holds(busy(7, {2, 4}, {5, 5, 5, 5}), kBatches));
  EXPECT_FALSE(holds(of(9, {4, 6}, {5}), kBatches));
  EXPECT_FALSE(holds(busy(6, {2, 3}, {}), kBatches));
  EXPECT_EQ(true_fewest_groups(busy(6, {2, 3}, {})), 2);
  EXPECT_EQ(true_fewest_groups(busy(7, {2, 3}, {})), 3);
  EXPECT_EQ(true_fewest_groups(busy(9, {4, 6}, {})), std::nullopt);
  EXPECT_EQ(true_fewest_groups(busy(12, {1, 2, 4}, {})), 3);
  EXPECT_EQ(true_fewest_groups(busy(7, {1, 2, 4}, {})), 3);
}

// Two groups of 2 devices hold two sequences of 10 tokens each; starting with the largest group, 3,
// leaves one sequence over.
TEST(ScatterInfeasibility, FewestMicroBatchesOfDegreesThatAreNoChain) {
  const auto fewest = [](const ScatterInstance& instance) {
    return true_fewest_micro_batches(instance, true_length_counts(instance));
  };
  EXPECT_EQ(fewest(of(4, {2, 3}, {10, 10, 10, 10})), 1);
  EXPECT_EQ(fewest(of(4, {2, 3}, {11, 11, 11, 11})), 2);
  EXPECT_EQ(fewest(of(4, {1, 2, 4}, {11, 11, 11})), 1);
  EXPECT_EQ(fewest(of(4, {1, 2, 4}, {11, 11, 11, 11})), 2);
  EXPECT_EQ(fewest(of(4, {1, 2, 4}, {21, 21, 21})), 3);
  EXPECT_EQ(fewest(of(6, {2, 4}, {15, 15, 15})), 1);      // two on 4 devices, one on the others
  EXPECT_EQ(fewest(of(6, {2, 4}, {15, 15, 15, 15})), 2);  // though their tokens fit at once
  EXPECT_EQ(fewest(of(2, {1, 2}, {})), 0);
  // Each sequence takes a token's memory beside its own: 11 tokens of 10, in no larger parts
  // than 5.
  ScatterInstance beside = of(1, {1}, {4, 2, 2});
  EXPECT_EQ(fewest(beside), 1);
  beside.model.sequence_mib = 1;
  EXPECT_EQ(fewest(beside), 2);
  // Two groups of one device hold two sequences of 4 tokens each, one of two devices holds three.
  beside = of(2, {1, 2}, {4, 4, 4, 4});
  beside.model.sequence_mib = 1;
  EXPECT_EQ(fewest(beside), 1);
  // Two groups of one sequence each.
  ScatterInstance single = of(4, {2}, {1, 1, 1});
  single.rules.max_sequences_per_group = 1;
  EXPECT_EQ(fewest(single), 2);
}

// No plan has fewer than the checks count, and the counts are as high as they were: a check that
// counts fewer would refuse valid claims.
TEST(ScatterInfeasibility, NoPlanHasFewerMicroBatches) {
  int met = 0;
  std::int64_t sum = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (ScatterInstance instance :
         {tiny_full_scatter(seed, 5, 6), tiny_ruled_scatter(seed, 5, 6),
          tiny_kinds_scatter(seed, 5, 6), tiny_padded_scatter(seed, 5, 6),
          tiny_memory_scatter(seed, 5, 6), tiny_scatter(seed, 5, 6)}) {
      if (seed % 3 == 0 && instance.cluster.kinds.empty()) {
        instance.cluster.aligned = false;
        instance.cluster.devices = 4;
        instance.cluster.degrees = {2, 3};
        instance.cost.exchange.reset();
        instance.rules.min_degree = 1;
        instance.cost.all_to_all.mib_per_ms = {{2, 5.0}, {3, 5.0}};
      }
      const auto best = brute_force(instance);
      if (!best) continue;
      const auto fewest = true_fewest_micro_batches(instance, true_length_counts(instance));
      EXPECT_LE(fewest, std::ssize(best->micro_batches)) << instance.name;
      met += fewest == std::ssize(best->micro_batches) ? 1 : 0;
      sum += fewest;
    }
  }
  EXPECT_EQ(met, 827);
  EXPECT_EQ(sum, 937);
}

TEST(ScatterInfeasibility, MicroBatchesAreMoreThanSequences) {
  ScatterInstance instance = of(2, {1, 2}, {5});
  instance.rules.micro_batches_multiple_of = 2;
  EXPECT_TRUE(holds(instance, kBatches));
  instance.lengths = {5, 5};
  EXPECT_FALSE(holds(instance, kBatches));
  // Four sequences of 20 tokens need all of four micro-batches, with two ranks in a group each.
  instance = busy(2, {1, 2}, {20, 20, 20});
  EXPECT_FALSE(holds(instance, kBatches));
  instance.rules.micro_batches_multiple_of = 4;
  EXPECT_TRUE(holds(instance, kBatches));
  instance.lengths.push_back(1);
  EXPECT_FALSE(holds(instance, kBatches));
}

// For a feasible step no proof with any name and witnesses is accepted, also with odd degrees and
// without idle ranks.
TEST(ScatterInfeasibility, NoProofRefutesAStepWithAPlan) {
  int feasible = 0;
  int proven = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    ScatterInstance instance =
        seed % 3 == 0 ? tiny_full_scatter(seed, 4, 7) : tiny_ruled_scatter(seed, 4, 7);
    if (seed % 3 == 1) {
      instance.rules.no_idle_ranks = true;
      instance.cluster.aligned = false;
      instance.cluster.devices = 5 + static_cast<int>(seed / 3 % 5);
      instance.cluster.degrees = seed % 2 == 0 ? std::vector{2, 3} : std::vector{3, 4};
      instance.rules.min_degree = 1;
      for (const int degree : instance.cluster.degrees) {
        instance.cost.all_to_all.mib_per_ms[degree] = 5;
      }
    }
    const bool has_plan = brute_force(instance).has_value();
    feasible += has_plan ? 1 : 0;
    bool some = false;
    for_every_proof({"sequences", "micro_batches"}, instance.lengths.size(), 0,
                    [&](const InfeasibilityProof& proof) {
                      const bool accepted = holds(instance, proof);
                      some = some || accepted;
                      EXPECT_FALSE(has_plan && accepted) << seed << ' ' << proof.by;
                    });
    proven += some ? 1 : 0;
  }
  EXPECT_GT(feasible, 100);
  EXPECT_GT(proven, 100);
}

}  // namespace
}  // namespace stowage::scatter_infeasibility_test
