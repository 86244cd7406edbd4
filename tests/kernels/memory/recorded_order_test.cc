// The training step as an order instance, its document, and the way back.
#include "kernels/memory/recorded_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "instances/order/json/json.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"
#include "tests/kernels/recorded_steps.h"

namespace stowage::kernels::memory_recorded_order_test {
namespace {

using ::testing::HasSubstr;

std::string errors_of(const auto& result) {
  std::string text;
  if (result) return text;
  for (const InputError& error : result.errors()) {
    text += std::string(error.code) + ' ' + error.pointer + '\n';
  }
  return text;
}

TEST(RecordedOrder, GoesThroughItsDocumentAndBack) {
  for (const RecordedStep& step : recorded_steps()) {
    const Result<OrderInstance> made = record_order(step, 64);
    ASSERT_TRUE(made) << to_string(made.errors()[0]);
    SCOPED_TRACE(made->name);
    const Result<OrderInstance> again = read_order_instance(write_order_instance(*made));
    ASSERT_TRUE(again) << to_string(again.errors()[0]);
    EXPECT_EQ(*again, *made);
    EXPECT_TRUE(is_well_formed(*made));
    const Result<TrainingProgram> program = recorded_training(*again);
    ASSERT_TRUE(program) << to_string(program.errors()[0]);
    EXPECT_EQ(program->steps(), std::ssize(made->operators));
    OrderInstance plain = *made;
    plain.recorded_from.reset();
    EXPECT_EQ(instance_hash(plain), instance_hash(*made));
    EXPECT_EQ(errors_of(recorded_training(plain)), "E337 /recorded_from\n");
  }
}

// Three layers of 57 tokens; the work is counted by hand.
TEST(RecordedOrder, WithAShareOfItsPeakForwardOperatorsRunAgain) {
  const RecordedStep step = recorded_steps()[2];
  const Result<OrderInstance> made = record_order(step, 4, 0.75);
  ASSERT_TRUE(made);
  const Result<OrderInstance> plain = record_order(step, 4);
  ASSERT_TRUE(plain);
  EXPECT_EQ(made->objective, OrderObjective::time);
  const OrderTable table(*plain);
  EXPECT_EQ(*made->capacity, peak_of(table, table.program_order()) * 3 / 4);
  EXPECT_TRUE(recorded_training(*made));
  const auto named = [&](const std::string& id) {
    return *std::ranges::find(made->operators, id, &OrderOperator::id);
  };
  const double tokens = 57, hidden = 24, ffn = 50;
  const OrderOperator gate = named("0.gate");
  EXPECT_TRUE(gate.recompute);
  EXPECT_DOUBLE_EQ(gate.ms, 2 * tokens * hidden * ffn / kFlopPerMs +
                                4 * (tokens * hidden + hidden * ffn + tokens * ffn) / kBytesPerMs);
  const double channels = 4 * 6, pairs = 17.0 * 18 / 2 + 40.0 * 41 / 2;
  EXPECT_GT(named("2.attention").ms, 4 * channels * pairs / kFlopPerMs);
  EXPECT_GT(named("2.d_attention").ms - named("2.attention").ms, 6 * channels * pairs / kFlopPerMs);
  EXPECT_FALSE(named("1.rotate_query").recompute);
  EXPECT_FALSE(named("1.d_gate_input").recompute);
  EXPECT_FALSE(named("0.update.gate").recompute);
}

TEST(RecordedOrder, WhatIsNoStepIsRefused) {
  const auto refused = [](const RecordedStep& step, Bytes alignment = 64) {
    return errors_of(record_order(step, alignment));
  };
  EXPECT_EQ(refused({.block = {.heads = 4, .kv_heads = 3, .lengths = {5}}}), "E504 /kv_heads\n");
  EXPECT_EQ(refused({.block = {.lengths = {}}}), "E504 /lengths\n");
  EXPECT_EQ(refused({.block = {.lengths = {0, 0}}, .chunk_tokens = 4}), "E504 /lengths\n");
  EXPECT_EQ(refused({.block = {.lengths = {5}}}, 6), "E504 /alignment\n");
  EXPECT_EQ(refused({.block = {.lengths = {5}}, .chunk_tokens = -1}), "E504 /chunk_tokens\n");
  for (const double share : {-0.5, 1.01, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(errors_of(record_order({.block = {.lengths = {5}}}, 4, share)),
              "E504 /capacity_share\n");
  }
  EXPECT_EQ(refused({.block = {.lengths = {1001}}, .chunk_tokens = 1}), "E504 /chunk_tokens\n");
  EXPECT_EQ(refused({.block = {.layers = 1000, .lengths = {21}}, .chunk_tokens = 1}),
            "E504 /chunk_tokens\n");
  // Short sequences share a chunk.
  EXPECT_EQ(refused({.block = {.lengths = std::vector<Tokens>(2000, 1)}, .chunk_tokens = 1000}),
            "");
}

TEST(RecordedOrder, OperatorsOfAnotherStepAreRefused) {
  const Result<OrderInstance> made = record_order({.block = {.lengths = {9}}}, 4);
  ASSERT_TRUE(made);
  const auto refused = [](const OrderInstance& instance) {
    const Result<TrainingProgram> program = recorded_training(instance);
    return program ? "" : to_string(program.errors()[0]);
  };
  EXPECT_EQ(refused(*made), "");
  OrderInstance other = *made;
  other.recorded_from->block.lengths = {8};
  EXPECT_THAT(refused(other), HasSubstr("its tensor 9 is x of 2048 bytes, an input"));
  other = *made;
  other.recorded_from->block.layers = 2;
  EXPECT_THAT(refused(other), HasSubstr("operators"));
  other = *made;
  std::swap(other.operators[1], other.operators[2]);
  EXPECT_THAT(refused(other), HasSubstr("its operator 1 is 0.query"));
  other = *made;
  other.operators[3].workspace = 4;
  EXPECT_THAT(refused(other), HasSubstr("its operator 3 is 0.value"));
  other = *made;
  other.recorded_from->block.head_dim = 15;
  EXPECT_THAT(refused(other), HasSubstr("E337 /recorded_from/head_dim"));
}

TEST(RecordedOrder, TheReaderNamesWhatIsWrong) {
  const std::string text = write_order_instance(*record_order({.block = {.lengths = {9}}}, 4));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return errors_of(read_order_instance(changed));
  };
  EXPECT_EQ(with("\"kv_heads\": 2", "\"kv_heads\": 3"), "E337 /recorded_from/kv_heads\n");
  EXPECT_EQ(with("\"hidden\": 64", "\"hidden\": 0"), "E205 /recorded_from/hidden\n");
  EXPECT_EQ(with("\"layers\": 1", "\"chunk_tokens\": -1, \"layers\": 1"),
            "E205 /recorded_from/chunk_tokens\n");
  EXPECT_EQ(with("\"layers\": 1", "\"layers\": 1, \"chunks\": 1"), "E202 /recorded_from/chunks\n");
}

}  // namespace
}  // namespace stowage::kernels::memory_recorded_order_test
