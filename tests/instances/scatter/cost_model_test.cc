#include "instances/scatter/cost_model.h"

#include <gtest/gtest.h>

namespace stowage {
namespace {

// gpt-7b on 64 A100-40GB GPUs at a 192K limit: the published coefficients.
ScatterInstance gpt_7b() {
  return {
      .cluster = {.devices = 64, .memory_mib = 30720, .degrees = {1, 2, 4, 8, 16, 32, 64}},
      .model = {.states_mib = 7.1174 * 16 * 1024 / 64, .activation_mib_per_token = 4.480441895},
      .cost = {.quadratic_ms = 5.128e-6,
               .linear_ms = 0.1839576,
               .fixed_ms = 629.3563,
               .all_to_all = {
                   .mib_per_token = 2.0,
                   .mib_per_ms = {
                       {2, 119.54}, {4, 104.07}, {8, 96.5}, {16, 10.33}, {32, 5.94}, {64, 4.87}}}}};
}

TEST(CostModel, TokensPerDeviceMatchThePublishedMemoryModel) {
  ScatterInstance instance = gpt_7b();
  EXPECT_EQ(tokens_per_device(instance), 6449);
  instance.model.states_mib = 7.8499 * 16 * 1024 / 64;  // 384K limit
  EXPECT_EQ(tokens_per_device(instance), 6407);
}

TEST(CostModel, SequenceTimesMatchThePublishedCoefficients) {
  EXPECT_NEAR(sequence_ms(gpt_7b(), 8192, 8), 252.6, 0.05);
  EXPECT_NEAR(sequence_ms(gpt_7b(), 131072, 64), 2594, 0.5);
}

TEST(CostModel, DegreeOneExchangesNothing) {
  ScatterInstance instance = gpt_7b();
  const Ms with = sequence_ms(instance, 1000, 1);
  instance.cost.all_to_all.mib_per_token = 0;
  EXPECT_EQ(with, sequence_ms(instance, 1000, 1));
}

TEST(CostModel, LatencyIsPaidOncePerGroup) {
  ScatterInstance instance = gpt_7b();
  instance.cost.all_to_all.latency_ms = {{8, 1.5}};
  EXPECT_DOUBLE_EQ(group_overhead_ms(instance, 8), 629.3563 + 1.5);
  EXPECT_DOUBLE_EQ(group_overhead_ms(instance, 4), 629.3563);
}

TEST(CostModel, CapacityGrowsWithTheDegreeAndNeverOverflows) {
  ScatterInstance instance = gpt_7b();
  EXPECT_EQ(group_capacity(instance, 8), 8 * 6449);
  instance.model.activation_mib_per_token = 1e-300;
  EXPECT_EQ(group_capacity(instance, 64), kMaxExact);
  instance.model.states_mib = 40000;  // more than the memory
  EXPECT_EQ(group_capacity(instance, 64), 0);
}

TEST(Scatter, NamesTheSequencesThatFitNowhere) {
  ScatterInstance instance = gpt_7b();
  instance.lengths = {10, 64 * 6449, 64 * 6449 + 1, 7};
  EXPECT_EQ(unplaceable_sequences(instance), std::vector<std::int64_t>{2});
}

TEST(Scatter, PadsUpToTheMultiple) {
  ScatterInstance instance = gpt_7b();
  instance.pad_multiple = 128;
  instance.lengths = {1, 128, 129};
  EXPECT_EQ(padded_lengths(instance), (std::vector<Tokens>{128, 128, 256}));
}

}  // namespace
}  // namespace stowage
