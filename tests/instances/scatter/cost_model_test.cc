#include "instances/scatter/cost/cost_model.h"

#include <gtest/gtest.h>

#include "instances/scatter/table/planning_table.h"

namespace stowage::scatter_cost_model_test {
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

// 10 MiB of each sequence, 1 of logits and 0.5 of keys and values for each token, 4 of activations.
ScatterInstance with_terms() {
  return {.cluster = {.devices = 8, .memory_mib = 1100, .degrees = {1, 2, 4, 8}},
          .model = {.states_mib = 100,
                    .activation_mib_per_token = 4,
                    .sequence_mib = 10,
                    .logits_mib_per_token = 1,
                    .keys_values_mib_per_token = 0.5},
          .cost = {.linear_ms = 1}};
}

TEST(Memory, DependsOnDegreeExchangeAndSequences) {
  using enum ExchangeKind;
  ScatterInstance instance = with_terms();
  // 5 MiB a token: 200 on each device; 4 * 10 MiB of a sequence count for 8 tokens of the group.
  EXPECT_EQ(tokens_per_device(instance, {4, all_to_all}), 200);
  EXPECT_EQ(sequence_tokens(instance, {4, all_to_all}), 8);
  EXPECT_EQ(room_of_group(instance, {4, all_to_all}).capacity, 800);
  EXPECT_EQ(longest_in_group(instance, {4, all_to_all}), 792);
  // 5.5 in a ring: 181 tokens, 40 / 5.5 = 7.3.
  EXPECT_EQ(tokens_per_device(instance, {4, ring}), 181);
  EXPECT_EQ(tokens_per_device(instance, {4, two_level}), 181);
  EXPECT_EQ(sequence_tokens(instance, {4, ring}), 8);
  // 7 in an all-gather of four devices, 9 of eight.
  EXPECT_EQ(tokens_per_device(instance, {4, all_gather}), 142);
  EXPECT_EQ(tokens_per_device(instance, {8, all_gather}), 111);
  EXPECT_EQ(longest_in_group(instance, {8, all_gather}), 888 - 9);
  // 100 logits at a time take 100 MiB, independent of the number of tokens: 900 / 4.
  instance.model.logits_chunk_tokens = 100;
  EXPECT_EQ(tokens_per_device(instance), 225);
  EXPECT_EQ(fixed_mib(instance), 200);
  EXPECT_EQ(sequence_tokens(instance, 1), 3);
}

TEST(Memory, ARuleOnTokensStandsBesideIt) {
  ScatterInstance instance = with_terms();
  instance.rules.max_tokens_per_rank = 150;
  const GroupRoom room = room_of_group(instance, 2);
  EXPECT_EQ(room.capacity, 400);
  EXPECT_EQ(room.sequence_tokens, 4);
  EXPECT_EQ(room.most_tokens, 300);
  EXPECT_EQ(room.longest, 300);
  instance.rules.packed = false;
  EXPECT_EQ(room_of_group(instance, 2).capacity, 300);
  EXPECT_EQ(room_of_group(instance, 2).sequence_tokens, 0);
}

TEST(Memory, ATableKeepsTheLimitsThatCanBind) {
  ScatterInstance instance = with_terms();
  instance.rules.max_tokens_per_rank = 150;
  // 75 sequences of 4 tokens would fill the rule and, counting for 8, exceed memory.
  instance.lengths = {100, 4};
  const GroupConfig both = ScatterTable(instance).configs()[1];
  EXPECT_EQ(both.capacity, 400);
  EXPECT_EQ(both.sequence_tokens, 4);
  EXPECT_EQ(both.most_tokens, 300);
  EXPECT_EQ(both.room(0, 0), 300);
  EXPECT_EQ(both.room(2 * 104, 2), 300 - 200);
  EXPECT_EQ(both.room(40 * 8, 40), 400 - 320 - 4);
  EXPECT_EQ(both.room_to_grow(250 + 4, 1), 50);
  // 25 of 12 tokens take 25 * 16 of the 400.
  instance.lengths = {100, 12};
  const GroupConfig rule = ScatterTable(instance).configs()[1];
  EXPECT_EQ(rule.capacity, 300);
  EXPECT_EQ(rule.sequence_tokens, 0);
  EXPECT_EQ(rule.most_tokens, kMaxExact);
  // With 400 tokens a device the rule never binds.
  instance.rules.max_tokens_per_rank = 400;
  const GroupConfig memory = ScatterTable(instance).configs()[1];
  EXPECT_EQ(memory.capacity, 400);
  EXPECT_EQ(memory.sequence_tokens, 4);
  EXPECT_EQ(memory.most_tokens, kMaxExact);
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
}  // namespace stowage::scatter_cost_model_test
