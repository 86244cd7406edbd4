#include "heuristics/scatter/window/window_deal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "instances/scatter/verify/window_check.h"
#include "tests/long_run.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_window_deal_test {
namespace {

constexpr DealEffort kQuick{.params = {.moves = 5, .swaps = 10}};

// Steps of one cluster with their own lengths.
std::vector<ScatterInstance> drawn_window(std::uint64_t seed, std::size_t steps) {
  std::vector<ScatterInstance> window;
  const ScatterInstance first = tiny_scatter(seed, 16);
  for (std::size_t s = 0; s < steps; ++s) {
    ScatterInstance step = first;
    step.rules = {};
    step.lengths = tiny_scatter(seed + 100 * (s + 1), 16).lengths;
    std::erase_if(step.lengths, [&](Tokens length) {
      ScatterInstance alone = step;
      alone.lengths = {length};
      return !unplaceable_sequences(alone).empty();
    });
    step.loss_tokens.assign(step.lengths.size(), static_cast<Tokens>(s));
    window.push_back(std::move(step));
  }
  return window;
}

std::vector<ScatterInstance> dealt(const std::vector<ScatterInstance>& window,
                                   const WindowDeal& deal) {
  std::vector<ScatterInstance> steps;
  for (std::size_t s = 0; s < window.size(); ++s) steps.push_back(dealt_step(window, deal, s));
  return steps;
}

TEST(WindowDeal, TheWindowAsDrawnIsTheIdentity) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<ScatterInstance> window = drawn_window(seed, 3);
    const WindowDeal deal = as_drawn(window);
    for (std::size_t s = 0; s < window.size(); ++s) {
      for (std::size_t i = 0; i < deal[s].size(); ++i) {
        EXPECT_EQ(deal[s][i],
                  DrawnSequence(static_cast<std::int64_t>(s), static_cast<std::int64_t>(i)));
      }
    }
    EXPECT_EQ(dealt(window, deal), window);
  }
}

// Every deal has each sequence once, in a step that is late enough, with its targets; and the same
// input gives the same deal.
TEST(WindowDeal, EveryDealPassesTheCheck) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(12, 200));
  std::size_t moved = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const std::vector<ScatterInstance> window = drawn_window(seed, 2 + seed % 4);
    for (const std::int64_t delay : {std::int64_t{0}, std::int64_t{1}, std::int64_t{5}}) {
      DealEffort effort = kQuick;
      effort.rule.delay = delay;
      const std::vector<WindowDeal> deals = best_deals(window, effort, seed, Budget());
      for (const WindowDeal& deal : deals) {
        EXPECT_TRUE(check_window(window, dealt(window, deal), deal, effort.rule).empty()) << seed;
        EXPECT_NE(deal, as_drawn(window)) << seed;
      }
      EXPECT_EQ(best_deals(window, effort, seed, Budget()), deals) << seed;
      // Steps keep their number of sequences, so that without delay nothing can move.
      EXPECT_TRUE(delay > 0 || deals.empty()) << seed;
      moved += deals.size();
    }
  }
  EXPECT_GT(moved, 5U);
}

// A narrow spread leaves fewer deals, and the window as drawn keeps any spread.
TEST(WindowDeal, TokensOfStepsKeepTheSpread) {
  std::size_t moved = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(in_long_run(12, 200)); ++seed) {
    const std::vector<ScatterInstance> window = drawn_window(seed, 3);
    for (const double spread : {1.0, 1.2, 2.0}) {
      DealEffort effort = kQuick;
      effort.rule = {.delay = 2, .token_spread = spread};
      for (const WindowDeal& deal : best_deals(window, effort, seed, Budget())) {
        EXPECT_TRUE(check_window(window, dealt(window, deal), deal, effort.rule).empty()) << seed;
        ++moved;
      }
    }
  }
  EXPECT_GT(moved, 5U);
}

// Two steps with a long sequence each, which needs both devices: together they have one micro-batch
// of long sequences less if one step takes both.
TEST(WindowDeal, LongSequencesShareAStep) {
  ScatterInstance step{.cluster = {.devices = 4, .memory_mib = 100, .degrees = {1, 2}},
                       .model = {.activation_mib_per_token = 1},
                       .cost = {.linear_ms = 1, .fixed_ms = 1},
                       .lengths = {160, 10, 10, 10}};
  const std::vector<ScatterInstance> window(2, step);
  DealEffort effort = kQuick;
  effort.rule.delay = 1;
  const std::vector<WindowDeal> deals = best_deals(window, effort, 0, Budget());
  ASSERT_FALSE(deals.empty());
  const WindowDeal& deal = deals.front();
  std::multiset<std::size_t> long_ones;  // by step
  for (std::size_t s = 0; s < 2; ++s) {
    long_ones.insert(static_cast<std::size_t>(
        std::ranges::count(dealt_step(window, deal, s).lengths, Tokens{160})));
  }
  EXPECT_EQ(long_ones, (std::multiset<std::size_t>{0, 2}));
}

}  // namespace
}  // namespace stowage::scatter_window_deal_test
