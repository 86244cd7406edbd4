#include "instances/assign/presets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "instances/assign/json/json.h"

namespace stowage::assign_presets_test {
namespace {

AssignInstance preset(std::string_view model) {
  Result<AssignInstance> made = assign_preset(model);
  if (!made) {
    ADD_FAILURE() << to_string(made.errors()[0]);
    return {};
  }
  return *std::move(made);
}

// The published caps; the presets compute theirs.
const std::map<std::string, std::map<std::string, Tokens>> kPublishedCaps = {{"llama-32b",
                                                                              {{"2x2", 3968},
                                                                               {"4x1", 7808},
                                                                               {"4x2", 12416},
                                                                               {"8x1", 21888},
                                                                               {"8x2", 25856},
                                                                               {"8x3", 27264},
                                                                               {"16x1", 43520}}},
                                                                             {"llama-13b",
                                                                              {{"4x1", 25984},
                                                                               {"4x2", 29568},
                                                                               {"2x2", 12928},
                                                                               {"2x4", 14720},
                                                                               {"8x1", 48000},
                                                                               {"1x4", 6528}}},
                                                                             {"llama-7b",
                                                                              {{"4x1", 44032},
                                                                               {"4x2", 46720},
                                                                               {"4x4", 48000},
                                                                               {"2x1", 20864},
                                                                               {"2x2", 23680},
                                                                               {"2x4", 25088},
                                                                               {"8x1", 81792},
                                                                               {"8x2", 84096},
                                                                               {"16x1", 132480},
                                                                               {"1x4", 12032}}}};

TEST(AssignPresets, TheCapsFollowFromTheMemoryModel) {
  ASSERT_EQ(assign_preset_models().size(), kPublishedCaps.size());
  for (const auto& [model, caps] : kPublishedCaps) {
    const AssignInstance instance = preset(model);
    EXPECT_EQ(instance.schemes.size(), caps.size());
    for (const Scheme& scheme : instance.schemes) {
      ASSERT_TRUE(caps.contains(scheme.name)) << model << ' ' << scheme.name;
      EXPECT_EQ(scheme.max_tokens, caps.at(scheme.name)) << model << ' ' << scheme.name;
      EXPECT_EQ(scheme.max_tokens,
                max_row_tokens(assign_preset_memory(model), scheme.tp, scheme.pp));
    }
  }
}

// With another whole number of bytes, a published cap would not be reproduced.
TEST(AssignPresets, NoOtherWholeActivationGivesThePublishedCaps) {
  for (const auto& [model, caps] : kPublishedCaps) {
    const AssignInstance instance = preset(model);
    ReplicaMemory memory = assign_preset_memory(model);
    for (TokenActivation& activation : memory.activation) {
      if (activation.tp == 0) continue;
      for (const int change : {-1, 1}) {
        activation.bytes += change;
        const bool wrong = std::any_of(
            instance.schemes.begin(), instance.schemes.end(), [&](const Scheme& scheme) {
              return scheme.tp == activation.tp &&
                     max_row_tokens(memory, scheme.tp, scheme.pp) != scheme.max_tokens;
            });
        EXPECT_TRUE(wrong) << model << " tp " << activation.tp;
        activation.bytes -= change;
      }
    }
  }
}

TEST(AssignMemory, MoreStagesAndDevicesLeaveMoreRoom) {
  const ReplicaMemory& memory = assign_preset_memory("llama-32b");
  EXPECT_GT(states_mib(memory, 8, 1), states_mib(memory, 8, 2));
  EXPECT_GT(states_mib(memory, 4, 1), states_mib(memory, 8, 1));
  ReplicaMemory larger = memory;
  larger.layers = 100;
  EXPECT_EQ(max_row_tokens(larger, 2, 1), 0);  // the states alone exceed the device
}

TEST(AssignPresets, AreInstancesThatCanBeReadAndPlanned) {
  for (const std::string_view model : assign_preset_models()) {
    AssignInstance instance = preset(model);
    const Result<AssignInstance> read = read_assign_instance(write_assign_instance(instance));
    ASSERT_TRUE(read) << to_string(read.errors()[0]);
    EXPECT_EQ(*read, instance);
    instance.lengths = {32768};
    EXPECT_FALSE(usable_strategies(instance).empty()) << model;
    for (const Strategy& strategy : instance.strategies) {
      int devices = 0;
      for (std::size_t g = 0; g < instance.schemes.size(); ++g) {
        devices += strategy.replicas[g] * instance.schemes[g].tp * instance.schemes[g].pp;
      }
      EXPECT_EQ(devices, instance.devices) << model << ' ' << strategy.name;
    }
  }
}

TEST(AssignPresets, StrategiesOfThe32b) {
  const AssignInstance instance = preset("llama-32b");
  EXPECT_EQ(instance.devices, 64);
  ASSERT_EQ(instance.strategies.size(), 7U);
  EXPECT_EQ(instance.strategies[2], (Strategy{.name = "S2", .replicas = {0, 0, 0, 6, 0, 0, 1}}));
  EXPECT_EQ(longest_allowed(instance, instance.strategies[4]), 27264);
}

TEST(SimpleStrategies, FillTheDevices) {
  const std::vector<Scheme> schemes = {{.name = "4x1", .tp = 4, .max_tokens = 40},
                                       {.name = "2x1", .tp = 2, .max_tokens = 10},
                                       {.name = "3x1", .tp = 3, .max_tokens = 20}};
  std::vector<std::vector<int>> replicas;
  for (const Strategy& strategy : simple_strategies(schemes, 10, 30)) {
    replicas.push_back(strategy.replicas);
  }
  // 4 does not divide 10; 4 and twice 3 do.
  EXPECT_EQ(replicas, (std::vector<std::vector<int>>{{0, 5, 0}, {1, 3, 0}, {1, 0, 2}}));
  EXPECT_EQ(simple_strategies(schemes, 10, 30)[2].name, "S2");
  EXPECT_TRUE(simple_strategies(schemes, 1, 30).empty());
  EXPECT_EQ(preset("llama-13b").strategies.size(), 11U);
  EXPECT_EQ(preset("llama-7b").strategies.size(), 24U);
}

TEST(AssignPresets, AnUnknownModelIsNamed) {
  const Result<AssignInstance> made = assign_preset("llama-30b");
  ASSERT_FALSE(made);
  EXPECT_EQ(to_string(made.errors()[0]),
            "E501 /model: must be one of llama-7b, llama-13b, llama-32b, is \"llama-30b\", did you "
            "mean \"llama-32b\"?");
}

}  // namespace
}  // namespace stowage::assign_presets_test
