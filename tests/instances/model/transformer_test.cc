// The table of shapes gives the published numbers of parameters.
#include "instances/model/transformer.h"

#include <gtest/gtest.h>

#include <set>

#include "instances/model/operations.h"

namespace stowage::model_transformer_test {
namespace {

// Published parameters in 1e9. For qwen3-1.7b, whose name has two digits only, they exclude the
// embedding: 1.4. For gpt they are those of FlexSP (arXiv 2412.01523) without the position
// embeddings.
struct Published {
  std::string_view model;
  double billions;
};
constexpr std::array<Published, 23> kPublished = {
    {{"llama-7b", 6.7},       {"llama-13b", 13.0},         {"llama-30b", 32.5},
     {"llama-65b", 65.2},     {"gpt-7b", 6.857},           {"gpt-13b", 13.100},
     {"gpt-30b", 32.572},     {"llama3-8b", 8.03},         {"llama3-70b", 70.6},
     {"llama3-405b", 405},    {"llama3.2-1b", 1.23},       {"llama3.2-3b", 3.21},
     {"qwen3-0.6b", 0.6},     {"qwen3-1.7b", 1.4 + 0.311}, {"qwen3-4b", 4.0},
     {"qwen3-8b", 8.2},       {"qwen3-14b", 14.8},         {"qwen3-32b", 32.8},
     {"qwen3-30b-a3b", 30.5}, {"qwen3-235b-a22b", 235},    {"mistral-7b", 7.24},
     {"mixtral-8x7b", 46.7},  {"olmoe-1b-7b", 6.9}}};

TEST(TransformerShapes, ParametersAreThePublishedOnes) {
  std::set<std::string_view> named;
  for (const Published& published : kPublished) {
    const TransformerShape* shape = transformer_shape(published.model);
    ASSERT_NE(shape, nullptr) << published.model;
    named.insert(published.model);
    EXPECT_NEAR(static_cast<double>(parameters(*shape)) / 1e9, published.billions,
                0.01 * published.billions)
        << published.model;
  }
  EXPECT_EQ(named.size(), kTransformerShapes.size());
}

TEST(TransformerShapes, ActiveParametersAreThePublishedOnes) {
  // Published as 3.3, 22, 12.9 and 1.3: the first and the last are rounded by more than 1 %.
  const auto billions = [](std::string_view model) {
    return static_cast<double>(active_parameters(*transformer_shape(model))) / 1e9;
  };
  EXPECT_NEAR(billions("qwen3-30b-a3b"), 3.3, 0.06);
  EXPECT_NEAR(billions("qwen3-235b-a22b"), 22, 0.22);
  EXPECT_NEAR(billions("mixtral-8x7b"), 12.9, 0.129);
  EXPECT_NEAR(billions("olmoe-1b-7b"), 1.3, 0.03);
  for (const TransformerShape& shape : kTransformerShapes) {
    if (shape.experts == 0) {
      EXPECT_EQ(active_parameters(shape), parameters(shape)) << shape.name;
    }
  }
}

TEST(TransformerShapes, HeadsNeedNotFillTheModel) {
  const TransformerShape& wide = *transformer_shape("qwen3-4b");
  EXPECT_EQ(wide.query_width(), 4096);
  EXPECT_EQ(wide.key_value_width(), 1024);
  EXPECT_EQ(wide.hidden, 2560);
  // The buffers of a step are those of the heads.
  const auto step = trace_operations({.model = "qwen3-4b", .tokens = 1024, .ranks = 8});
  ASSERT_TRUE(step);
  const auto size_of = [&](std::string_view id) {
    for (const Tensor& tensor : step->tensors) {
      if (tensor.id == id) return tensor.size;
    }
    return Bytes{-1};
  };
  EXPECT_EQ(size_of("0.q"), 2 * 1024 * 4096 / 8);
  EXPECT_EQ(size_of("0.k"), 2 * 1024 * 1024 / 8);
  EXPECT_EQ(size_of("0.d_attention"), 2 * 1024 * 4096 / 8);
  EXPECT_EQ(size_of("0.r"), 2 * 1024 * 2560 / 8);
}

TEST(TransformerShapes, BuffersOfExpertsAreRefusedWithTheReason) {
  const auto step = trace_operations({.model = "mixtral-8x7b"});
  ASSERT_FALSE(step);
  EXPECT_EQ(step.errors()[0].code, "E501");
  EXPECT_NE(step.errors()[0].message.find("routing"), std::string::npos);
}

}  // namespace
}  // namespace stowage::model_transformer_test
