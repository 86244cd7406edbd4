#include "instances/layout/generate/transformer_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "instances/layout/json/json.h"
#include "instances/layout/load.h"

namespace stowage::layout_trace_test {
namespace {

LayoutInstance traced(const TransformerStep& trace) {
  Result<LayoutInstance> made = trace_layout(trace);
  if (!made) {
    ADD_FAILURE() << to_string(made.errors()[0]);
    return {};
  }
  return *std::move(made);
}

const Buffer& called(const LayoutInstance& instance, const std::string& id) {
  const auto found = std::find_if(instance.buffers.begin(), instance.buffers.end(),
                                  [&](const Buffer& b) { return b.id == id; });
  if (found == instance.buffers.end()) {
    ADD_FAILURE() << "no buffer " << id;
    return instance.buffers.front();
  }
  return *found;
}

std::vector<TransformerStep> variants() {
  std::vector<TransformerStep> all;
  for (const char* model : {"llama-7b", "llama-65b", "gpt-7b"}) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      for (const SequenceSplit split : {SequenceSplit::megatron, SequenceSplit::ulysses}) {
        for (const bool whole_step : {false, true}) {
          all.push_back({.model = model,
                         .tokens = 16384,
                         .kv_heads = 8,
                         .layers = 3,
                         .whole_step = whole_step,
                         .recompute = recompute,
                         .split = split,
                         .logit_chunks = 4});
          if (recompute != Recompute::full) continue;
          all.push_back(all.back());
          all.back().stream_chunks = 4;
        }
      }
    }
  }
  return all;
}

TEST(LayoutTrace, OneLayerHas41Buffers) {
  const LayoutInstance layer = traced({.layers = 1, .whole_step = false});
  EXPECT_EQ(layer.buffers.size(), 41U);
  EXPECT_EQ(layer.name, "llama-7b-8192tok-8ranks-1layers-inner");
}

TEST(LayoutTrace, SizesFollowTheShape) {
  const Bytes b_s = 8192;
  const LayoutInstance step =
      traced({.model = "llama-13b", .tokens = b_s, .kv_heads = 8, .layers = 2, .logit_chunks = 2});
  const Bytes u = 2 * b_s * 5120 / 8;
  EXPECT_EQ(called(step, "x").size, u);
  EXPECT_EQ(called(step, "0.norm1_full").size, 8 * u);
  EXPECT_EQ(called(step, "0.qkv").size, u + 2 * (u / 5));
  EXPECT_EQ(called(step, "1.k").size, u / 5);
  EXPECT_EQ(called(step, "1.lse").size, 4 * b_s * 40 / 8);
  EXPECT_EQ(called(step, "1.gate").size, 2 * b_s * 13824 / 8);
  EXPECT_EQ(called(step, "1.d_qkv").size, u + 2 * (u / 5));
  EXPECT_EQ(called(step, "head.logits1").size, 4 * (b_s / 2) * (32000 / 8));
}

TEST(LayoutTrace, LifetimesAreThoseOfTheReads) {
  const LayoutInstance step = traced({.layers = 2});
  // Dies after the product that makes qkv.
  EXPECT_EQ(called(step, "0.norm1_full").upper, called(step, "0.qkv").lower + 1);
  EXPECT_EQ(called(step, "0.qkv").upper, called(step, "0.q").lower + 1);
  // These tensors live until the backward pass of their layer.
  EXPECT_EQ(called(step, "0.act").upper, called(step, "0.d_act").lower + 1);
  EXPECT_EQ(called(step, "1.q").upper, called(step, "1.d_q").lower + 1);
  EXPECT_EQ(called(step, "0.y").upper, called(step, "1.d_x_inner").lower + 1);
  EXPECT_EQ(called(step, "1.d_x").upper, called(step, "0.d_r").lower + 1);
}

TEST(LayoutTrace, RecomputingKeepsLess) {
  const auto load = [](Recompute recompute) {
    return peak_load(traced({.tokens = 65536, .recompute = recompute, .logit_chunks = 8})).load;
  };
  EXPECT_LT(load(Recompute::selective), load(Recompute::none));
  EXPECT_LT(load(Recompute::full), load(Recompute::selective) / 2);
  // Only x of a layer lives until the backward pass.
  const LayoutInstance full = traced({.layers = 2, .recompute = Recompute::full});
  EXPECT_EQ(called(full, "0.q").upper, called(full, "0.attention").lower + 1);
  EXPECT_EQ(called(full, "0.q_again").upper, called(full, "0.d_q").lower + 1);
}

// A part's tensors have the part's share of the size, except keys, values, x and their gradients.
TEST(LayoutTrace, LayersGoBackwardInParts) {
  TransformerStep step{.tokens = 65536, .layers = 2, .whole_step = false};
  step.recompute = Recompute::full;
  const LayoutInstance whole = traced(step);
  step.stream_chunks = 8;
  const LayoutInstance parts = traced(step);
  EXPECT_EQ(parts.name, "llama-7b-65536tok-8ranks-2layers-full-s8-inner");
  EXPECT_LT(peak_load(parts).load, peak_load(whole).load * 2 / 5);
  for (const char* id : {"1.act_again", "1.q_again", "1.lse_again"}) {
    EXPECT_EQ(called(parts, std::string(id) + "_5").size, called(whole, id).size / 8) << id;
  }
  EXPECT_EQ(called(parts, "1.k_again_0").size, called(whole, "1.k_again").size);
  EXPECT_EQ(called(parts, "1.d_v_7").size, called(whole, "1.d_v").size);
  EXPECT_EQ(called(parts, "1.d_x_7").size, called(whole, "1.d_x").size);
  EXPECT_EQ(called(parts, "0.y_0").size, called(whole, "0.y").size);
  // Keys are computed before the last part, which goes first, and read until the first part is
  // done.
  EXPECT_LT(called(parts, "1.k_again_0").lower, called(parts, "1.q_again_7").lower);
  EXPECT_EQ(called(parts, "1.k_again_0").upper, called(parts, "1.d_q_0").lower + 1);
  EXPECT_LT(called(parts, "1.q_again_7").upper, called(parts, "1.q_again_6").lower + 1);
  step.recompute = Recompute::none;
  step.stream_chunks = 1;
  const LayoutInstance kept = traced(step);
  step.stream_chunks = 8;  // nothing is computed again
  EXPECT_EQ(traced(step), kept);
}

TEST(LayoutTrace, UlyssesGathersNothing) {
  const LayoutInstance step = traced({.layers = 1, .split = SequenceSplit::ulysses});
  for (const Buffer& buffer : step.buffers) {
    EXPECT_EQ(buffer.id.find("full"), std::string::npos) << buffer.id;
    EXPECT_EQ(buffer.id.find("o_partial"), std::string::npos) << buffer.id;
  }
}

// The reader checks ids, sums, and that every occurrence repeats the first one.
TEST(LayoutTrace, EveryVariantIsAValidInstance) {
  for (const TransformerStep& trace : variants()) {
    const LayoutInstance instance = traced(trace);
    const auto read = read_layout_instance(write_layout_instance(instance));
    ASSERT_TRUE(read) << instance.name << ": " << to_string(read.errors()[0]);
    EXPECT_EQ(*read, instance);
    ASSERT_EQ(instance.layers.size(), 2U);
    for (const RepeatedBlock& block : instance.layers) {
      ASSERT_EQ(block.occurrences.size(), 3U);
      EXPECT_FALSE(block.occurrences[0].empty());
    }
  }
}

// A block contains exactly the buffers that begin and end between its first allocation and its last
// release.
TEST(LayoutTrace, BlocksHoldExactlyTheTransients) {
  for (const TransformerStep& trace : variants()) {
    const LayoutInstance instance = traced(trace);
    for (const RepeatedBlock& block : instance.layers) {
      for (const auto& occurrence : block.occurrences) {
        const std::set<std::int64_t> inside(occurrence.begin(), occurrence.end());
        std::int64_t lower = kMaxExact;
        std::int64_t upper = 0;
        for (const std::int64_t i : occurrence) {
          lower = std::min(lower, instance.buffers[static_cast<std::size_t>(i)].lower);
          upper = std::max(upper, instance.buffers[static_cast<std::size_t>(i)].upper);
        }
        for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
          const Buffer& buffer = instance.buffers[i];
          const bool within = buffer.lower >= lower && buffer.upper <= upper;
          EXPECT_EQ(within, inside.contains(static_cast<std::int64_t>(i)))
              << instance.name << ' ' << block.name << ' ' << buffer.id;
        }
      }
    }
  }
}

TEST(LayoutTrace, GrowsToTwentyThousandBuffers) {
  const LayoutInstance step = traced({.model = "llama-65b", .layers = 520});
  EXPECT_GT(step.buffers.size(), 20'000U);
  EXPECT_LT(step.buffers.size(), 21'000U);
}

TEST(LayoutTrace, SaysWhatItCannotTrace) {
  const auto errors_of = [](const TransformerStep& trace) {
    std::string all;
    const Result<LayoutInstance> made = trace_layout(trace);
    if (made) return all;
    for (const InputError& error : made.errors()) all += to_string(error) + '\n';
    return all;
  };
  EXPECT_EQ(errors_of({}), "");
  EXPECT_EQ(errors_of({.model = "lama-7b"}),
            "E501 /model: must be one of llama-7b, llama-13b, llama-30b, llama-65b, gpt-7b, "
            "gpt-13b, gpt-30b, llama3-8b, llama3-70b, llama3-405b, llama3.2-1b, llama3.2-3b, "
            "qwen3-0.6b, qwen3-1.7b, qwen3-4b, qwen3-8b, qwen3-14b, qwen3-32b, qwen3-30b-a3b, "
            "qwen3-235b-a22b, mistral-7b, mixtral-8x7b, olmoe-1b-7b, is \"lama-7b\", did you mean "
            "\"llama-7b\"?\n");
  EXPECT_EQ(errors_of({.model = "llama-30b"}), "E504 /ranks: must divide the heads, 52, is 8\n");
  EXPECT_EQ(errors_of({.tokens = 8191}), "E504 /ranks: must divide the tokens, 8191, is 8\n");
  EXPECT_EQ(errors_of({.model = "llama3-8b", .ranks = 16}),
            "E504 /ranks: must divide the key heads, 8, is 16\n");
  EXPECT_EQ(errors_of({.kv_heads = 4}), "E504 /ranks: must divide the key heads, 4, is 8\n");
  EXPECT_EQ(errors_of({.logit_chunks = 3}),
            "E504 /logit_chunks: must divide the tokens of a rank, 1024, is 3\n");
  EXPECT_EQ(errors_of({.stream_chunks = 3}),
            "E504 /stream_chunks: must divide the tokens of a rank, 1024, is 3\n");
  EXPECT_EQ(errors_of({.tokens = 0, .ranks = 0, .layers = -1}),
            "E504 /tokens: must be an integer from 1 to 2147483648, is 0\n"
            "E504 /ranks: must be an integer from 1 to 32, is 0\n"
            "E504 /layers: must be an integer from 0 to 1000, is -1\n");
  EXPECT_THAT(
      errors_of({.model = "llama-65b", .tokens = Tokens{1} << 31, .ranks = 1, .layers = 1000}),
      testing::StartsWith("E335 /tokens"));
}

}  // namespace
}  // namespace stowage::layout_trace_test
