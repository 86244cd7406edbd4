// Bounds of assign steps, whole sequences and chunks, against brute force and values by hand.
#include "formulations/assign/bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formulations/assign/chunk_bounds.h"
#include "instances/numeric/numbers.h"
#include "tests/chunked_assign.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_bounds_test {
namespace {

std::map<std::string, double> by_name(const std::vector<NamedBound>& bounds) {
  std::map<std::string, double> values;
  for (const NamedBound& bound : bounds) values[bound.name] = bound.value;
  return values;
}

TEST(AssignBounds, NoneIsAboveTheOptimum) {
  int met = 0;
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    const AssignInstance instance = tiny_assign(seed, 6);
    const auto best = brute_force(instance);
    if (!best) continue;
    const AssignTable table(instance);
    double most = 0;
    for (const NamedBound& bound : assign_bounds(table)) {
      EXPECT_LE(bound.value, best->objective_ms * (1 + 1e-9)) << bound.name << ' ' << seed;
      most = std::max(most, bound.value);
    }
    met += most >= best->objective_ms * (1 - 1e-9) ? 1 : 0;
  }
  EXPECT_GT(met, 100);
}

// Four sequences of 60 tokens, of which no two share a row of 100: two replicas need two rows each,
// 140 ms, and one with two stages needs four, 280 ms and the bubble of 70 ms.
TEST(AssignBounds, OfOneStrategyByHand) {
  const AssignInstance four{
      .devices = 2,
      .schemes = {{.name = "one", .linear_ms = 1, .fixed_ms = 10, .max_tokens = 100},
                  {.name = "two", .pp = 2, .linear_ms = 1, .fixed_ms = 10, .max_tokens = 100}},
      .strategies = {{.name = "flat", .replicas = {2, 0}}, {.name = "deep", .replicas = {0, 1}}},
      .lengths = {60, 60, 60, 60}};
  const AssignTable table(four);
  const auto flat = by_name(strategy_bounds(table, 0));
  EXPECT_NEAR(flat.at("longest"), 70, 1e-9);
  EXPECT_NEAR(flat.at("pigeonhole"), 140, 1e-9);
  EXPECT_NEAR(flat.at("rows"), 140, 1e-9);
  const auto deep = by_name(strategy_bounds(table, 1));
  EXPECT_NEAR(deep.at("longest"), 140, 1e-9);
  EXPECT_NEAR(deep.at("rows"), 350, 1e-9);
  EXPECT_NEAR(strategy_bound(table, 1).value, 350, 1e-9);
  const auto step = by_name(assign_bounds(table));
  EXPECT_NEAR(step.at("rows"), 140, 1e-9);
  EXPECT_NEAR(step.at("strategies"), 140, 1e-9);
}

// On two replicas of a millisecond per token and 10 ms per row of 100 tokens, four sequences: the
// longest is with the shortest, or the three others are together.
TEST(AssignBounds, PairsOrTriplesByHand) {
  AssignInstance instance{
      .devices = 2,
      .schemes = {{.name = "one", .linear_ms = 1, .fixed_ms = 10, .max_tokens = 100}},
      .strategies = {{.name = "flat", .replicas = {2}}}};
  const auto pigeonhole = [&](std::vector<Tokens> lengths) {
    instance.lengths = std::move(lengths);
    return by_name(strategy_bounds(AssignTable(instance), 0)).at("pigeonhole");
  };
  EXPECT_NEAR(pigeonhole({80, 50, 50, 45}), 145, 1e-9);  // 80 and 45 in two rows
  EXPECT_NEAR(pigeonhole({90, 20, 20, 20}), 70, 1e-9);   // three of 20 in one row
  EXPECT_NEAR(pigeonhole({50, 50, 45}), 105, 1e-9);      // 50 and 45 in one row
}

// A row passes both stages of the pipeline, and the first stage computes all rows.
TEST(AssignBounds, OfTheSimulatedEnd) {
  AssignInstance instance{
      .devices = 2,
      .schemes = {{.name = "two", .pp = 2, .linear_ms = 1, .fixed_ms = 10, .max_tokens = 100}},
      .strategies = {{.name = "deep", .replicas = {1}}}};
  EXPECT_EQ(simulated_bound(instance), 0);
  instance.lengths = {60};
  EXPECT_NEAR(simulated_bound(instance), 2 * 70, 1e-9);
  instance.lengths = {60, 60, 60};
  EXPECT_NEAR(simulated_bound(instance), 3 * 70, 1e-9);
  int deep = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const AssignInstance tiny = tiny_assign(seed, 5);
    const auto best = brute_force(tiny);
    if (!best) continue;
    EXPECT_LE(simulated_bound(tiny), best->simulated_1f1b_ms * (1 + 1e-9)) << seed;
    deep += best->simulated_1f1b_ms < best->objective_ms ? 1 : 0;
  }
  EXPECT_GT(deep, 10);
}

// Each strategy alone, since among several strategies another one may be the optimum.
TEST(AssignBounds, OfOneStrategyNoneIsAboveItsOptimum) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const AssignInstance all = tiny_assign(seed, 5);
    for (const Strategy& strategy : all.strategies) {
      AssignInstance instance = all;
      instance.strategies = {strategy};
      const auto best = brute_force(instance);
      if (!best) continue;
      for (const NamedBound& bound : strategy_bounds(AssignTable(instance), 0)) {
        EXPECT_LE(bound.value, best->objective_ms * (1 + 1e-9)) << bound.name << ' ' << seed;
      }
    }
  }
}

// If the budget ends before the work bounds of 15,000 lengths, the bound of the longest sequence
// remains: the second strategy is the fastest for it.
TEST(AssignBounds, WithoutTimeTheLongestSequenceIsLeft) {
  AssignInstance instance{.devices = 12};
  for (int scheme = 0; scheme < 6; ++scheme) {
    instance.schemes.push_back({.name = "s" + std::to_string(scheme),
                                .linear_ms = scheme == 1 ? 1.0 : 2.0 + scheme,
                                .fixed_ms = 10,
                                .max_tokens = 20'000});
  }
  for (int strategy = 0; strategy < 400; ++strategy) {
    std::vector<int> replicas(6, strategy % 2 == 0 ? 2 : 0);
    replicas[0] = 2;
    replicas[1] = strategy == 1 ? 2 : 0;
    instance.strategies.push_back(
        {.name = "t" + std::to_string(strategy), .replicas = std::move(replicas)});
  }
  for (Tokens length = 1; length <= 15'000; ++length) instance.lengths.push_back(length);
  const auto bounds = assign_bounds(AssignTable(instance), Budget({.time_limit_s = 0}));
  ASSERT_EQ(bounds.size(), 1U);
  EXPECT_EQ(bounds[0].name, "longest");
  EXPECT_NEAR(bounds[0].value, 15'010, 1e-6);
}

// A bound of a step is the least of its strategies'.
TEST(AssignChunkBounds, AreTheLeastOfTheStrategies) {
  int lower_later = 0;
  int higher_later = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    AssignInstance all = tiny_assign(seed, 6);
    all.constraints = {.chunks = ChunkRule{.size = 5 + static_cast<Tokens>(seed % 20)}};
    if (seed % 3 == 1) all.constraints.chunks->boundaries = ChunkBoundaries::equal_time;
    if (all.lengths.empty() || !unplaceable_sequences(all).empty()) continue;
    std::map<std::string, double> least;
    double first = 0;
    for (const std::size_t k : usable_strategies(all)) {
      AssignInstance one = all;
      one.strategies = {all.strategies[k]};
      const auto bounds = by_name(assign_chunk_bounds(one));
      for (const auto& [name, value] : bounds) {
        const auto known = least.emplace(name, value).first;
        known->second = std::min(known->second, value);
      }
      if (k == 0) first = bounds.at("longest");
      lower_later += bounds.at("longest") < first ? 1 : 0;
      higher_later += bounds.at("longest") > first && first > 0 ? 1 : 0;
    }
    EXPECT_EQ(by_name(assign_chunk_bounds(all)), least) << seed;
  }
  EXPECT_GT(lower_later, 10);
  EXPECT_GT(higher_later, 10);
}

// If no sequence is cut, chunks are a cap on rows, and brute force gives the optimum.
TEST(AssignChunkBounds, OfWholeSequencesNoneIsAboveTheOptimum) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    AssignInstance whole = tiny_assign(seed, 5);
    whole.constraints = {};
    if (whole.lengths.empty()) continue;
    const std::vector<Tokens> lengths = padded_lengths(whole);
    const Tokens longest = *std::ranges::max_element(lengths);
    AssignInstance chunked = whole;
    chunked.constraints.chunks = ChunkRule{.size = longest};
    for (Scheme& scheme : whole.schemes) scheme.max_tokens = std::min(scheme.max_tokens, longest);
    const auto best = brute_force(whole);
    if (!best) continue;
    ++compared;
    for (const NamedBound& bound : assign_chunk_bounds(chunked)) {
      EXPECT_LE(bound.value, best->objective_ms * (1 + 1e-9)) << bound.name << ' ' << seed;
    }
  }
  EXPECT_GT(compared, 100);
}

// A sequence of 10 tokens at 2 ms a token and 3 ms a row, cut into 4, 4 and 2 in two stages: three
// rows take 29 ms, and the longest once more.
TEST(AssignChunkBounds, TheLongestSequenceByHand) {
  AssignInstance instance{
      .devices = 2,
      .schemes = {{.name = "a", .pp = 2, .linear_ms = 2, .fixed_ms = 3, .max_tokens = 10}},
      .strategies = {{.name = "s", .replicas = {1}}},
      .constraints = {.chunks = ChunkRule{.size = 4, .retained = 9}},
      .lengths = {10, 1}};
  EXPECT_DOUBLE_EQ(by_name(assign_chunk_bounds(instance)).at("longest"), 29 + 11);
  instance.lengths = {4};
  EXPECT_DOUBLE_EQ(by_name(assign_chunk_bounds(instance)).at("longest"), 11 + 11);
}

// Ten rows of 5 tokens take 130 ms, and the last of them 13 ms more in the second stage.
TEST(AssignChunkBounds, OfManyRowsByHand) {
  AssignInstance instance{
      .devices = 2,
      .schemes = {{.name = "a", .pp = 2, .linear_ms = 2, .fixed_ms = 3, .max_tokens = 50}},
      .strategies = {{.name = "s", .replicas = {1}}},
      .constraints = {.chunks = ChunkRule{.size = 5, .retained = 10}},
      .lengths = {50}};
  for (const NamedBound& bound : assign_chunk_bounds(instance)) {
    EXPECT_LE(bound.value, 143 * (1 + 1e-9)) << bound.name;
    EXPECT_GE(bound.value, 137) << bound.name;
  }
}

// Parts that a plan may choose have at most four tokens each.
TEST(AssignChunkBounds, OfPartsOfAnyLengthByHand) {
  AssignInstance instance{
      .devices = 1,
      .schemes = {{.name = "a", .linear_ms = 2, .fixed_ms = 3, .max_tokens = 10}},
      .strategies = {{.name = "s", .replicas = {1}}},
      .constraints = {.chunks = ChunkRule{.size = 4,
                                          .retained = 12,
                                          .boundaries = ChunkBoundaries::equal_time}},
      .lengths = {10}};
  for (const NamedBound& bound : assign_chunk_bounds(instance)) {
    EXPECT_NEAR(bound.value, 29, 1e-6) << bound.name;
  }
  // Without a fixed time each token may be a part: 20 ms, and 2 ms in the second stage.
  instance.devices = 2;
  instance.schemes[0].pp = 2;
  instance.schemes[0].fixed_ms = 0;
  for (const NamedBound& bound : assign_chunk_bounds(instance)) {
    EXPECT_LE(bound.value, 22) << bound.name;
  }
}

// 40 tokens at 1 ms each and 2 ms a part, in four stages: eight parts of 7 ms each take 56 ms, and
// one of them three times more. Seven parts or nine take longer.
TEST(AssignChunkBounds, OfAsManyPartsAsAreBest) {
  const AssignInstance instance{
      .devices = 4,
      .schemes = {{.name = "a", .pp = 4, .linear_ms = 1, .fixed_ms = 2, .max_tokens = 40}},
      .strategies = {{.name = "s", .replicas = {1}}},
      .constraints = {.chunks = ChunkRule{.size = 10,
                                          .retained = 40,
                                          .boundaries = ChunkBoundaries::equal_time}},
      .lengths = {40}};
  EXPECT_NEAR(by_name(assign_chunk_bounds(instance)).at("longest"), 56 + 3 * 7, 1e-9);
}

// Beyond the work that is always done, a solve that was stopped gets the bound by one sequence
// alone.
TEST(AssignChunkBounds, AreFewerWhereTimeIsUp) {
  AssignInstance instance{.devices = 1,
                          .schemes = {{.name = "a", .linear_ms = 1, .max_tokens = 60'000}},
                          .strategies = {{.name = "s", .replicas = {1}}},
                          .constraints = {.chunks = ChunkRule{.size = 60'000, .retained = 60'000}}};
  for (Tokens length = 60'000; length > 0; --length) instance.lengths.push_back(length);
  const std::atomic<bool> stopped = true;
  const auto bounds = assign_chunk_bounds(instance, Budget({.interrupt = &stopped}));
  ASSERT_EQ(bounds.size(), 1U);
  EXPECT_EQ(bounds[0].name, "longest");
  EXPECT_EQ(bounds[0].value, 60'000);
}

TEST(AssignChunkBounds, NoneIsAboveAPlan) {
  int several_rows = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Draw draw(seed);
    const AssignInstance instance = chunked_assign(draw, {.most_sequences = 3});
    if (instance.lengths.empty()) continue;
    Ms least = kInfinity;
    for (int plan = 0; plan < 20; ++plan) {
      least = std::min(least, chunked_plan(instance, draw).objective_ms);
    }
    for (const NamedBound& bound : assign_chunk_bounds(instance)) {
      EXPECT_LE(bound.value, least * (1 + 1e-9)) << bound.name << ' ' << seed;
    }
    several_rows += instance.lengths.front() > 2 * instance.constraints.chunks->size ? 1 : 0;
  }
  EXPECT_GT(several_rows, 40);
}

}  // namespace
}  // namespace stowage::assign_bounds_test
