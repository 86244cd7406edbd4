// The block in a planned arena, compared with the block in separate allocations, and invalid plans.
#include "kernels/memory/block_execution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "instances/layout/verify/verify.h"
#include "kernels/memory/arena.h"
#include "kernels/memory/recorded_layout.h"
#include "tests/instances/random_layout.h"
#include "tests/kernels/recorded_blocks.h"

namespace stowage::kernels::memory_block_execution_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Planned {
  LayoutInstance instance;
  LayoutPlan plan;
};

Planned planned(const RecordedBlock& block, std::uint64_t seed, Bytes alignment = 64) {
  const Result<LayoutInstance> made = record_layout(block, alignment);
  EXPECT_TRUE(made) << to_string(made.errors()[0]);
  Draw draw(seed);
  return {*made, random_layout_plan(*made, draw)};
}

BlockExecution executed(const Planned& p) {
  const Result<BlockProgram> program = recorded_program(p.instance);
  EXPECT_TRUE(program) << to_string(program.errors()[0]);
  return execute_block(p.instance, *program, p.plan, 1, nullptr);
}

TEST(BlockExecution, TheArenaChangesNoBit) {
  std::uint64_t seed = 0;
  for (const RecordedBlock& block : recorded_blocks()) {
    for (const Bytes alignment : {4, 64}) {
      const Planned p = planned(block, ++seed, alignment);
      SCOPED_TRACE(p.instance.name);
      ASSERT_THAT(verify(p.instance, p.plan), IsEmpty());
      const BlockExecution done = executed(p);
      EXPECT_TRUE(done.passed());
      EXPECT_THAT(done.problems.list(), IsEmpty());
      EXPECT_EQ(done.output.differing, 0);
      EXPECT_EQ(done.input_gradient.differing, 0);
      EXPECT_EQ(done.weight_gradient.differing, 0);
      EXPECT_EQ(done.high_water_bytes, p.plan.peak_bytes);
      EXPECT_GE(done.canary_bytes_checked, done.steps * Arena::kGuard);
      const std::int64_t tokens =
          std::accumulate(block.lengths.begin(), block.lengths.end(), std::int64_t{0});
      EXPECT_EQ(done.output.compared, tokens * block.hidden);
      EXPECT_EQ(done.steps, 4 + 24 * block.layers);
    }
  }
}

// For every pair of tensors alive together, one is placed on the other: every overlap is detected.
TEST(BlockExecution, EveryOverlapIsNamed) {
  const Planned p =
      planned({.hidden = 8, .heads = 2, .kv_heads = 1, .head_dim = 4, .ffn = 6, .lengths = {5}}, 3);
  const Result<BlockProgram> program = recorded_program(p.instance);
  ASSERT_TRUE(program);
  int pairs = 0;
  for (std::size_t i = 0; i < p.instance.buffers.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Buffer &a = p.instance.buffers[i], &b = p.instance.buffers[j];
      if (!need_memory_together(a, b)) continue;
      ++pairs;
      LayoutPlan wrong = p.plan;
      wrong.offsets[i] = wrong.offsets[j];
      restate(p.instance, wrong);
      ASSERT_THAT(verify(p.instance, wrong), testing::Not(IsEmpty()));
      const BlockExecution done = execute_block(p.instance, *program, wrong, 1, nullptr);
      EXPECT_FALSE(done.passed());
      EXPECT_THAT(done.problems.list(),
                  Contains(testing::AllOf(HasSubstr(a.id), HasSubstr(b.id), HasSubstr("begins"))));
    }
  }
  EXPECT_GT(pairs, 100);
}

// The bits alone also show the overlap, independent of the arena's checks.
TEST(BlockExecution, AnOverlapShowsInTheBits) {
  const Planned p = planned({.lengths = {9}}, 5);
  const auto index = [&](const std::string& id) {
    std::size_t i = 0;
    while (p.instance.buffers[i].id != id) ++i;
    return i;
  };
  LayoutPlan wrong = p.plan;
  wrong.offsets[index("0.gate")] = wrong.offsets[index("0.q")];
  restate(p.instance, wrong);
  const BlockExecution done = executed({p.instance, wrong});
  EXPECT_GT(done.input_gradient.differing, 0);
  EXPECT_FALSE(done.input_gradient.passed());
}

TEST(BlockExecution, WhatNoArenaCanHoldIsAProblem) {
  Planned p = planned({.lengths = {5}}, 1);
  p.plan.offsets[3] += 2;
  p.plan.offsets[4] = kMaxExact - p.instance.buffers[4].size;
  const BlockExecution done = executed(p);
  EXPECT_FALSE(done.complete);
  EXPECT_THAT(done.problems.list(), Contains(HasSubstr("which is no multiple of a float's size")));
  EXPECT_THAT(done.problems.list(), Contains(HasSubstr("the arena has at most")));
}

TEST(BlockExecution, StopsBeforeARun) {
  const Planned p = planned({.lengths = {5}}, 1);
  Budget budget({.time_limit_s = 0});
  const BlockExecution done =
      execute_block(p.instance, *recorded_program(p.instance), p.plan, 1, &budget);
  EXPECT_FALSE(done.passed());
  EXPECT_EQ(done.stopped_by, StopReason::time_limit);
  EXPECT_THAT(done.problems.list(), IsEmpty());
}

// If an operation used a tensor that it did not declare, the trace would be wrong.
TEST(Operands, WhatIsNotDeclaredIsRefused) {
  const std::vector<Tensor> tensors = {{.name = "a", .floats = 1}, {.name = "b", .floats = 1}};
  SeparateTensors memory(tensors);
  const StepOperands declared{.reads = {0}, .writes = {}, .updates = {1}};
  const Operands operands(memory, declared);
  EXPECT_EQ(operands.in(0).size(), 1U);
  EXPECT_EQ(operands.in(1).size(), 1U);
  EXPECT_EQ(operands.out(1).size(), 1U);
  EXPECT_THROW(operands.out(0), std::logic_error);
  EXPECT_THROW(operands.in(2), std::logic_error);
}

}  // namespace
}  // namespace stowage::kernels::memory_block_execution_test
