#include "instances/scatter/presets.h"

#include <gtest/gtest.h>

#include "instances/model/transformer.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/json/json.h"

namespace stowage::scatter_presets_test {
namespace {

ScatterInstance preset(const ScatterPreset& options) {
  Result<ScatterInstance> made = scatter_preset(options);
  if (!made) {
    ADD_FAILURE() << to_string(made.errors()[0]);
    return {};
  }
  return *std::move(made);
}

TEST(Presets, TokensPerDeviceMatchThePublishedMemory) {
  struct Case {
    ScatterPreset preset;
    Tokens tokens;
  };
  const std::vector<Case> cases = {
      {{.model = "gpt-7b", .devices = 64, .limit_tokens = 192000}, 6449},
      {{.model = "gpt-7b", .devices = 64, .limit_tokens = 384000}, 6407},
      {{.model = "gpt-7b", .devices = 16, .limit_tokens = 192000}, 8780},
      {{.model = "gpt-13b", .devices = 64, .limit_tokens = 192000}, 6483},
      {{.model = "gpt-30b", .devices = 64, .limit_tokens = 384000}, 6538},
      {{.model = "gpt-30b", .devices = 16, .limit_tokens = 192000}, 0},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(tokens_per_device(preset(c.preset)), c.tokens)
        << c.preset.model << ' ' << c.preset.devices;
  }
}

TEST(Presets, TimesMatchThePublishedCoefficients) {
  const ScatterInstance gpt_7b = preset({});
  EXPECT_NEAR(sequence_ms(gpt_7b, 8192, 8), 252.6, 0.05);
  EXPECT_NEAR(sequence_ms(gpt_7b, 131072, 64), 2594, 0.5);
  EXPECT_EQ(gpt_7b.cost.fixed_ms, 629.3563);
}

TEST(Presets, With28GiBTheLongestSequenceDoesNotFit) {
  ScatterInstance gpt_7b = preset({.limit_tokens = 384000, .memory_mib = 28672});
  gpt_7b.lengths = {384000};
  EXPECT_EQ(unplaceable_sequences(gpt_7b).size(), 1U);
  gpt_7b.cluster.memory_mib = 30720;
  EXPECT_EQ(unplaceable_sequences(gpt_7b).size(), 0U);
}

TEST(Presets, EachIsAValidInstance) {
  for (const std::string_view model : scatter_preset_models()) {
    for (const int devices : {16, 32, 48, 64, 128, 1000, 1024}) {
      const ScatterInstance instance =
          preset({.model = std::string(model), .devices = devices, .limit_tokens = 384000});
      const Result<ScatterInstance> read = read_scatter_instance(write_scatter_instance(instance));
      ASSERT_TRUE(read) << to_string(read.errors()[0]);
      EXPECT_EQ(*read, instance);
      EXPECT_EQ(instance.pad_multiple, 2 * instance.cluster.degrees.back());
    }
  }
}

TEST(Presets, BandwidthsAreThePublishedOnesAndFallBeyondThem) {
  const std::map<int, double> expected = {{2, 119.54}, {4, 104.07}, {8, 96.5},   {16, 10.33},
                                          {32, 5.94},  {64, 4.87},  {128, 3.99}, {256, 3.27},
                                          {512, 2.68}, {1024, 2.2}};
  EXPECT_EQ(preset({.devices = 1024}).cost.all_to_all.mib_per_ms, expected);
}

TEST(Presets, DegreesFollowTheNamedSet) {
  const ScatterInstance ends =
      preset({.devices = 96, .degrees = DegreeSet::local_or_sharded, .largest_degree = 48});
  EXPECT_EQ(ends.cluster.degrees, (std::vector<int>{1, 48}));
  EXPECT_EQ(ends.pad_multiple, 96);
  const ScatterInstance any = preset({.devices = 32, .degrees = DegreeSet::any});
  EXPECT_EQ(any.cluster.degrees.size(), 32U);
  EXPECT_FALSE(any.cluster.aligned);
  EXPECT_EQ(any.cost.all_to_all.mib_per_ms.at(3), 104.07);
  EXPECT_EQ(any.cost.all_to_all.mib_per_ms.at(9), 10.33);
  // The cap on the degrees need not be one: slices of rows padded for it would differ.
  EXPECT_EQ(preset({.devices = 64}).pad_multiple, 128);
  EXPECT_EQ(preset({.devices = 48}).pad_multiple, 64);
  EXPECT_EQ(preset({.devices = 64, .largest_degree = 5}).pad_multiple, 8);
  const ScatterInstance large = preset({.devices = 12288, .largest_degree = 64});
  EXPECT_EQ(large.cluster.degrees.back(), 64);
  for (const ScatterInstance& instance : {ends, any, large}) {
    const Result<ScatterInstance> read = read_scatter_instance(write_scatter_instance(instance));
    ASSERT_TRUE(read) << to_string(read.errors()[0]);
    EXPECT_EQ(*read, instance);
  }
  EXPECT_FALSE(scatter_preset({.devices = 64, .largest_degree = 65}));
}

// Published independently of the shape: a token exchanges four all-to-alls of its activations in
// every layer, forward and backward, with 16 bits per number.
TEST(Presets, AllToAllBytesAreThoseOfTheShape) {
  for (const std::string_view model : scatter_preset_models()) {
    const TransformerShape* const shape = transformer_shape(model);
    ASSERT_NE(shape, nullptr) << model;
    const double bytes = 4.0 * 2 * 2 * shape->hidden * shape->layers;
    const ScatterInstance instance = preset({.model = std::string(model)});
    EXPECT_NEAR(instance.cost.all_to_all.mib_per_token, bytes / (1 << 20), 0.0005) << model;
  }
}

}  // namespace
}  // namespace stowage::scatter_presets_test
