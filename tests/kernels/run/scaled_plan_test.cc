#include "kernels/run/scaled_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/scatter/packed_plan.h"
#include "tests/kernels/plans.h"

namespace stowage::kernels::run_scaled_plan_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ScaledPlan scaled_by(std::int64_t scale, const ScatterPlan& plan) {
  return scale_plan(packed_plan(ten_sequences(), plan), {}, scale, 0);
}

TEST(ScaledPlan, PadsThenRoundsUp) {
  const ScaledPlan scaled = scaled_by(10, ten_sequences_planned());
  EXPECT_THAT(scaled.problems.list(), IsEmpty());
  EXPECT_THAT(scaled.lengths, ElementsAre(16, 1, 7, 7, 2, 10, 4, 1, 4, 1));
  ASSERT_THAT(scaled.batches, SizeIs(7));
  EXPECT_THAT(scaled.batches[1].rows, ElementsAre(0, 10, 17));
  EXPECT_EQ(scaled.batches[1].cu_seqlens, scaled.batches[1].rows);
  EXPECT_EQ(scaled.batches[1].name, "group 0 of micro-batch 1");
}

TEST(ScaledPlan, AnEntryOffByOneIsStillOffAfterScaling) {
  for (const int by : {-1, 1}) {
    ScatterPlan plan = ten_sequences_planned();
    plan.micro_batches[1].groups[0].cu_seqlens[1] += by;
    const ScaledPlan scaled = scaled_by(50, plan);  // sequences 5 and 2: 2 tokens each
    EXPECT_THAT(scaled.batches[1].rows, ElementsAre(0, 2, 4));
    EXPECT_THAT(scaled.batches[1].cu_seqlens, ElementsAre(0, 2 + by, 4));
    EXPECT_THAT(scaled.problems.list(),
                Contains(HasSubstr("group 0 of micro-batch 1: cu_seqlens gives sequence 5")));
  }
}

TEST(ScaledPlan, ChoosesTheSmallestScaleThatFitsTheWork) {
  const auto choose = [](double flop) {
    return scale_plan(packed_plan(ten_sequences(), ten_sequences_planned()), {}, 0, flop);
  };
  EXPECT_EQ(choose(1e18).scale, 1);
  const ScaledPlan tight = choose(3e7);
  EXPECT_GT(tight.scale, 1);
  EXPECT_LE(tight.work_flop, 3e7);
  EXPECT_GT(scaled_by(tight.scale - 1, ten_sequences_planned()).work_flop, 3e7);
  EXPECT_EQ(choose(0).scale, 152);  // every sequence is one token: no scale does less
}

struct Broken {
  const char* what;
  void (*damage)(ScatterPlan&);
  std::size_t groups_left;
};

TEST(ScaledPlan, ReportsEveryKindOfDamageAndNeverReadsOutOfBounds) {
  const std::vector<Broken> cases = {
      {"sequence 10 does not exist, the instance has 10",
       [](ScatterPlan& p) { p.micro_batches[0].groups[0].sequences[1] = 10; }, 6},
      {"sequence -1 does not exist",
       [](ScatterPlan& p) { p.micro_batches[0].groups[0].sequences[0] = -1; }, 6},
      {"cu_seqlens must have 3 entries, has 2",
       [](ScatterPlan& p) { p.micro_batches[0].groups[0].cu_seqlens.pop_back(); }, 6},
      {"cu_seqlens must have 3 entries, has 0",
       [](ScatterPlan& p) { p.micro_batches[0].groups[0].cu_seqlens.clear(); }, 6},
      {"cu_seqlens must begin at 0, begins at 4",
       [](ScatterPlan& p) { p.micro_batches[0].groups[0].cu_seqlens[0] = 4; }, 6},
      {"cu_seqlens[2] must be from 200 to",
       [](ScatterPlan& p) { p.micro_batches[0].groups[0].cu_seqlens[1] = 200; }, 6},
      {"cu_seqlens[2] must be from 152 to",
       [](ScatterPlan& p) { p.micro_batches[0].groups[0].cu_seqlens[2] = INT64_MAX; }, 6},
      {"degree must be at least 1, is 0",
       [](ScatterPlan& p) { p.micro_batches[0].groups[0].degree = 0; }, 6},
      {"group 0 of micro-batch 0: cu_seqlens ends at 155 but holds 156 tokens",
       [](ScatterPlan& p) { p.micro_batches[0].groups[0].cu_seqlens[2] -= 1; }, 7},
      {"tokens says 7 but it holds 156",
       [](ScatterPlan& p) { p.micro_batches[0].groups[0].tokens = 7; }, 7},
  };
  for (const Broken& broken : cases) {
    ScatterPlan plan = ten_sequences_planned();
    broken.damage(plan);
    for (const std::int64_t scale : {1, 7, 1000}) {
      const ScaledPlan scaled = scaled_by(scale, plan);
      EXPECT_THAT(scaled.problems.list(), Contains(HasSubstr(broken.what)));
      EXPECT_THAT(scaled.batches, SizeIs(broken.groups_left)) << broken.what;
      for (const ScaledBatch& group : scaled.batches) {
        EXPECT_LE(group.cu_seqlens.back(), group.rows.back());
      }
    }
  }
}

TEST(ScaledPlan, RefusesAnInstanceThatIsNotOne) {
  ScatterInstance instance = ten_sequences();
  instance.lengths[3] = 0;
  EXPECT_THAT(scale_plan(packed_plan(instance, ScatterPlan()), {}, 1, 0).problems.list(),
              ElementsAre("sequence 3 must have from 1 to 2^53 tokens, has 0"));
  instance.lengths[3] = kMaxExact;
  EXPECT_THAT(scale_plan(packed_plan(instance, ScatterPlan()), {}, 1, 0).problems.list(),
              ElementsAre(HasSubstr("tokens even after scaling")));
  instance.pad_multiple = 0;
  EXPECT_THAT(scale_plan(packed_plan(instance, ScatterPlan()), {}, 1, 0).problems.list(),
              ElementsAre(HasSubstr("pad_multiple must be")));
}

TEST(Problems, KeepsAHundred) {
  Problems problems;
  for (int i = 0; i < 130; ++i) problems.add("x");
  EXPECT_THAT(problems.list(), SizeIs(100));
  EXPECT_EQ(problems.omitted(), 30);
}

}  // namespace
}  // namespace stowage::kernels::run_scaled_plan_test
