#include "heuristics/assign/construct/propose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "instances/assign/presets.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_propose_test {
namespace {

AssignInstance two_schemes() {
  return {.name = "two",
          .devices = 8,
          .schemes = {{.name = "long", .tp = 4, .linear_ms = 1, .max_tokens = 100},
                      {.name = "short", .tp = 1, .linear_ms = 2, .max_tokens = 10}},
          .lengths = {100, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}};
}

TEST(ProposeStrategies, LongSequencesGetALargeReplicaAndShortOnesManySmallOnes) {
  for (const RangeCost cost : {RangeCost::rows, RangeCost::hydraulis}) {
    const std::vector<Strategy> strategies = propose_strategies(two_schemes(), {.cost = cost});
    ASSERT_EQ(strategies.size(), 2U);
    EXPECT_EQ(strategies[0], (Strategy{"P0", {1, 4}}));  // 100 ms beside 12 * 20 / 4
    EXPECT_EQ(strategies[1], (Strategy{"P1", {0, 8}}));  // steps without the long sequence
  }
  EXPECT_EQ(propose_strategies(two_schemes(), {.most = 1}).size(), 1U);
}

TEST(ProposeStrategies, WhatNoSchemeAdmitsIsLeftOut) {
  AssignInstance instance = two_schemes();
  instance.lengths = {1000};
  EXPECT_TRUE(propose_strategies(instance).empty());
  instance.lengths = {};
  EXPECT_TRUE(propose_strategies(instance).empty());
  instance.lengths = {1000, 5};
  EXPECT_EQ(propose_strategies(instance).size(), 1U);
}

TEST(ProposeStrategies, FitOnTheDevicesAndAdmitTheLongest) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    AssignInstance instance = tiny_assign(seed, 12);
    Tokens cap = 0;
    for (const Scheme& scheme : instance.schemes) {
      if (scheme.tp * scheme.pp <= instance.devices) cap = std::max(cap, scheme.max_tokens);
    }
    const std::vector<Strategy> strategies =
        propose_strategies(instance, {.buckets = static_cast<int>(1 + seed % 12)});
    std::set<std::vector<int>> different;
    for (const Strategy& strategy : strategies) {
      int devices = 0;
      for (std::size_t g = 0; g < instance.schemes.size(); ++g) {
        ASSERT_GE(strategy.replicas[g], 0);
        devices += strategy.replicas[g] * instance.schemes[g].tp * instance.schemes[g].pp;
      }
      ASSERT_GE(devices, 1) << seed;
      ASSERT_LE(devices, instance.devices) << seed;
      different.insert(strategy.replicas);
    }
    ASSERT_EQ(different.size(), strategies.size());
    Tokens longest = 0;
    for (const Tokens length : padded_lengths(instance)) longest = std::max(longest, length);
    if (longest > 0 && longest <= cap) {
      ASSERT_FALSE(strategies.empty()) << seed;
      EXPECT_GE(longest_allowed(instance, strategies.front()), longest) << seed;
    }
  }
}

// Returns the published cost of the best way to cut the lengths in ranges and to assign copies of a
// scheme to each range, with at most `available` copies of each scheme and `devices` devices,
// without the programme's tables.
Ms best_by_hand(const AssignInstance& instance, std::size_t from, int devices,
                const std::vector<int>& available) {
  const std::vector<Tokens>& lengths = instance.lengths;  // ascending
  if (from == lengths.size()) return 0;
  Ms best = std::numeric_limits<Ms>::infinity();
  for (std::size_t to = from + 1; to <= lengths.size(); ++to) {
    if (to < lengths.size() && lengths[to] == lengths[to - 1]) continue;
    for (std::size_t g = 0; g < instance.schemes.size(); ++g) {
      const Scheme& scheme = instance.schemes[g];
      if (scheme.max_tokens < lengths[to - 1]) continue;
      for (int copies = 1; copies <= available[g] && copies * scheme.tp * scheme.pp <= devices;
           ++copies) {
        Ms time = 0;
        Ms longest = 0;
        for (std::size_t i = from; i < to; ++i) {
          const auto s = static_cast<double>(lengths[i]);
          longest = scheme.quadratic_ms * s * s + scheme.linear_ms * s + scheme.fixed_ms;
          time += longest;
        }
        time = (time + (scheme.pp - 1) * longest) / copies;
        std::vector<int> left = available;
        left[g] -= copies;
        const int devices_left = devices - copies * scheme.tp * scheme.pp;
        best = std::min(best, std::max(time, best_by_hand(instance, to, devices_left, left)));
      }
    }
  }
  return best;
}

TEST(ProposeStrategies, ThePublishedProgrammeFindsTheBestRanges) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    AssignInstance instance = tiny_assign(seed, 4);
    instance.pad_multiple = 1;
    instance.devices = std::min(instance.devices, 6);
    std::sort(instance.lengths.begin(), instance.lengths.end());
    const Ms best = best_by_hand(instance, 0, instance.devices,
                                 std::vector<int>(instance.schemes.size(), instance.devices));
    if (instance.lengths.empty() || best == std::numeric_limits<Ms>::infinity()) continue;
    const std::vector<Strategy> strategies =
        propose_strategies(instance, {.cost = RangeCost::hydraulis, .buckets = 1000, .most = 1});
    ASSERT_EQ(strategies.size(), 1U) << seed;
    EXPECT_NEAR(best_by_hand(instance, 0, instance.devices, strategies[0].replicas), best,
                1e-9 * best)
        << seed;
    ++compared;
  }
  EXPECT_GE(compared, 40);
}

TEST(ProposeStrategies, OfAPresetServeTheLongest) {
  AssignInstance instance = *assign_preset("llama-32b");
  for (Tokens length = 64; length <= 32768; length = length * 5 / 4) {
    for (Tokens k = 0; k < 65536 / length; ++k) instance.lengths.push_back(length);
  }
  for (const RangeCost cost : {RangeCost::rows, RangeCost::hydraulis}) {
    const std::vector<Strategy> strategies = propose_strategies(instance, {.cost = cost});
    ASSERT_GE(strategies.size(), 2U);
    EXPECT_EQ(longest_allowed(instance, strategies[0]), 43520);
  }
}

}  // namespace
}  // namespace stowage::assign_propose_test
