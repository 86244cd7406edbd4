// Certificates of single classes, compared with brute force for that class. In a certificate of all
// classes the weakest class would hide the results for the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "instances/strategy/certificate.h"
#include "instances/strategy/planning_table.h"
#include "instances/strategy/verify/exhaustive_check.h"
#include "instances/strategy/verify/reference_model.h"
#include "instances/strategy/verify/split_reference.h"
#include "instances/strategy/verify/verify.h"
#include "tests/instances/draw.h"
#include "tests/oracles/strategy/brute_force.h"
#include "tests/pinned_values.h"
#include "tests/tiny_strategy.h"

namespace stowage::strategy_class_certificate_test {
namespace {

using ::testing::ElementsAre;

std::vector<StrategyClass> classes_of(const StrategyInstance& instance) {
  return StrategyTable(instance).classes();
}

// The instance with this class alone.
StrategyInstance only(StrategyInstance instance, const StrategyClass& its) {
  instance.options.pp = {its.pp};
  instance.options.v = {its.v};
  instance.options.micro_batches = {its.micro_batches};
  return instance;
}

StrategyCertificate certificate_of(const StrategyClass& its, std::vector<double> prices,
                                   bool thresholds, Ms bound) {
  return {.bound_ms = bound,
          .classes = {{its.pp, its.v, its.micro_batches, std::move(prices), thresholds}}};
}

bool proves(const StrategyInstance& instance, const StrategyCertificate& certificate) {
  return check_certificate(instance, certificate).violations.empty();
}

// Layers that differ, dealt in chunks to two stages.
StrategyInstance dealt(std::uint64_t seed) {
  StrategyInstance instance =
      with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed, 6) : tiny_experts(seed, 6), seed);
  const StrategyModel& model = instance.model;
  StrategyBlock other = model.blocks.front();
  other.ffn += 64;
  instance.model.blocks = {model.blocks.front(), other};
  instance.model.blocks[0].count = 1 + static_cast<std::int64_t>(seed % 3);
  instance.model.blocks[1].count = 4 - instance.model.blocks[0].count;
  instance.options.pp = {2};
  instance.options.v = {2};
  instance.cost.measured.clear();
  return instance;
}

// Prices of a class, some of them zero, never all.
std::vector<double> random_prices(Draw& draw, std::int64_t pp) {
  std::vector<double> prices;
  for (std::int64_t s = 0; s < pp; ++s) prices.push_back(draw.below(3) == 0 ? 0 : draw.real(0, 1));
  prices[draw.below(prices.size())] = 1;
  return prices;
}

// For all prices, with or without cases, no bound above the optimum of the class is proven. With
// cases the optimum is proven if all rows are alike.
void expect_sound(const StrategyInstance& instance, const StrategyClass& its, Draw& draw,
                  int& refused, std::uint64_t seed) {
  const StrategyInstance alone = only(instance, its);
  const auto best = brute_force(alone);
  if (!best) return;
  const std::optional<Ms> least = least_step(alone);
  if (least) {
    EXPECT_NEAR(*least, best->step_ms, 1e-9 * *least) << seed;
  }
  const Ms above = best->step_ms * (1 + 1e-6);
  for (int draws = 0; draws < 3; ++draws) {
    const std::vector<double> prices = random_prices(draw, its.pp);
    EXPECT_FALSE(proves(alone, certificate_of(its, prices, draws == 1, above)))
        << seed << " pp " << its.pp << " v " << its.v;
  }
  const bool equal = std::ranges::all_of(
      alone.lengths, [&](Tokens length) { return length == alone.lengths.front(); });
  if (equal) {
    const std::vector<double> ones(static_cast<std::size_t>(its.pp), 1);
    EXPECT_TRUE(proves(alone, certificate_of(its, ones, true, best->step_ms))) << seed;
  }
  ++refused;
}

StrategyInstance drawn(std::uint64_t seed) {
  return with_partial_sharing(seed % 3 == 0   ? tiny_strategy(seed, 6)
                              : seed % 3 == 1 ? tiny_experts(seed, 6)
                                              : tiny_measured(seed, 6),
                              seed);
}

TEST(StrategyClassCertificate, NoPricesProveMoreThanTheOptimumOfTheClass) {
  Draw draw(3);
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const StrategyInstance instance = drawn(seed);
    for (const StrategyClass& its : classes_of(instance)) {
      expect_sound(instance, its, draw, refused, seed);
    }
  }
  EXPECT_GT(refused, 100);
}

// What unequal prices prove of a class, to within a billionth, is what it was.
TEST(StrategyClassCertificate, PricesProveAsMuchAsBefore) {
  PinnedValues values("tests/instances/values/strategy.txt");
  for (std::uint64_t seed = 0; seed < 36; ++seed) {
    const StrategyInstance instance = drawn(seed);
    for (const StrategyClass& its : classes_of(instance)) {
      const StrategyInstance alone = only(instance, its);
      std::vector<double> prices;
      for (std::int64_t stage = 0; stage < its.pp; ++stage) prices.push_back(1.0 / (1 + stage));
      double low = 0;
      double high = 1;
      while (proves(alone, certificate_of(its, prices, false, high)) && high < 1e12) {
        low = high;
        high *= 2;
      }
      for (int halved = 0; halved < 40; ++halved) {
        const double middle = low + (high - low) / 2;
        (proves(alone, certificate_of(its, prices, false, middle)) ? low : high) = middle;
      }
      values.add(seed, "proven", low);
    }
  }
  values.compare();
}

TEST(StrategyClassCertificate, LayersThatDifferAreDealtInChunks) {
  Draw draw(4);
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const StrategyInstance instance = dealt(seed);
    for (const StrategyClass& its : classes_of(instance)) {
      EXPECT_EQ(its.v, 2);
      expect_sound(instance, its, draw, refused, seed);
    }
  }
  EXPECT_GT(refused, 50);
}

// Six equal layers in three stages, of which only the last two matter.
TEST(StrategyClassCertificate, PricesOfThreeStages) {
  const StrategyInstance instance{
      .model = {.hidden = 256,
                .heads = 4,
                .vocabulary = 500,
                .blocks = {{.count = 6, .ffn = 1024}}},
      .cluster = {.nodes = 1, .devices_per_node = 3, .memory_mib = 5000},
      .options = {.pp = {3}},
      .lengths = {100, 100, 100, 100}};
  const std::vector<StrategyClass> classes = classes_of(instance);
  ASSERT_FALSE(classes.empty());
  for (const StrategyClass& its : classes) {
    const StrategyInstance alone = only(instance, its);
    const Ms best = brute_force(alone)->step_ms;
    for (const std::vector<double>& prices :
         {std::vector<double>{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0, 0, 1}, {1, 1, 1}}) {
      EXPECT_FALSE(proves(alone, certificate_of(its, prices, false, best * 1.01)));
    }
    EXPECT_TRUE(proves(alone, certificate_of(its, {1, 1, 1}, false, best * 0.5)));
  }
}

TEST(StrategyReferenceModel, ChunksOfAStageAreEveryOtherPart) {
  StrategyInstance instance{
      .model = {.hidden = 256,
                .heads = 4,
                .blocks = {{.count = 4, .ffn = 1024}, {.count = 4, .ffn = 64}}},
      .lengths = {100}};
  const StrategyReferenceModel truth(instance);
  StrategyReferenceModel::Setting at{.pp = 2, .v = 2};
  EXPECT_THAT(truth.layers_of(at, 0, 0, 4), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(truth.layers_of(at, 1, 4, 4), ElementsAre(2, 3, 6, 7));
  at.v = 1;
  EXPECT_THAT(truth.layers_of(at, 1, 3, 2), ElementsAre(3, 4));
}

// Two stages of 362 layers that differ have the largest number of ranges that are listed; 363
// layers have more. The least sum is then still found, but cases are not distinguished.
TEST(StrategyReferenceModel, RangesBeyondThoseThatAreListed) {
  StrategyInstance instance = tiny_strategy(1);
  instance.cluster.memory_mib = 1e12;
  instance.model.blocks.resize(1);
  instance.model.blocks.push_back(instance.model.blocks[0]);
  instance.model.blocks[1].ffn += 64;
  instance.cost.measured.clear();
  for (const std::int64_t layers : {362, 363}) {
    instance.model.blocks[0].count = 200;
    instance.model.blocks[1].count = layers - 200;
    const StrategyReferenceModel truth(instance);
    const StrategyReferenceModel::Setting setting{.pp = 2};
    const SplitReference splits(instance, truth, setting);
    EXPECT_EQ(
        splits.least_sum([](std::int64_t, const StrategyReferenceModel::Stage&) { return 1.0; }),
        2);
    EXPECT_EQ(splits.least_by_cases(1e-6), layers == 362 ? 1e-6 : 0);
  }
}

// If a configuration fits, even with little memory left, the options are not a proof.
TEST(StrategyInfeasibility, MemoryThatJustFitsIsNoProof) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    StrategyInstance instance =
        with_partial_sharing(seed % 2 == 0 ? tiny_strategy(seed, 6) : tiny_experts(seed, 6), seed);
    const auto proven = [&] {
      return check_infeasibility(instance, {.by = "configurations"}).empty();
    };
    const bool fits = brute_force(instance).has_value();
    EXPECT_EQ(proven(), !fits) << seed;
    if (!fits) continue;
    // Memory between too little and just enough.
    double little = 0;
    double enough = instance.cluster.memory_mib;
    for (int halvings = 0; halvings < 30; ++halvings) {
      instance.cluster.memory_mib = (little + enough) / 2;
      (proven() ? little : enough) = instance.cluster.memory_mib;
    }
    instance.cluster.memory_mib = enough * (1 + 1e-6);
    EXPECT_TRUE(brute_force(instance)) << seed;
    instance.cluster.memory_mib = little * (1 - 1e-6);
    EXPECT_FALSE(brute_force(instance)) << seed;
    if (++found == 30) break;
  }
  EXPECT_EQ(found, 30);
}

}  // namespace
}  // namespace stowage::strategy_class_certificate_test
