#include "solvers/layout/exact/mip_solve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "formulations/layout/bounds.h"
#include "instances/layout/generate/generate.h"
#include "instances/layout/generate/transformer_trace.h"
#include "instances/layout/load.h"
#include "instances/layout/plan_builder.h"
#include "instances/layout/verify/verify.h"
#include "instances/violation.h"
#include "tests/instances/random_layout.h"
#include "tests/long_run.h"
#include "tests/oracles/layout/brute_force.h"

namespace stowage::layout_mip_solve_test {
namespace {

// far above the need: a run that reaches the limit has failed
constexpr std::int64_t kNodes = 200'000;

void expect_valid(const LayoutInstance& instance, const LayoutMipResult& result) {
  LayoutPlan plan = compose_layout(instance, result.offsets);
  EXPECT_EQ(plan.peak_bytes, result.peak);
  plan.bound_bytes = result.bound;
  plan.bound_by = "mip";
  for (const Violation& violation : verify(instance, plan)) ADD_FAILURE() << to_string(violation);
}

class LayoutMipBackend : public testing::TestWithParam<MilpBackend> {};

// Instances with gaps, pins and alignments that are no powers of two.
TEST_P(LayoutMipBackend, AgreesWithBruteForce) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(800, 3000));
  std::uint64_t above_load = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed);
    const LayoutInstance instance = random_layout(draw, {.most_buffers = 7, .steps = 8});
    const auto truth = brute_force(instance);
    ASSERT_TRUE(truth);
    const LayoutTable table(instance);
    const auto bounds = layout_bounds(instance, table);
    ASSERT_LE(bounds.back().value, static_cast<double>(truth->peak_bytes));
    // The MIP gets no start, so it must find and prove the optimum.
    Budget budget({.node_limit = kNodes});
    const LayoutMipResult result = solve_layout_mip(table, {.backend = GetParam()}, {}, budget);
    ASSERT_EQ(result.status, MilpStatus::optimal) << result.detail;
    ASSERT_EQ(result.peak, truth->peak_bytes);
    ASSERT_EQ(result.bound, truth->peak_bytes);
    expect_valid(instance, result);
    above_load += truth->peak_bytes > peak_load(instance).load ? 1 : 0;
  }
  EXPECT_GT(above_load, seeds / 10);
}

TEST_P(LayoutMipBackend, ThePublishedModelFindsTheSame) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed);
    const LayoutInstance instance = random_layout(draw, {.most_buffers = 5, .steps = 8});
    const auto truth = brute_force(instance);
    Budget budget({.node_limit = kNodes});
    const LayoutMipResult result = solve_layout_mip(
        LayoutTable(instance), {.backend = GetParam(), .strengthened = false}, {}, budget);
    ASSERT_EQ(result.status, MilpStatus::optimal) << result.detail;
    ASSERT_EQ(result.peak, truth->peak_bytes);
    expect_valid(instance, result);
  }
}

// A start, a bound and a capacity do not change the optimum.
TEST_P(LayoutMipBackend, StartsAndCapacitiesKeepTheTruth) {
  int infeasible = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed);
    LayoutInstance instance = random_layout(draw, {.most_buffers = 6, .steps = 8});
    const auto truth = brute_force(instance);
    const LayoutTable table(instance);
    LayoutStart start{.bound = static_cast<Bytes>(layout_bounds(instance, table).back().value),
                      .offsets = random_layout_plan(instance, draw).offsets};
    Budget budget({.node_limit = kNodes});
    const LayoutMipResult started = solve_layout_mip(table, {.backend = GetParam()}, start, budget);
    ASSERT_EQ(started.status, MilpStatus::optimal) << started.detail;
    ASSERT_EQ(started.peak, truth->peak_bytes);

    if (truth->peak_bytes == 0) continue;
    const bool tight = draw.coin();
    start = {.bound = start.bound, .capacity = truth->peak_bytes - (tight ? 0 : 1)};
    const LayoutMipResult capped = solve_layout_mip(table, {.backend = GetParam()}, start, budget);
    ASSERT_EQ(capped.status, tight ? MilpStatus::optimal : MilpStatus::infeasible) << capped.detail;
    infeasible += tight ? 0 : 1;
  }
  EXPECT_GT(infeasible, 100);
}

// The first level of MEMO's plan: the transient buffers of a layer's passes.
TEST_P(LayoutMipBackend, ThePassesOfALayerAreEasy) {
  for (const Recompute recompute : {Recompute::none, Recompute::selective}) {
    const auto layer = trace_layout({.tokens = 65536, .layers = 1, .recompute = recompute});
    ASSERT_TRUE(layer);
    for (const RepeatedBlock& pass : layer->layers) {
      SCOPED_TRACE(layer->name + ' ' + pass.name);
      LayoutInstance inner;
      for (const std::int64_t i : pass.occurrences[0]) {
        inner.buffers.push_back(layer->buffers[static_cast<std::size_t>(i)]);
      }
      const Bytes load = peak_load(inner).load;
      Budget budget({.node_limit = 2000});
      const LayoutMipResult result =
          solve_layout_mip(LayoutTable(inner), {.backend = GetParam()}, {.bound = load}, budget);
      EXPECT_EQ(result.status, MilpStatus::optimal) << result.detail;
      EXPECT_EQ(result.peak, load);
      expect_valid(inner, result);
    }
  }
}

TEST_P(LayoutMipBackend, AStoppedRunProvesNothing) {
  const auto cut = generate_layout({.kind = LayoutGenerator::Kind::guillotine, .buffers = 60});
  ASSERT_TRUE(cut);
  Budget budget({.node_limit = 1});
  const LayoutMipResult result =
      solve_layout_mip(LayoutTable(cut->instance), {.backend = GetParam()}, {}, budget);
  EXPECT_NE(result.status, MilpStatus::infeasible);
  EXPECT_LE(result.bound, *cut->optimum);
}

TEST_P(LayoutMipBackend, RefusesWhatItCannotHold) {
  Budget budget;
  const auto many = generate_layout({.buffers = 1000, .steps = 10});
  const LayoutMipResult result =
      solve_layout_mip(LayoutTable(many->instance), {.backend = GetParam()}, {}, budget);
  EXPECT_EQ(result.status, MilpStatus::unknown);
  EXPECT_EQ(result.detail, "too many buffers live together for the MIP");
  const LayoutInstance clash{
      .buffers = {{.upper = 2, .size = 3, .offset = 0}, {.upper = 2, .size = 3, .offset = 2}}};
  EXPECT_EQ(solve_layout_mip(LayoutTable(clash), {.backend = GetParam()}, {}, budget).detail,
            "sizes beyond the exact range, or clashing pins");
}

INSTANTIATE_TEST_SUITE_P(All, LayoutMipBackend, testing::ValuesIn(built_backends()),
                         [](const auto& each) { return std::string(name(each.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LayoutMipBackend);

}  // namespace
}  // namespace stowage::layout_mip_solve_test
