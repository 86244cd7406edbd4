// The pipeline of a step: every pass where the simulation puts it, and grey where stages wait.
#include "instances/pictures/scatter/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/scatter/plan_builder.h"
#include "tests/svg_document.h"

namespace stowage::scatter_pipeline_test {
namespace {

using ::testing::HasSubstr;

// Makespans of 60 and 30 ms, each on every stage.
ScatterInstance deep(int stages) {
  return {.name = "deep",
          .cluster = {.devices = 1, .memory_mib = 1000, .degrees = {1}},
          .model = {.states_mib = 20, .activation_mib_per_token = 1},
          .cost = {.linear_ms = 1},
          .pipeline_stages = stages,
          .lengths = {60, 30}};
}

TEST(ScatterPipeline, IsToScale) {
  const ScatterInstance instance = deep(2);
  const ScatterPlan plan = compose_plan(instance, {{{1, {0}}}, {{1, {1}}}});
  const std::string svg = svg_document({scatter_pipeline(instance, plan)}, "pipeline");
  const SvgDocument document(svg);
  EXPECT_EQ(document.complaints(), "");
  const auto plot = document.rects("w");
  ASSERT_EQ(plot.size(), 2U);  // and the legend's box
  // Forward 20 and 10 ms, backward 40 and 20. Stage 1 runs from 20 to 110 ms without a break and
  // sends the gradients at 80 and 110; stage 0 then goes back from 80 to 120 and to 140 ms.
  EXPECT_THAT(svg, HasSubstr("simulated 1F1B ends at 140.0 ms"));
  EXPECT_THAT(svg, HasSubstr("the objective is 150.0"));
  EXPECT_THAT(svg, HasSubstr("bubble, 35.71%"));  // each stage works for 90 ms
  const double per_ms = plot[0].box.width / 140;
  const auto forward = document.rects("c0 t");
  const auto backward = document.rects("c1 t");
  ASSERT_EQ(forward.size(), 4U);
  ASSERT_EQ(backward.size(), 4U);
  EXPECT_NEAR(forward[0].box.width, 20 * per_ms, 0.02);
  EXPECT_NEAR(forward[0].box.height, plot[0].box.height / 2, 0.02);
  EXPECT_NEAR(backward[0].box.width, 40 * per_ms, 0.02);
  EXPECT_TRUE(document.has_tooltip("backward pass of micro-batch 1, stage 1"));
}

TEST(ScatterPipeline, DrawsOneStageWhereThereAreTooManyPasses) {
  ScatterInstance instance = deep(400);
  instance.lengths.assign(251, 30);
  std::vector<MicroBatchChoice> batches;
  for (std::int64_t i = 0; i < 251; ++i) batches.push_back({{1, {i}}});
  const ScatterPlan plan = compose_plan(instance, batches);
  const std::string svg = svg_document({scatter_pipeline(instance, plan)}, "pipeline");
  EXPECT_EQ(SvgDocument(svg).complaints(), "");
  EXPECT_THAT(svg, HasSubstr("Only the first stage is drawn."));
}

}  // namespace
}  // namespace stowage::scatter_pipeline_test
