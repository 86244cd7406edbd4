#include "kernels/run/ranks/process_pool.h"

#include <gtest/gtest.h>

#include "kernels/run/executor.h"
#include "kernels/scatter/packed_plan.h"
#include "tests/kernels/attention_batch.h"
#include "tests/kernels/plans.h"

namespace stowage::kernels::run_process_pool_test {
namespace {

// The report of an execution on `ranks` threads that act as processes.
ExecutionReport on_processes(int ranks, const ScatterPlan& plan, ExecuteOptions options) {
  ExecutionReport report;
  const auto error = run_ranks(ranks, [&](Communicator& world) {
    if (world.rank() != 0) return serve(world);
    ProcessPool pool(world);
    options.pool = &pool;
    report = execute(ten_sequences(), plan, options, {}, nullptr);
  });
  EXPECT_FALSE(error) << error->message;
  return report;
}

void expect_the_same(const ExecutionReport& a, const ExecutionReport& b) {
  EXPECT_EQ(a.passed(), b.passed());
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.reference_loss, b.reference_loss);
  EXPECT_EQ(a.output.error, b.output.error);
  EXPECT_EQ(a.output.sequence, b.output.sequence);
  EXPECT_EQ(a.input_gradient.error, b.input_gradient.error);
  EXPECT_EQ(a.weight_gradient.error, b.weight_gradient.error);
  EXPECT_EQ(a.problems.list(), b.problems.list());
  EXPECT_EQ(a.notes, b.notes);
  ASSERT_EQ(a.batches.size(), b.batches.size());
  for (std::size_t i = 0; i < a.batches.size(); ++i) {
    EXPECT_EQ(a.batches[i].ranks, b.batches[i].ranks);
    EXPECT_EQ(a.batches[i].tokens, b.batches[i].tokens);
    EXPECT_GT(b.batches[i].seconds, 0);
  }
}

TEST(ProcessPool, ComputesTheBitsOfThreads) {
  for (const int ranks : {1, 2, 3, 5, 8, 11}) {
    for (std::size_t kind = 0; kind < kExchangeNames.size(); ++kind) {
      SCOPED_TRACE(testing::Message() << kExchangeNames[kind] << " on " << ranks);
      const ExecuteOptions options{.scale = 2,
                                   .max_ranks = ranks,
                                   .exchange = {.kind = static_cast<ExchangeKind>(kind)},
                                   .threads = ranks == 2 ? 2 : 1,
                                   .rounds = ranks == 3 ? 1 : 0};
      const ExecutionReport threads =
          execute(ten_sequences(), ten_sequences_planned(), options, {}, nullptr);
      EXPECT_TRUE(threads.passed());
      // max_ranks as it stands, and left to the pool.
      expect_the_same(threads, on_processes(ranks, ten_sequences_planned(), options));
      ExecuteOptions pool_decides = options;
      pool_decides.max_ranks = 64;
      expect_the_same(threads, on_processes(ranks, ten_sequences_planned(), pool_decides));
    }
  }
}

TEST(ProcessPool, ABrokenPlanIsBrokenTheSameWay) {
  ScatterPlan plan = ten_sequences_planned();
  plan.micro_batches[1].groups[0].cu_seqlens[1] += 1;
  plan.micro_batches[2].groups[0].sequences = {8};
  const ExecutionReport threads =
      execute(ten_sequences(), plan, {.scale = 1, .max_ranks = 4}, {}, nullptr);
  EXPECT_FALSE(threads.passed());
  expect_the_same(threads, on_processes(4, plan, {.scale = 1}));
}

TEST(ProcessPool, AGroupThatFailsLeavesTheOthersAlone) {
  const BlockShape block;
  const BlockWeights<float> weights = synthetic_weights(block, 0);
  const std::vector<std::int32_t> cu = {0, 30};
  const std::vector<float> x = normal_values(std::int64_t{30} * block.hidden, 1);
  // The second rank of every group of two gives up between two exchanges.
  const ShareProgram program = [](Communicator& group, const Model& model, const GroupTask& task,
                                  std::span<const float> mine, std::span<const float> upstream) {
    if (group.size() == 2) {
      group.barrier();
      if (group.rank() == 1) throw std::runtime_error("lost a wheel");
      for (;;) group.barrier();
    }
    return run_share(group, model, task, mine, upstream);
  };
  const auto error = run_ranks(6, [&](Communicator& world) {
    if (world.rank() != 0) return serve(world, program);
    ProcessPool pool(world, program);
    pool.prepare({block, weights});
    const GroupTask three{.cu_seqlens = cu, .tokens = 30, .ranks = 3};
    GroupTask two = three;
    two.ranks = 2;
    const std::vector<GroupWork> groups = {{.task = two, .x = x, .upstream = x},
                                           {.task = three, .x = x, .upstream = x}};
    for (int round = 0; round < 3; ++round) {
      const std::vector<GroupOutput> out = pool.run(groups);
      if (!out[0].error) throw std::runtime_error("the bad group did not fail");
      EXPECT_EQ(out[0].error->rank, 1);
      EXPECT_EQ(out[0].error->message, "lost a wheel");
      if (out[1].error) throw std::runtime_error("the good group failed");
      ThreadPool threads;
      threads.prepare({block, weights});
      EXPECT_TRUE(same_bits(threads.run(std::span(groups).subspan(1))[0].y, out[1].y));
    }
  });
  EXPECT_FALSE(error) << error->message;
}

}  // namespace
}  // namespace stowage::kernels::run_process_pool_test
