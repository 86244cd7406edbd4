// The Gantt chart shows every sequence at its place in the plan and with its duration.
#include "instances/pictures/scatter/gantt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heuristics/scatter/registry.h"
#include "instances/scatter/generate/generate.h"
#include "instances/scatter/plan_builder.h"
#include "tests/svg_document.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_gantt_test {
namespace {

const ScatterInstance kInstance{.name = "two <groups> & more",
                                .cluster = {.devices = 4, .memory_mib = 1000, .degrees = {1, 2, 4}},
                                .model = {.states_mib = 20, .activation_mib_per_token = 1},
                                .cost = {.linear_ms = 1, .fixed_ms = 10},
                                .lengths = {100, 60, 40, 30}};

SvgDocument document_of(const ScatterInstance& instance, const ScatterPlan& plan,
                        const ShownBounds& bounds = {}) {
  return SvgDocument(svg_document(
      {scatter_gantt(instance, plan, bounds), scatter_lengths(instance, plan)}, instance.name));
}

TEST(ScatterPicture, IsToScale) {
  // Degree 2: 10 + 160 / 2 = 90 ms; degree 1: 10 + 40 = 50 ms; then degree 1: 10 + 30 = 40 ms.
  const ScatterPlan plan = compose_plan(kInstance, {{{2, {0, 1}}, {1, {2}}}, {{1, {3}}}});
  ASSERT_DOUBLE_EQ(plan.objective_ms, 130);
  const SvgDocument document = document_of(kInstance, plan, {.proven = ShownBound{65, "area"}});
  EXPECT_EQ(document.complaints(), "");

  const auto idle = document.rects("w");
  ASSERT_EQ(idle.size(), 2U);  // the plot and the legend's box
  const double left = idle[0].box.x;
  const double per_ms = idle[0].box.width / 130;
  const double per_rank = idle[0].box.height / 4;
  const auto wide = document.rects("c1 t");  // degree 2
  ASSERT_EQ(wide.size(), 2U);
  EXPECT_NEAR(wide[0].box.x, left + 10 * per_ms, 0.02);
  EXPECT_NEAR(wide[0].box.width, 50 * per_ms, 0.02);
  EXPECT_NEAR(wide[0].box.height, 2 * per_rank, 0.02);
  EXPECT_NEAR(wide[1].box.right(), left + 90 * per_ms, 0.02);
  const auto narrow = document.rects("c0 t");  // degree 1
  ASSERT_EQ(narrow.size(), 2U);
  EXPECT_NEAR(narrow[0].box.y, wide[0].box.bottom(), 0.02);
  EXPECT_NEAR(narrow[1].box.x, left + 100 * per_ms, 0.02);
  EXPECT_NEAR(narrow[1].box.right(), left + 130 * per_ms, 0.02);
  // 130 ms on 4 ranks less 2 * 90, 50 and 40.
  EXPECT_DOUBLE_EQ(idle_share(kInstance, plan), 1 - 270.0 / 520);
  EXPECT_TRUE(document.has_tooltip("bound"));
}

TEST(ScatterPicture, EverySequenceHasATooltip) {
  const ScatterPlan plan = compose_plan(kInstance, {{{2, {0, 1}}, {1, {2}}}, {{1, {3}}}});
  const SvgDocument document = document_of(kInstance, plan);
  for (const char* text : {"sequence 0,", "sequence 1,", "sequence 2,", "sequence 3,"}) {
    EXPECT_TRUE(document.has_tooltip(text)) << text;
  }
  EXPECT_TRUE(document.has_tooltip("micro-batch 0, degree 2, ranks 0 to 1, 160 tokens, 90.00 ms"));
  EXPECT_TRUE(document.has_tooltip("before the first sequence: 10.00 ms"));
}

// 10 + 1.5 * 160 / 2 ms, and 10 + 30.
TEST(ScatterPicture, TooltipsSayWhatIsRecomputed) {
  ScatterInstance instance = kInstance;
  instance.model.recomputation = {
      {.name = "none", .activation_mib_per_token = 1},
      {.name = "full", .activation_mib_per_token = 0.5, .linear_factor = 1.5}};
  const ScatterPlan plan =
      compose_plan(instance, {{{.degree = 2, .sequences = {0, 1}, .recomputation = 1},
                               {.degree = 1, .sequences = {2}, .recomputation = 1}},
                              {{.degree = 1, .sequences = {3}}}});
  ASSERT_DOUBLE_EQ(plan.objective_ms, 10 + 120 + 40);
  const SvgDocument document = document_of(instance, plan);
  EXPECT_EQ(document.complaints(), "");
  EXPECT_TRUE(document.has_tooltip(
      "micro-batch 0, degree 2, ranks 0 to 1, 160 tokens, 130.0 ms, recomputes full"));
  EXPECT_TRUE(document.has_tooltip("micro-batch of 40.00 ms, recomputes none"));
}

TEST(ScatterPicture, TellsAProvenBoundFromAClaimedOne) {
  const ScatterPlan plan = compose_plan(kInstance, {{{2, {0, 1}}, {1, {2}}}, {{1, {3}}}});
  const SvgDocument document = document_of(
      kInstance, plan, {.proven = ShownBound{65, "area"}, .claimed = ShownBound{104, "class-mip"}});
  EXPECT_EQ(document.complaints(), "");
  const double left = document.rects("w")[0].box.x;
  const double width = document.rects("w")[0].box.width;
  const auto x_of = [&](const std::string& classes) {
    for (const auto& shape : document.shapes) {
      if (shape.element == "line" && shape.classes == classes) return shape.box.x;
    }
    return 0.0;
  };
  EXPECT_NEAR(x_of("b"), left + width / 2, 0.02);
  EXPECT_NEAR(x_of("k"), left + width * 0.8, 0.02);
  std::string said;
  for (const auto& text : document.texts) said += text.text + '\n';
  EXPECT_THAT(said, testing::HasSubstr("bound 65.00 ms (area)\n"));
  EXPECT_THAT(said, testing::HasSubstr("bound as claimed, not proven 104.0 ms (class-mip)\n"));
}

TEST(ScatterPicture, AnyTinyPlanIsDrawn) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed, 20);
    if (!unplaceable_sequences(instance).empty()) continue;
    std::vector<MicroBatchChoice> alone;  // each sequence in a micro-batch of its own
    for (std::size_t i = 0; i < instance.lengths.size(); ++i) {
      alone.push_back({{instance.cluster.degrees.back(), {static_cast<std::int64_t>(i)}}});
    }
    ScatterPlan plan = compose_plan(instance, alone);
    const SvgDocument document = document_of(instance, plan);
    EXPECT_EQ(document.complaints(), "") << seed;
    if (plan.objective_ms == 0) continue;
    for (std::size_t i = 0; i < instance.lengths.size(); ++i) {
      if (plan.micro_batches[i].makespan_ms < plan.objective_ms / 100) continue;
      EXPECT_TRUE(document.has_tooltip("sequence " + std::to_string(i) + ",")) << seed;
    }
  }
}

// A hundred thousand sequences, one or many micro-batches, few or many ranks.
TEST(ScatterPicture, LargePlansStaySmall) {
  for (const int devices : {8, 20'000}) {
    ScatterInstance instance = kInstance;
    instance.cluster.devices = devices;
    instance.cluster.aligned = false;
    instance.lengths.clear();
    std::vector<MicroBatchChoice> choices;
    for (std::int64_t i = 0; i < 100'000; ++i) {
      instance.lengths.push_back(1 + i * 37 % 1000);
      const auto batch = static_cast<std::size_t>(i / (devices * 4));
      if (batch == choices.size()) choices.emplace_back();
      MicroBatchChoice& groups = choices[batch];
      if (groups.size() < static_cast<std::size_t>(devices)) groups.push_back({1, {}});
      groups[static_cast<std::size_t>(i % devices) % groups.size()].sequences.push_back(i);
    }
    const ScatterPlan plan = compose_plan(instance, choices);
    const std::string bytes = svg_document(
        {scatter_gantt(instance, plan, {}), scatter_lengths(instance, plan)}, instance.name);
    EXPECT_LT(bytes.size(), 5'000'000U) << devices;
    const SvgDocument document(bytes);
    EXPECT_EQ(document.complaints(), "") << devices;
    // merged, and the tooltip states the number of parts
    EXPECT_TRUE(document.has_tooltip(" parts")) << devices;
    std::string said;
    for (const auto& text : document.texts) said += text.text + ' ';
    EXPECT_THAT(said, testing::HasSubstr("parts of groups narrower or lower than")) << devices;
  }
}

TEST(ScatterPicture, KindsOfDevicesAreMarked) {
  ScatterInstance instance = kInstance;
  instance.cluster.devices_per_node = instance.cluster.devices / 2;
  instance.cluster.kinds = {{"new", 1, 2, 300}, {"old", 1, 1, 300}};
  std::vector<MicroBatchChoice> alone;
  for (std::size_t i = 0; i < instance.lengths.size(); ++i) {
    alone.push_back({{1, {static_cast<std::int64_t>(i)}, ExchangeKind::none, 0, 1}});
  }
  const SvgDocument document = document_of(instance, compose_plan(instance, alone));
  EXPECT_EQ(document.complaints(), "");
  EXPECT_TRUE(document.has_tooltip("new: speed 2"));
  EXPECT_TRUE(document.has_tooltip("old: speed 1"));
}

TEST(ScatterPicture, AStepOfNothingIsDrawn) {
  ScatterInstance instance = kInstance;
  instance.lengths.clear();
  EXPECT_EQ(document_of(instance, compose_plan(instance, {})).complaints(), "");
}

}  // namespace
}  // namespace stowage::scatter_gantt_test
