#include "kernels/memory/memory_exercise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/layout/generate/transformer_trace.h"
#include "instances/layout/plan_builder.h"
#include "instances/layout/verify/verify.h"
#include "instances/violation.h"
#include "tests/instances/random_layout.h"

namespace stowage::kernels::memory_memory_exercise_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Valid plans pass and invalid ones fail, with gaps, alignments, pins and empty buffers, at any
// scale: the verifier and the exercise share no code and agree.
TEST(MemoryExercise, AgreesWithTheVerifier) {
  Draw draw(11);
  int overlaps = 0;
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    const LayoutInstance instance = random_layout(draw, {.most_bytes = 60});
    LayoutPlan plan = random_layout_plan(instance, draw);
    const std::int64_t scale = draw.coin() ? 1 : draw.whole(2, 100);
    const MemoryExercise done = exercise_memory(instance, plan, {.scale = scale}, nullptr);
    EXPECT_TRUE(done.passed()) << done.problems.list()[0];
    Bytes peak_of_needed = 0;  // a lifetime that is all gap needs nothing
    for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
      if (needs_of(instance.buffers[i]).empty()) continue;
      peak_of_needed = std::max(peak_of_needed, plan.offsets[i] + instance.buffers[i].size);
    }
    EXPECT_EQ(done.high_water_bytes, peak_of_needed);

    const auto moved = static_cast<std::size_t>(
        draw.whole(0, static_cast<std::int64_t>(instance.buffers.size()) - 1));
    plan.offsets[moved] = draw.whole(0, plan.peak_bytes);
    restate(instance, plan);
    bool overlap = false;
    for (const Violation& violation : verify(instance, plan))
      overlap |= violation.rule == "overlap";
    overlaps += overlap ? 1 : 0;
    EXPECT_EQ(exercise_memory(instance, plan, {.scale = scale}, nullptr).passed(), !overlap);
  }
  EXPECT_GT(overlaps, 50);
}

// An overlap of one byte, in a terabyte that is scaled down by ten thousand.
TEST(MemoryExercise, ScalingKeepsTheSmallestOverlap) {
  const Bytes tera = Bytes{1} << 40;
  const LayoutInstance instance{.name = "two",
                                .buffers = {{.id = "a", .lower = 0, .upper = 2, .size = tera},
                                            {.id = "b", .lower = 1, .upper = 3, .size = tera}}};
  const MemoryExercise apart =
      exercise_memory(instance, compose_layout(instance, {0, tera}), {}, nullptr);
  EXPECT_TRUE(apart.passed());
  EXPECT_EQ(apart.high_water_bytes, 2 * tera);
  EXPECT_GT(apart.scale, 1000);
  EXPECT_LE(apart.arena_bytes, (Bytes{1} << 26) + 64);
  const MemoryExercise touching =
      exercise_memory(instance, compose_layout(instance, {0, tera - 1}), {}, nullptr);
  EXPECT_FALSE(touching.passed());
  EXPECT_THAT(touching.problems.list()[0],
              HasSubstr("buffer \"a\" has lost what was written at step 0 when it ends at step 2"));
  EXPECT_THAT(touching.problems.list().back(), HasSubstr("\"b\" begins in bytes"));
}

// A buffer is filled again after a gap in which others used its bytes.
TEST(MemoryExercise, GapsAreFreeForOthers) {
  const LayoutInstance instance{
      .name = "gap",
      .buffers = {{.id = "a", .lower = 0, .upper = 9, .size = 64, .gaps = {{3, 6}}},
                  {.id = "b", .lower = 3, .upper = 6, .size = 64}}};
  const MemoryExercise done =
      exercise_memory(instance, compose_layout(instance, {0, 0}), {}, nullptr);
  EXPECT_TRUE(done.passed());
  EXPECT_EQ(done.fillings, 3);
  EXPECT_EQ(done.written_bytes, 3 * 64);
  EXPECT_EQ(done.high_water_bytes, 64);
}

TEST(MemoryExercise, AWholeTransformerStep) {
  const Result<LayoutInstance> trace = trace_layout({.tokens = 131072, .layers = 4});
  ASSERT_TRUE(trace);
  Draw draw(1);
  LayoutPlan plan = random_layout_plan(*trace, draw);
  const MemoryExercise done = exercise_memory(
      *trace, plan, {.most_arena_bytes = 1 << 22, .most_written_bytes = 1 << 26}, nullptr);
  EXPECT_TRUE(done.passed());
  EXPECT_EQ(done.high_water_bytes, plan.peak_bytes);
  EXPECT_GT(done.scale, 1);
}

TEST(MemoryExercise, NothingIsLegalAndTooMuchIsAProblem) {
  EXPECT_TRUE(exercise_memory({}, {}, {}, nullptr).passed());
  const LayoutInstance large{.name = "large",
                             .buffers = {{.lower = 0, .upper = 1, .size = Bytes{1} << 40}}};
  const MemoryExercise done =
      exercise_memory(large, compose_layout(large, {0}), {.scale = 1}, nullptr);
  EXPECT_FALSE(done.complete);
  EXPECT_THAT(done.problems.list(), ElementsAre(HasSubstr("at scale 1, the most is")));
}

TEST(MemoryExercise, StopsWithTheBudget) {
  const LayoutInstance one{.name = "one", .buffers = {{.lower = 0, .upper = 1, .size = 8}}};
  Budget budget({.time_limit_s = 0});
  const MemoryExercise done = exercise_memory(one, compose_layout(one, {0}), {}, &budget);
  EXPECT_FALSE(done.passed());
  EXPECT_EQ(done.stopped_by, StopReason::time_limit);
}

}  // namespace
}  // namespace stowage::kernels::memory_memory_exercise_test
