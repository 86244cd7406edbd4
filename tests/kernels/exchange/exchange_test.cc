#include "kernels/exchange/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/run/executor.h"
#include "kernels/scatter/packed_plan.h"
#include "tests/kernels/plans.h"

namespace stowage::kernels::exchange_exchange_test {
namespace {

ExecutionReport run(const ScatterPlan& plan, const ExecuteOptions& options) {
  return execute(ten_sequences(), plan, options, {}, nullptr);
}

TEST(Executor, EveryExchangeComputesThePlan) {
  const ExecutionReport one = run(ten_sequences_planned(), {.scale = 1, .max_ranks = 1});
  EXPECT_NEAR(one.loss, one.reference_loss, 1e-5 * std::abs(one.reference_loss));
  EXPECT_GT(std::abs(one.loss), 1);
  for (std::size_t kind = 0; kind < kExchangeNames.size(); ++kind) {
    SCOPED_TRACE(kExchangeNames[kind]);
    ExecuteOptions options{.scale = 1, .exchange = {.kind = static_cast<ExchangeKind>(kind)}};
    const ExecutionReport report = run(ten_sequences_planned(), options);
    EXPECT_TRUE(report.passed());
    EXPECT_EQ(report.reference_loss, one.reference_loss);
    EXPECT_NEAR(report.loss, one.loss, 1e-5 * std::abs(one.loss));
    // These exchanges promise the bits of one rank.
    const bool bitwise = options.exchange.kind == ExchangeKind::ulysses ||
                         options.exchange.kind == ExchangeKind::chunked;
    if (bitwise) {
      EXPECT_EQ(report.loss, one.loss);
      EXPECT_EQ(report.output.error, one.output.error);
    } else {
      EXPECT_NE(report.loss, one.loss);  // otherwise the exchange made no difference
    }
    // A wrong plan stays wrong with every exchange.
    ScatterPlan wrong = ten_sequences_planned();
    wrong.micro_batches[1].groups[0].cu_seqlens[1] -= 1;
    EXPECT_FALSE(run(wrong, options).output.passed());
    options.loader = [](Stream, std::int64_t id) { return id == 2 ? 3 : id == 3 ? 2 : id; };
    EXPECT_FALSE(run(ten_sequences_planned(), options).output.passed());
  }
}

TEST(Executor, ChunksOfAnySizeComputeThePlan) {
  for (const Tokens chunk : {1, 7, 40, 1000}) {
    for (const std::int64_t retained : {1, 2}) {
      const ExecutionReport report = run(
          ten_sequences_planned(),
          {.scale = 2,
           .exchange = {.kind = ExchangeKind::chunked, .chunk_size = chunk, .retained = retained}});
      EXPECT_TRUE(report.passed()) << chunk << ' ' << retained;
    }
  }
}

TEST(Executor, AnExchangeOutOfRangeIsAProblem) {
  const ExecutionReport report = run(ten_sequences_planned(), {.exchange = {.retained = 0}});
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.problems.list().at(0), testing::HasSubstr("retained must be at least 1"));
}

}  // namespace
}  // namespace stowage::kernels::exchange_exchange_test
