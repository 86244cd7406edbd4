#include <gtest/gtest.h>

#include <limits>

#include "formulations/layout/swap.h"

namespace stowage {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// MEMO's example: 7B, a million tokens on the eight devices of one host with 2 TiB. A layer keeps
// 16 tensors of b s h numbers of 16 bits: its input, attention's output, and 14 others.
SwapProblem memo_7b() {
  const Bytes b_s_h = 2 * (Bytes{1} << 20) * 4096;
  return {.input_bytes = b_s_h,
          .attention_bytes = b_s_h,
          .tensors = {{"others", 14 * b_s_h, 1}},
          .bytes_per_ms = kInfinity,
          .layer_ms = 1,
          .layers = 32,
          .host_bytes = Bytes{1} << 41};
}

TEST(LayoutSwap, TheHostBoundsMemosExample) {
  const auto alpha = swap_fraction(memo_7b());
  ASSERT_TRUE(alpha);
  EXPECT_NEAR(*alpha, 0.467, 0.0005);
  EXPECT_DOUBLE_EQ(*alpha, (2048.0 / 30 - 16) / 112);
}

TEST(LayoutSwap, TheLinkMayBoundIt) {
  SwapProblem swap = memo_7b();
  // 30 GiB pass the link while a layer computes, of which 16 are taken.
  swap.bytes_per_ms = static_cast<double>(Bytes{30} << 30);
  EXPECT_DOUBLE_EQ(*swap_fraction(swap), 14.0 / 112);
  swap.layer_ms = 0.5;
  EXPECT_FALSE(swap_fraction(swap));  // not even the input and the attention
}

TEST(LayoutSwap, NoMoreThanEverything) {
  SwapProblem swap = memo_7b();
  swap.host_bytes = Bytes{1} << 50;
  EXPECT_EQ(*swap_fraction(swap), 1);
  swap.tensors.clear();
  EXPECT_EQ(*swap_fraction(swap), 1);
}

TEST(LayoutSwap, TwoLayersLeaveTheHostAlone) {
  SwapProblem swap = memo_7b();
  swap.layers = 2;
  swap.host_bytes = 0;
  EXPECT_EQ(*swap_fraction(swap), 1);
}

TEST(LayoutSwap, TheLpHasAFractionPerTensorAndTheTwoRows) {
  SwapProblem swap = memo_7b();
  swap.tensors = {{"q", 100, 3}, {"gate", 400, 5}};
  swap.bytes_per_ms = static_cast<double>(Bytes{30} << 30);
  const SwapLp lp = build_swap_lp(swap);
  ASSERT_EQ(lp.fraction.size(), 2U);
  ASSERT_EQ(lp.model.rows().size(), 2U);
  EXPECT_EQ(lp.model.rows()[0].name, "M1");
  EXPECT_EQ(lp.model.rows()[1].name, "M2");
  EXPECT_DOUBLE_EQ(lp.model.objective({0, 0}), 8);
  EXPECT_DOUBLE_EQ(lp.model.objective({1, 1}), 0);
  EXPECT_DOUBLE_EQ(lp.model.objective({0.5, 0}), 6.5);
  // No limit of the link, no row.
  swap.bytes_per_ms = kInfinity;
  EXPECT_EQ(build_swap_lp(swap).model.rows().size(), 1U);
}

}  // namespace
}  // namespace stowage
