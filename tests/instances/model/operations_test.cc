// Operations and tensors of layers with experts, by hand.
#include "instances/model/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "instances/layout/generate/transformer_trace.h"

namespace stowage::model_operations_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// h is 8 with 2 heads; there are 16 experts of width 6, and each token uses 3 of them.
const TransformerShape kShape{.name = "", .hidden = 8, .heads = 2};
const FeedForward kExperts{.experts = 16, .top_k = 3, .expert_width = 6};

TransformerStep one_layer(int ranks) {
  return {.model = "experts", .tokens = 10, .ranks = ranks, .layers = 1, .whole_step = false};
}

std::map<std::string, Bytes> sizes_of(const TransformerOperations& step) {
  std::map<std::string, Bytes> sizes;
  for (const Tensor& tensor : step.tensors) sizes[tensor.id] = tensor.size;
  return sizes;
}

// Ten tokens on two ranks: a shard has 2 10 8 / 2 = 80 bytes, so that three copies of each token
// have 240, and 480 gathered; routes 4 10 16 / 2 = 320; inside the experts 2 10 6 3 / 2 = 180.
TEST(TransformerOperations, ExpertsHoldCopiesOfTokensByHand) {
  TransformerStep step = one_layer(2);
  step.shared_experts = true;
  const auto traced = trace_operations(step, kShape, {kExperts});
  ASSERT_TRUE(traced);
  EXPECT_TRUE(traced->alike);
  const std::map<std::string, Bytes> sizes = sizes_of(*traced);
  const std::map<std::string, Bytes> expected = {
      {"0.routes", 320},           {"0.sent", 240},
      {"0.received", 240},         {"0.tokens_full", 480},
      {"0.expert_gate", 180},      {"0.expert_up", 180},
      {"0.expert_act", 180},       {"0.expert_down_partial", 480},
      {"0.expert_down", 240},      {"0.returned", 240},
      {"0.d_returned", 240},       {"0.d_received", 240},
      {"0.d_copies_full", 480},    {"0.d_expert_act", 180},
      {"0.d_routes", 320},         {"0.d_expert_up", 180},
      {"0.d_expert_gate", 180},    {"0.tokens_full_back", 480},
      {"0.d_tokens_partial", 480}, {"0.d_tokens", 240},
      {"0.d_sent", 240},           {"0.d_norm2_routed", 80}};
  for (const auto& [id, size] : expected) {
    ASSERT_TRUE(sizes.contains(id)) << id;
    EXPECT_EQ(sizes.at(id), size) << id;
  }
  EXPECT_FALSE(sizes.contains("0.gate"));
  // Every tensor is written once, before it is read.
  std::vector<char> written(traced->tensors.size(), 0);
  for (const Operation& operation : traced->operations) {
    for (const int tensor : operation.reads)
      EXPECT_EQ(written[static_cast<std::size_t>(tensor)], 1);
    for (const int tensor : operation.writes) {
      EXPECT_EQ(written[static_cast<std::size_t>(tensor)], 0);
      written[static_cast<std::size_t>(tensor)] = 1;
    }
  }
}

// A single rank sends and gathers nothing. A part for every token is computed in addition to the
// experts.
TEST(TransformerOperations, ExpertsOfOneRankAreNotSent) {
  FeedForward both = kExperts;
  both.width = 4;
  both.gated = false;
  TransformerStep step = one_layer(1);
  step.split = SequenceSplit::ulysses;
  const auto traced = trace_operations(step, kShape, {both});
  ASSERT_TRUE(traced);
  const std::map<std::string, Bytes> sizes = sizes_of(*traced);
  for (const char* id : {"0.received", "0.returned", "0.tokens_full", "0.expert_gate", "0.gate"}) {
    EXPECT_FALSE(sizes.contains(id)) << id;
  }
  EXPECT_EQ(sizes.at("0.sent"), 480);
  EXPECT_EQ(sizes.at("0.up"), 80);
  EXPECT_EQ(sizes.at("0.expert_up"), 360);
  EXPECT_TRUE(sizes.contains("0.d_norm2"));
  EXPECT_TRUE(sizes.contains("0.d_norm2_routed"));
}

// With selective recomputation the inputs and outputs of the experts' products are kept, with full
// recomputation only x.
TEST(TransformerOperations, ExpertsAreComputedAgain) {
  for (const Recompute recompute : {Recompute::selective, Recompute::full}) {
    TransformerStep step = one_layer(2);
    step.recompute = recompute;
    const auto traced = trace_operations(step, kShape, {kExperts});
    ASSERT_TRUE(traced);
    const std::map<std::string, Bytes> sizes = sizes_of(*traced);
    EXPECT_TRUE(sizes.contains("0.expert_act_again"));
    EXPECT_EQ(sizes.contains("0.sent_again"), recompute == Recompute::full);
  }
}

// The steps of layers without experts equal those of a model without experts. Layers that differ
// have no repeated blocks.
TEST(TransformerOperations, LayersMayDiffer) {
  const TransformerShape shape{
      .name = "", .layers = 2, .hidden = 8, .heads = 2, .feed_forward = 12};
  const TransformerStep step{.model = "alike", .tokens = 8, .ranks = 2, .whole_step = false};
  const auto by_shape = trace_operations(step, shape);
  const auto by_layers = trace_operations(step, shape, {{.width = 12}, {.width = 12}});
  ASSERT_TRUE(by_shape && by_layers);
  EXPECT_EQ(sizes_of(*by_shape), sizes_of(*by_layers));
  EXPECT_EQ(by_shape->name, by_layers->name);
  EXPECT_THAT(trace_layout(by_layers, 1)->layers, SizeIs(2));
  const auto mixed = trace_operations(step, shape, {{.width = 12}, kExperts});
  ASSERT_TRUE(mixed);
  EXPECT_FALSE(mixed->alike);
  EXPECT_TRUE(sizes_of(*mixed).contains("0.gate"));
  EXPECT_TRUE(sizes_of(*mixed).contains("1.expert_gate"));
  EXPECT_THAT(trace_layout(mixed, 1)->layers, IsEmpty());
  const auto odd = trace_operations(step, shape, {{.width = 12}, {.width = 5}});
  ASSERT_FALSE(odd);
  EXPECT_THAT(to_string(odd.errors().front()), HasSubstr("must divide the feed-forward width, 5"));
}

}  // namespace
}  // namespace stowage::model_operations_test
