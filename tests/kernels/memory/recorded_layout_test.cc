#include "kernels/memory/recorded_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "instances/layout/json/json.h"
#include "instances/layout/load.h"
#include "tests/kernels/recorded_blocks.h"

namespace stowage::kernels::memory_recorded_layout_test {
namespace {

using ::testing::HasSubstr;

LayoutInstance recorded(const RecordedBlock& block, Bytes alignment = 64) {
  const Result<LayoutInstance> made = record_layout(block, alignment);
  EXPECT_TRUE(made) << to_string(made.errors()[0]);
  return *made;
}

const Buffer& buffer(const LayoutInstance& instance, const std::string& id) {
  return *std::find_if(instance.buffers.begin(), instance.buffers.end(),
                       [&](const Buffer& b) { return b.id == id; });
}

// By hand: hidden 8, two query heads and one kv head of 4, ffn 6, five tokens. Steps: 0 input,
// 1 norm, 2-4 q, k, v, 5 rotate, 6 attention, 7 its output, 8 norm, 9 gate, 10 up, 11 swiglu,
// 12 down, 13 output; 14 upstream, 15 d_down, 16 d_swiglu, 17 d_gate, 18 d_up, 19 norm, 20 output
// of attention, 21 attention, 22 rotate, 23-25 q, k, v, 26 norm, 27 input gradient.
TEST(RecordedLayout, IsWhatTheKernelsDo) {
  const LayoutInstance trace = recorded(
      {.hidden = 8, .heads = 2, .kv_heads = 1, .head_dim = 4, .ffn = 6, .lengths = {2, 3}});
  EXPECT_EQ(trace.name, "block-5tok-8x2heads-1layers");
  EXPECT_EQ(trace.buffers.size(), 29U);
  const auto expect = [&](const char* id, std::int64_t lower, std::int64_t upper, Bytes size) {
    const Buffer& b = buffer(trace, id);
    EXPECT_EQ(b.lower, lower) << id;
    EXPECT_EQ(b.upper, upper) << id;
    EXPECT_EQ(b.size, size) << id;
  };
  expect("x", 0, 27, 5 * 8 * 4);
  expect("0.x_norm", 1, 26, 5 * 8 * 4);
  expect("0.x_inverse_rms", 1, 27, 5 * 4);
  expect("0.q", 2, 22, 5 * 8 * 4);
  expect("0.k", 3, 22, 5 * 4 * 4);
  expect("0.lse", 6, 22, 2 * 5 * 2 * 4);  // a maximum and the logarithm of a sum
  // Copies of five keys and values; logits of 64 queries by 128 keys; 64 queries and outputs, their
  // maxima and sums; alignment.
  expect("0.attention_scratch", 6, 7, ((2 * 5 + 16) * 4 + 64 * 128 + (2 * 4 + 2) * 64 + 64) * 4);
  expect("0.a", 7, 20, 5 * 8 * 4);
  expect("0.gate", 9, 17, 5 * 6 * 4);
  expect("0.product", 11, 16, 5 * 6 * 4);
  expect("0.y", 12, 14, 5 * 8 * 4);
  expect("d_y", 14, 20, 5 * 8 * 4);
  expect("0.d_product", 15, 17, 5 * 6 * 4);
  expect("0.d_a", 19, 27, 5 * 8 * 4);
  expect("0.d_x", 26, 28, 5 * 8 * 4);
}

TEST(RecordedLayout, IsAValidInstanceThatSurvivesItsFile) {
  for (const RecordedBlock& block : recorded_blocks()) {
    const LayoutInstance trace = recorded(block);
    const Result<LayoutInstance> read = read_layout_instance(write_layout_instance(trace));
    ASSERT_TRUE(read) << to_string(read.errors()[0]);
    EXPECT_EQ(*read, trace);
    EXPECT_FALSE(layout_infeasibility(trace));
    const Result<BlockProgram> program = recorded_program(*read);
    ASSERT_TRUE(program) << to_string(program.errors()[0]);
    EXPECT_EQ(program->tensors().size(), trace.buffers.size());
  }
}

TEST(RecordedLayout, LayersRepeat) {
  const LayoutInstance trace = recorded({.layers = 4, .lengths = {70}});
  ASSERT_EQ(trace.layers.size(), 2U);
  for (const stowage::RepeatedBlock& block : trace.layers) {
    ASSERT_EQ(block.occurrences.size(), 4U);
    EXPECT_FALSE(block.occurrences[0].empty());
  }
  // The reader has checked that they repeat.
  EXPECT_TRUE(read_layout_instance(write_layout_instance(trace)));
}

std::string errors_of(const RecordedBlock& block, Bytes alignment = 4) {
  const Result<LayoutInstance> made = record_layout(block, alignment);
  if (made) return "";
  std::string text;
  for (const InputError& error : made.errors()) text += to_string(error) + '\n';
  return text;
}

TEST(RecordedLayout, OptionsOutOfRangeAreNamed) {
  EXPECT_EQ(errors_of({.heads = 8, .kv_heads = 3, .lengths = {4}}),
            "E504 /kv_heads: must divide the heads, 8, is 3\n");
  EXPECT_EQ(errors_of({.head_dim = 5, .lengths = {4}}),
            "E504 /head_dim: must be even for rotary embedding, is 5\n");
  EXPECT_THAT(errors_of({.hidden = 0, .ffn = 1 << 17, .lengths = {4}}),
              testing::AllOf(HasSubstr("E504 /hidden: "), HasSubstr("E504 /ffn: ")));
  EXPECT_THAT(errors_of({.lengths = {}}), HasSubstr("E504 /lengths: must sum to 1 to"));
  EXPECT_THAT(errors_of({.lengths = {-1}}), HasSubstr("E504 /lengths: "));
  EXPECT_THAT(errors_of({.lengths = {kMaxRecordedTokens, 1}}), HasSubstr("E504 /lengths: "));
  EXPECT_THAT(errors_of({.lengths = {4}}, 6), HasSubstr("E504 /alignment: "));
}

TEST(RecordedLayout, ABlockThatDoesNotFitItsBuffersIsRefused) {
  const LayoutInstance trace = recorded({.lengths = {4}});
  const auto refused = [&](auto change) -> std::string {
    LayoutInstance changed = trace;
    change(changed);
    const Result<BlockProgram> program = recorded_program(changed);
    return program ? "" : to_string(program.errors()[0]);
  };
  EXPECT_EQ(refused([](LayoutInstance&) {}), "");
  EXPECT_EQ(refused([](LayoutInstance& i) { i.alignment = 256; }), "");
  EXPECT_THAT(refused([](LayoutInstance& i) { i.recorded_from.reset(); }), HasSubstr("E337"));
  EXPECT_THAT(refused([](LayoutInstance& i) { i.recorded_from->heads = 3; }),
              HasSubstr("E337 /recorded_from/kv_heads: must divide"));
  EXPECT_THAT(refused([](LayoutInstance& i) { i.recorded_from->lengths = {5}; }),
              HasSubstr("E337 /recorded_from: must describe the block of these buffers, but its "
                        "buffer 0 is x of 1280 bytes from step 0 to 27, here it has 1024 bytes"));
  EXPECT_THAT(refused([](LayoutInstance& i) { i.buffers.pop_back(); }),
              HasSubstr("its kernels issue 29 buffers, here are 28"));
  EXPECT_THAT(refused([](LayoutInstance& i) { ++i.buffers[7].upper; }), HasSubstr("buffer 7"));
}

}  // namespace
}  // namespace stowage::kernels::memory_recorded_layout_test
