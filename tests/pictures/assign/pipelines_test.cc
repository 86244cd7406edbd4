// The pipelines show the passes of the simulated schedule.
#include "instances/pictures/assign/pipelines.h"

#include <gtest/gtest.h>

#include <numeric>

#include "instances/assign/plan_builder.h"
#include "tests/svg_document.h"

namespace stowage::assign_pipelines_test {
namespace {

// The published example of unequal rows on four stages (arXiv 2503.02356): rows of 4, 2, 1 and 1
// unit of forward time, of which a bubble of 57.14 % is left.
const AssignInstance kInstance{
    .name = "pipeline <rows>",
    .devices = 4,
    .schemes = {{.name = "1x4 & \"more\"", .tp = 1, .pp = 4, .linear_ms = 3, .max_tokens = 4}},
    .strategies = {{.name = "S0", .replicas = {1}}},
    .lengths = {4, 2, 1, 1}};

SvgDocument document_of(const AssignInstance& instance, const AssignPlan& plan) {
  return SvgDocument(
      svg_document({assign_pipelines(instance, plan, {.proven = ShownBound{24, "work"}}),
                    assign_lengths(instance, plan)},
                   instance.name));
}

TEST(AssignPicture, IsToScale) {
  AssignPlan plan = compose_assign(kInstance, 0, {{0, {{0}, {1}, {2}, {3}}}});
  const Ms end = plan.simulated_1f1b_ms;
  const SvgDocument document = document_of(kInstance, plan);
  EXPECT_EQ(document.complaints(), "");
  const auto forward = document.rects("c0 t");
  const auto backward = document.rects("c1 t");
  ASSERT_EQ(forward.size(), 16U);
  ASSERT_EQ(backward.size(), 16U);
  const Box plot = document.rects("w")[0].box;
  const double per_ms = plot.width / end;
  double last = 0;
  double forward_ms = 0;
  for (const auto& shape : forward) forward_ms += shape.box.width / per_ms;
  for (const auto& shape : backward) last = std::max(last, shape.box.right());
  EXPECT_NEAR(forward_ms, 4 * 8.0, 0.1);  // four stages of 4 + 2 + 1 + 1 ms
  EXPECT_NEAR(last, plot.right(), 0.1);   // the schedule ends at the stated time
  EXPECT_DOUBLE_EQ(bubble_share(kInstance, plan), 1 - 24 / end);
  for (const char* text : {"sequence 0,", "sequence 3,", "stage 3 of replica 0 (1x4 & \"more\")"}) {
    EXPECT_TRUE(document.has_tooltip(text)) << text;
  }
}

TEST(AssignPicture, ManyReplicasAndRowsStaySmall) {
  AssignInstance instance = kInstance;
  instance.devices = 8000;
  instance.schemes = {{.name = "1x4", .tp = 1, .pp = 4, .linear_ms = 3, .max_tokens = 1 << 20},
                      {.name = "2x2", .tp = 2, .pp = 2, .linear_ms = 2, .max_tokens = 1 << 20}};
  instance.strategies = {{.name = "S0", .replicas = {1000, 1000}}};
  instance.lengths.clear();
  std::vector<ReplicaChoice> choices(2000);
  for (std::size_t r = 0; r < choices.size(); ++r) {
    choices[r].scheme = r < 1000 ? 0 : 1;
    for (int row = 0; row < 10; ++row) {
      choices[r].rows.emplace_back();
      for (int k = 0; k < 5; ++k) {
        choices[r].rows.back().push_back(static_cast<std::int64_t>(instance.lengths.size()));
        instance.lengths.push_back(1 + static_cast<Tokens>(instance.lengths.size() * 37 % 1000));
      }
    }
  }
  const AssignPlan plan = compose_assign(instance, 0, choices);
  const Picture picture = assign_pipelines(instance, plan, {});
  EXPECT_LT(picture.elements.size(), 5'000'000U);
  const SvgDocument document(svg_document({picture}, ""));
  EXPECT_EQ(document.complaints(), "");
  EXPECT_TRUE(document.has_tooltip("passes"));
}

// Each id would stand in 2048 tooltips.
TEST(AssignPicture, LongPipelinesStaySmall) {
  AssignInstance instance = kInstance;
  instance.devices = 1024;
  instance.schemes = {{.name = "1x1024", .tp = 1, .pp = 1024, .linear_ms = 3, .max_tokens = 5000}};
  instance.lengths = std::vector<Tokens>(5000, 1);
  std::vector<std::int64_t> all(5000);
  std::iota(all.begin(), all.end(), 0);
  const AssignPlan plan = compose_assign(instance, 0, {{0, {all}}});
  EXPECT_LT(assign_pipelines(instance, plan, {}).elements.size(), 5'000'000U);
}

TEST(AssignPicture, AReplicaWithoutRowsIsBubble) {
  AssignInstance instance = kInstance;
  instance.lengths.clear();
  const AssignPlan plan = compose_assign(instance, 0, {});
  EXPECT_EQ(document_of(instance, plan).complaints(), "");
  EXPECT_EQ(bubble_share(instance, plan), 0);
}

}  // namespace
}  // namespace stowage::assign_pipelines_test
