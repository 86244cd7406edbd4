// Explanations of layouts: what leaves no room, what would give it, and what decides a height.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/assign/json/json.h"
#include "instances/layout/json/json.h"
#include "instances/layout/plan_builder.h"
#include "instances/scatter/json/json.h"
#include "solvers/explain/explain.h"
#include "tests/solvers/explain/explained.h"

namespace stowage::explain_explain_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LayoutInstance small_layout(std::vector<Buffer> buffers, std::optional<Bytes> capacity) {
  return {.name = "conflict", .capacity = capacity, .buffers = std::move(buffers)};
}

TEST(Explain, AStepThatNeedsMoreThanTheCapacity) {
  const Explanation why = explained(small_layout({{.id = "a", .lower = 0, .upper = 3, .size = 20},
                                                  {.id = "b", .lower = 1, .upper = 4, .size = 20},
                                                  {.id = "c", .lower = 2, .upper = 5, .size = 25},
                                                  {.id = "d", .lower = 2, .upper = 3, .size = 1}},
                                                 64));
  // The two bytes too many occur without d too.
  EXPECT_THAT(places(why.conflict.causes),
              ElementsAre("/buffers/2", "/buffers/0", "/buffers/1", "/capacity_bytes"));
  ASSERT_EQ(why.remedies.size(), 2U);
  expect_remedies(why);
  EXPECT_EQ(as<LayoutInstance>(why.remedies[0]).buffers.size(), 3U);
  EXPECT_EQ(as<LayoutInstance>(why.remedies[1]).capacity, 66);
}

TEST(Explain, AlignmentsThatTheLoadDoesNotSeeAreNoReasonToBlameMore) {
  // a and b need 11 bytes alone: one of them begins at 6.
  LayoutInstance instance =
      small_layout({{.id = "a", .lower = 0, .upper = 1, .size = 5, .alignment = 3},
                    {.id = "b", .lower = 0, .upper = 1, .size = 5, .alignment = 2},
                    {.id = "c", .lower = 0, .upper = 1, .size = 1}},
                   10);
  const std::vector<std::string> both = {"/buffers/0", "/buffers/1", "/capacity_bytes"};
  Explanation why = explained(instance);
  EXPECT_EQ(places(why.conflict.causes), both);
  EXPECT_TRUE(why.conflict.irreducible);
  expect_remedies(why);

  // The conflict does not contain a pin whose removal does not help.
  instance.buffers.pop_back();
  instance.buffers[0].offset = 0;
  why = explained(instance);
  EXPECT_EQ(places(why.conflict.causes), both);
  EXPECT_TRUE(why.conflict.irreducible);
}

TEST(Explain, APinThatLeavesNoRoomIsACause) {
  const Explanation why =
      explained(small_layout({{.id = "a", .lower = 0, .upper = 2, .size = 4, .offset = 3},
                              {.id = "b", .lower = 0, .upper = 1, .size = 4},
                              {.id = "c", .lower = 1, .upper = 2, .size = 1}},
                             8));
  EXPECT_THAT(places(why.conflict.causes), ElementsAre("/buffers/0", "/buffers/0/offset_bytes",
                                                       "/buffers/1", "/capacity_bytes"));
  EXPECT_TRUE(why.conflict.irreducible);
  expect_remedies(why);
  EXPECT_THAT(remedy_places(why),
              ElementsAre("/buffers/0/offset_bytes", "/buffers/0", "/capacity_bytes"));
}

TEST(Explain, ASmallBufferMayFreeAWholeBlock) {
  LayoutInstance instance = small_layout({{.id = "a", .lower = 0, .upper = 1, .size = 8},
                                          {.id = "b", .lower = 0, .upper = 1, .size = 8},
                                          {.id = "c", .lower = 0, .upper = 1, .size = 1},
                                          {.id = "d", .lower = 0, .upper = 1, .size = 1}},
                                         20);
  instance.alignment = 8;
  const Explanation why = explained(instance);
  expect_remedies(why);
  ASSERT_FALSE(why.remedies.empty());
  EXPECT_EQ(why.remedies[0].change.text, "free 1 buffer of 1 byte (recompute or offload): d");
}

TEST(Explain, OneFreedBufferIsNotAlwaysEnough) {
  const Explanation why = explained(small_layout({{.id = "a", .lower = 0, .upper = 1, .size = 20},
                                                  {.id = "b", .lower = 0, .upper = 1, .size = 20},
                                                  {.id = "c", .lower = 0, .upper = 1, .size = 20}},
                                                 25));
  ASSERT_EQ(why.remedies.size(), 2U);
  expect_remedies(why);
  EXPECT_EQ(as<LayoutInstance>(why.remedies[0]).buffers.size(), 1U);
}

TEST(Explain, PinsThatClash) {
  const Explanation why =
      explained(small_layout({{.id = "a", .lower = 0, .upper = 3, .size = 16, .offset = 0},
                              {.id = "b", .lower = 1, .upper = 4, .size = 16, .offset = 8},
                              {.id = "c", .lower = 0, .upper = 4, .size = 8}},
                             std::nullopt));
  EXPECT_THAT(places(why.conflict.causes),
              ElementsAre("/buffers/0/offset_bytes", "/buffers/1/offset_bytes"));
  ASSERT_EQ(why.remedies.size(), 2U);
  expect_remedies(why);
}

TEST(Explain, TwoConflictsAtOnceNeedARemedyOnTop) {
  const Explanation why =
      explained(small_layout({{.id = "a", .lower = 0, .upper = 3, .size = 16, .offset = 0},
                              {.id = "b", .lower = 1, .upper = 4, .size = 16, .offset = 8},
                              {.id = "c", .lower = 0, .upper = 4, .size = 8, .offset = 100}},
                             64));
  ASSERT_FALSE(why.remedies.empty());
  expect_remedies(why);
  EXPECT_THAT(why.remedies[0].change.text, HasSubstr("a lie anywhere, and let buffer c"));
}

TEST(Explain, APinAboveTheCapacity) {
  const Explanation why =
      explained(small_layout({{.id = "high", .lower = 0, .upper = 3, .size = 16, .offset = 56},
                              {.id = "b", .lower = 1, .upper = 4, .size = 16}},
                             64));
  EXPECT_THAT(places(why.conflict.causes),
              ElementsAre("/buffers/0/offset_bytes", "/capacity_bytes"));
  ASSERT_EQ(why.remedies.size(), 2U);
  expect_remedies(why);
  EXPECT_EQ(as<LayoutInstance>(why.remedies[1]).capacity, 72);
}

TEST(Explain, BuffersThatOnlyASearchCanRefute) {
  // The load is 6 bytes and the least peak 7, independent of the last buffer.
  std::vector<Buffer> buffers{
      {.lower = 2, .upper = 5, .size = 2}, {.lower = 2, .upper = 3, .size = 2},
      {.lower = 0, .upper = 4, .size = 2}, {.lower = 0, .upper = 2, .size = 4},
      {.lower = 5, .upper = 7, .size = 4}, {.lower = 3, .upper = 7, .size = 1},
      {.lower = 4, .upper = 5, .size = 3}, {.lower = 9, .upper = 10, .size = 5}};
  const LayoutInstance instance = small_layout(buffers, 6);
  const Explanation why = explained(instance);
  ASSERT_EQ(why.outcome.status, Status::infeasible);
  EXPECT_TRUE(why.conflict.irreducible);
  // Irreducible: the named buffers are refuted together, and not without any one of them.
  LayoutInstance named = instance;
  named.buffers.clear();
  for (const Finding& cause : why.conflict.causes) {
    if (cause.where == "/capacity_bytes") continue;
    named.buffers.push_back(buffers[std::stoul(cause.where.substr(9))]);
  }
  EXPECT_LT(named.buffers.size(), buffers.size());
  EXPECT_EQ(solved(named).status, Status::infeasible);
  for (std::size_t b = 0; b < named.buffers.size(); ++b) {
    LayoutInstance fewer = named;
    fewer.buffers.erase(fewer.buffers.begin() + static_cast<std::ptrdiff_t>(b));
    EXPECT_TRUE(solved(fewer).plan) << b;
  }
  expect_remedies(why);
  EXPECT_EQ(as<LayoutInstance>(why.remedies.back()).capacity, 7);
}

TEST(Explain, AStackEndsOnTheGround) {
  const LayoutInstance instance = small_layout({{.id = "x", .lower = 0, .upper = 2, .size = 64},
                                                {.id = "y", .lower = 1, .upper = 3, .size = 32},
                                                {.id = "z", .lower = 2, .upper = 4, .size = 64}},
                                               std::nullopt);
  LayoutPlan plan = compose_layout(instance, {0, 64, 0});
  plan.instance_hash = instance_hash(instance);
  const Explanation why = explained(instance, plan);
  EXPECT_THAT(places(why.binding.parts), ElementsAre("/buffers", "/offsets/1", "/offsets/0"));
  EXPECT_THAT(why.binding.moves.best_text, IsEmpty());
  // One byte higher, the top buffer can fall by one.
  plan = compose_layout(instance, {0, 65, 0});
  plan.instance_hash = instance_hash(instance);
  const Explanation higher = explained(instance, plan);
  EXPECT_EQ(higher.binding.moves.best_gain, 1);
  EXPECT_EQ(higher.binding.moves.best_text, "move buffer y from 65 to 64");
}

// A pinned buffer of 0 bytes may be above all others and then determines the peak.
TEST(Explain, APinnedBufferWithoutBytesOnTop) {
  const LayoutInstance layout = small_layout(
      {{.lower = 0, .upper = 4, .size = 8}, {.lower = 0, .upper = 4, .size = 0, .offset = 64}}, {});
  Budget budget({.node_limit = 100});
  const Explanation why = explain(Instance(layout), std::nullopt, {.nodes = 10}, budget);
  EXPECT_EQ(why.objective, 64);
  ASSERT_EQ(why.binding.parts.size(), 2U);
  EXPECT_EQ(why.binding.parts[1].text, "buffer 1 lies at bytes [64, 64) where it is pinned");
}

}  // namespace
}  // namespace stowage::explain_explain_test
