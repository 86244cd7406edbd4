// Copies of saved activations while a stack of blocks runs: bits, bytes and waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <vector>

#include "instances/scatter/plan_builder.h"
#include "kernels/block/synthetic.h"
#include "kernels/run/executor.h"
#include "kernels/run/offload/host_link.h"
#include "kernels/run/offload/offloaded_stack.h"
#include "kernels/scatter/packed_plan.h"

namespace stowage::kernels::run_offload_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(HostLink, CopiesInOrderAndNotFasterThanTheirRate) {
  std::vector<int> order;
  const auto begin = std::chrono::steady_clock::now();
  HostLink link;
  const auto one = link.start(0.02, [&] { order.push_back(1); });
  const auto two = link.start(0.03, [&] { order.push_back(2); });
  EXPECT_GT(link.wait(two), 0);
  EXPECT_GE(since(begin), 0.05);
  EXPECT_EQ(link.wait(one), 0) << "it has ended before";
  EXPECT_THAT(order, ElementsAre(1, 2));
  link.drain();
}

TEST(HostLink, RaisesWhatACopyThrows) {
  HostLink link;
  const auto ticket = link.start(0, [] { throw std::runtime_error("no memory"); });
  EXPECT_THROW(link.wait(ticket), std::runtime_error);
  const auto next = link.start(0, [] {});
  EXPECT_THROW(link.wait(next), std::runtime_error) << "the data of an earlier copy are missing";
}

TEST(HostLink, EndsWithCopiesThatNobodyAwaits) {
  int done = 0;
  {
    HostLink link;
    for (int i = 0; i < 3; ++i) link.start(100, [&] { ++done; });
  }
  EXPECT_EQ(done, 3);
}

struct Row {
  BlockShape block;
  std::vector<std::int32_t> cu_seqlens = {0, 40, 41, 96};
  std::vector<float> x, upstream;
  BlockWeights<float> weights = synthetic_weights(block, 3);

  Row() : x(96 * block.hidden), upstream(x.size()) {
    fill_tokens({.seed = 1, .stream = Stream::input}, 0, 0, block.hidden, x);
    fill_tokens({.seed = 1, .stream = Stream::upstream}, 0, 0, block.hidden, upstream);
  }
  OffloadMeasurement run(const PlannedOffload& planned, const OffloadOptions& options = {}) const {
    return run_offloaded(weights, {block, cu_seqlens, x, upstream}, planned, options);
  }
};

TEST(OffloadedStack, HasTheSameBitsAndMovesTheShare) {
  const Row row;
  for (const double share : {0.01, 0.3, 0.5, 0.99, 1.0}) {
    for (const double in_flight : {1e-9, 0.125, 1.0}) {
      const OffloadMeasurement seen =
          row.run({.share = share}, {.blocks = 3, .in_flight = in_flight, .repeats = 2});
      EXPECT_TRUE(seen.same_bits) << share << ' ' << in_flight;
      const double moved = static_cast<double>(seen.moved_bytes);
      const double saved = static_cast<double>(seen.saved_bytes);
      EXPECT_GE(moved, share * saved);
      EXPECT_LE(moved, share * saved + saved / 9) << "at most a tensor more";
    }
  }
}

// The device then holds the copies that wait and the tensors of a block.
TEST(OffloadedStack, WhatHasLeftTakesNoMemoryOfTheDevice) {
  const Row row;
  const OffloadMeasurement seen =
      row.run({.share = 1, .out_parts = 2, .in_parts = 2}, {.blocks = 8, .in_flight = 1e-9});
  EXPECT_TRUE(seen.same_bits);
  EXPECT_LT(seen.device_bytes, seen.device_bytes_alone / 2);
  const OffloadMeasurement none = row.run({.share = 0}, {.blocks = 8});
  EXPECT_EQ(none.moved_bytes, 0);
  EXPECT_EQ(none.device_bytes, none.device_bytes_alone);
  EXPECT_EQ(none.executed_stall_s, 0);
}

// Copies of five times the work: nearly all of them is waited for, whatever the machine does.
TEST(OffloadedStack, WaitsForWhatThePassesDoNotHide) {
  const Row row;
  const OffloadMeasurement seen =
      row.run({.share = 0.5, .out_parts = 5, .in_parts = 5}, {.repeats = 3});
  EXPECT_TRUE(seen.same_bits);
  EXPECT_GT(seen.predicted_stall_s, 0);
  EXPECT_GT(seen.executed_stall_s, 0.6 * seen.predicted_stall_s);
  EXPECT_LT(seen.executed_stall_s, 1.6 * seen.predicted_stall_s);
}

TEST(OffloadedStack, OptionsOutOfRangeAreNamed) {
  EXPECT_THAT(check(OffloadOptions{}), IsEmpty());
  EXPECT_THAT(check(OffloadOptions{.blocks = 0}), ElementsAre(HasSubstr("offload.blocks must")));
  EXPECT_THAT(check(OffloadOptions{.in_flight = 0}),
              ElementsAre(HasSubstr("offload.in_flight must")));
  EXPECT_THAT(check(OffloadOptions{.repeats = 0}), ElementsAre(HasSubstr("offload.repeats must")));
}

// A device of 100 tokens, 1 ms a token, half of whose activations can leave: of 150 tokens, 50 MiB
// leave, two thirds of what can.
ScatterInstance half_can_leave() {
  ScatterInstance instance{.name = "host",
                           .cluster = {.devices = 1, .memory_mib = 120, .degrees = {1}},
                           .model = {.states_mib = 20, .activation_mib_per_token = 1},
                           .cost = {.linear_ms = 1},
                           .lengths = {90, 60, 20}};
  instance.model.offload =
      ActivationOffload{.mib_per_token = 0.5, .out_mib_per_ms = 0.5, .in_mib_per_ms = 0.25};
  return instance;
}

TEST(OffloadedStack, TakesThePartsOfItsPlan) {
  const ScatterInstance instance = half_can_leave();
  const ScatterPlan plan = compose_plan(
      instance, {{{.degree = 1, .sequences = {0, 1}}}, {{.degree = 1, .sequences = {2}}}});
  const PackedPlan packed = packed_plan(instance, plan);
  ASSERT_EQ(packed.batches.size(), 2U);
  ASSERT_TRUE(packed.batches[0].offload);
  EXPECT_FALSE(packed.batches[1].offload);
  const PlannedOffload& own = *packed.batches[0].offload;
  EXPECT_DOUBLE_EQ(own.share, 2.0 / 3);
  EXPECT_DOUBLE_EQ(own.out_parts, 100.0 / 150);
  EXPECT_DOUBLE_EQ(own.in_parts, 200.0 / 150);
  EXPECT_DOUBLE_EQ(own.stall_ms, (100.0 - 50) + (200.0 - 100));
  EXPECT_DOUBLE_EQ(packed.batches[0].predicted_ms, 150 + own.stall_ms);
  // A plan that lies about its ids or its share is not looked into.
  ScatterPlan wrong = plan;
  wrong.micro_batches[0].groups[0].sequences[0] = 7;
  EXPECT_FALSE(packed_plan(instance, wrong).batches[0].offload);
  wrong = plan;
  wrong.micro_batches[0].groups[0].offload = 1.5;
  EXPECT_FALSE(packed_plan(instance, wrong).batches[0].offload);
}

TEST(OffloadedStack, TheExecutorReportsIt) {
  const ScatterInstance instance = half_can_leave();
  const ScatterPlan plan = compose_plan(
      instance, {{{.degree = 1, .sequences = {0, 1}}}, {{.degree = 1, .sequences = {2}}}});
  const ExecutionReport report = execute(instance, plan, {.scale = 1}, {}, nullptr);
  EXPECT_TRUE(report.passed()) << testing::PrintToString(report.problems.list());
  ASSERT_EQ(report.batches.size(), 2U);
  ASSERT_TRUE(report.batches[0].offload);
  EXPECT_TRUE(report.batches[0].offload->same_bits);
  EXPECT_GE(report.batches[0].offload->moved_bytes, report.batches[0].offload->saved_bytes / 2);
  EXPECT_FALSE(report.batches[1].offload);
  EXPECT_THAT(report.notes, Contains(HasSubstr("stacks of 12 blocks")));
  ExecuteOptions none{.scale = 1};
  none.offload.blocks = 0;
  EXPECT_THAT(execute(instance, plan, none, {}, nullptr).problems.list(),
              Contains(HasSubstr("offload.blocks must be")));
}

}  // namespace
}  // namespace stowage::kernels::run_offload_test
