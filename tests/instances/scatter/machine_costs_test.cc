// Steps of a model of the table of shapes on a machine, counted by hand.
#include "instances/scatter/cost/machine_costs.h"

#include <gtest/gtest.h>

#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/generate/generate.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/presets.h"

namespace stowage::scatter_machine_costs_test {
namespace {

TEST(MachineCosts, AreCountedFromShapeAndDataSheet) {
  // 36 layers of 2560 with 32 heads of 128, 8 of keys, on H100s: attention is 4096 wide.
  const auto made = scatter_preset({.model = "qwen3-4b", .devices = 16, .machine = "h100"});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->name, "qwen3-4b-h100-16gpu-192k");
  EXPECT_DOUBLE_EQ(made->cluster.memory_mib, 73728);
  const double parameters = 36.0 * 2560 * (2 * 4096 + 2 * 1024 + 3 * 9728) + 151936.0 * 2560;
  const double mib = 1 << 20;
  const auto near = [](double value, double wanted) { EXPECT_NEAR(value, wanted, 1e-3 * wanted); };
  near(made->model.states_mib, parameters * 16 / 16 / mib);
  near(made->model.activation_mib_per_token,
       36 * (8 * 2560 + 4 * 4096 + 4 * 1024 + 6 * 9728) / mib);
  near(made->cost.linear_ms, 6 * parameters / (0.5 * 989e9));
  near(made->cost.quadratic_ms, 7.0 * 4096 * 36 / (0.18 * 989e9));
  near(made->cost.fixed_ms, 0.2 * 6 * parameters * 15 / 16 / (0.8 * 8 * 50e6));  // eight cards
  const auto node = scatter_preset({.model = "qwen3-4b", .devices = 8, .machine = "h100"});
  near(node->cost.fixed_ms, 0.2 * 6 * parameters * 7 / 8 / (0.8 * 450e6));
  ASSERT_TRUE(made->cost.exchange);
  near(node->cost.exchange->all_to_all_mib_per_token, 8 * (4096 + 1024) * 36 / mib);
  near(made->cost.exchange->all_to_all_by_devices.at(8), 8 * (4096 + 1024) * 36 / mib);
  near(made->cost.exchange->all_to_all_by_devices.at(16), 8 * (4096 + 2 * 1024) * 36 / mib);
  near(made->cost.exchange->keys_values_mib_per_token, 12 * 1024 * 36 / mib);
  near(made->cost.exchange->across_mib_per_ms, 0.8 * 50e6 / mib);
  near(made->cost.exchange->inside_mib_per_ms, 0.8 * 450e6 / mib);
  near(made->cost.exchange->inside_latency_ms, 4 * 36 * 0.05);
  near(made->cost.exchange->across_latency_ms, 4 * 36 * 0.08);
  near(made->cost.split_ms, 640 * made->cost.quadratic_ms);
}

TEST(MachineCosts, TheFirstVersionIsAsItWas) {
  const auto first =
      scatter_preset({.model = "qwen3-4b", .devices = 16, .machine = "a100-80", .formulas = 1});
  const auto second = scatter_preset({.model = "qwen3-4b", .devices = 16, .machine = "a100-80"});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->cost.split_ms, 0);
  EXPECT_DOUBLE_EQ(first->cost.exchange->inside_latency_ms, 2.88);  // of 144 messages
  EXPECT_DOUBLE_EQ(first->cost.exchange->across_latency_ms, 7.2);
  EXPECT_DOUBLE_EQ(first->cost.exchange->inside_mib_per_ms, 228.9);
  EXPECT_DOUBLE_EQ(second->cost.exchange->inside_latency_ms, 12.96);
  EXPECT_DOUBLE_EQ(second->cost.exchange->inside_mib_per_ms, 186);
  EXPECT_EQ(first->cost.linear_ms, second->cost.linear_ms);
  EXPECT_EQ(first->cost.exchange->across_mib_per_ms, second->cost.exchange->across_mib_per_ms);
  const auto fourth = scatter_preset({.machine = "h100", .formulas = 4});
  ASSERT_FALSE(fourth);
  EXPECT_EQ(to_string(fourth.errors()[0]), "E501 /formulas: must be from 1 to 3, is 4");
}

// DeepSpeed-Ulysses sends a key or value head to devices / heads of the devices: llama3-8b has 8.
TEST(MachineCosts, TheThirdVersionRepeatsHeadsAndPadsByDegree) {
  const auto wide = scatter_preset({.model = "llama3-8b", .devices = 64, .machine = "h100"});
  ASSERT_TRUE(wide);
  const Exchange& exchange = *wide->cost.exchange;
  EXPECT_EQ(exchange.all_to_all_by_devices,
            (std::map<int, Mib>{{2, 1.25}, {4, 1.25}, {8, 1.25}, {16, 1.5}, {32, 2}}));
  EXPECT_EQ(exchange.kinds.at(64), std::vector{ExchangeKind::two_level});
  EXPECT_EQ(wide->pad_multiple, 1);
  EXPECT_EQ(wide->padding, Padding{.device_multiple = 2});
  EXPECT_EQ(padded_length(*wide, 1001, {1}), 1002);
  EXPECT_EQ(padded_length(*wide, 1001, {8, ExchangeKind::all_to_all}), 1008);
  EXPECT_EQ(padded_length(*wide, 1001, {64, ExchangeKind::two_level}), 1024);
  const auto read = read_scatter_instance(write_scatter_instance(*wide));
  ASSERT_TRUE(read) << to_string(read.errors()[0]);
  EXPECT_EQ(*read, *wide);
  const auto narrow = scatter_preset({.model = "llama3-8b", .devices = 8, .machine = "h100"});
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->cost.exchange->all_to_all_mib_per_token, 1.25);
  const auto before =
      scatter_preset({.model = "llama3-8b", .devices = 64, .machine = "h100", .formulas = 2});
  ASSERT_TRUE(before);
  EXPECT_EQ(before->cost.exchange->all_to_all_mib_per_token, 1.25);
  EXPECT_EQ(before->pad_multiple, 128);
  EXPECT_FALSE(before->padding);
}

// A generator of before there was a second version makes the same bytes again.
TEST(MachineCosts, AGeneratorWithoutAVersionIsOfTheFirst) {
  ScatterGenerator generator{.preset = {.model = "qwen3-4b", .machine = "h100", .formulas = 1},
                             .source = {.kind = LengthSource::Kind::lognormal},
                             .count = 9};
  const std::string first = write_generated(*generate_scatter(generator));
  EXPECT_EQ(first.find("formulas"), std::string::npos);
  const auto read = read_scatter_generator(first);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->preset.formulas, 1);
  EXPECT_EQ(write_generated(*generate_scatter(*read)), first);
  generator.preset.formulas = 2;
  const std::string second = write_generated(*generate_scatter(generator));
  EXPECT_NE(second.find("\"formulas\": 2"), std::string::npos);
  EXPECT_EQ(read_scatter_generator(second)->preset.formulas, 2);
}

TEST(MachineCosts, ExpertsCountByTheirActiveOnes) {
  const auto made = scatter_preset({.model = "mixtral-8x7b", .machine = "h200"});
  const auto dense = scatter_preset({.model = "mistral-7b", .machine = "h200"});
  ASSERT_TRUE(made && dense);
  EXPECT_GT(made->model.states_mib, 6 * dense->model.states_mib);
  EXPECT_LT(made->cost.linear_ms, 2 * dense->cost.linear_ms);
  EXPECT_EQ(made->cost.quadratic_ms, dense->cost.quadratic_ms);
}

TEST(MachineCosts, DegreesExchangeAsHeadsAllow) {
  const auto made = scatter_preset({.model = "llama3-8b", .devices = 128, .machine = "a100-80"});
  ASSERT_TRUE(made);
  using Kinds = std::vector<ExchangeKind>;
  EXPECT_EQ(made->cost.exchange->kinds.at(32), Kinds{ExchangeKind::all_to_all});
  EXPECT_EQ(made->cost.exchange->kinds.at(64), Kinds{ExchangeKind::two_level});
  const auto any = scatter_preset(
      {.model = "llama3-8b", .devices = 16, .degrees = DegreeSet::any, .machine = "a100-80"});
  ASSERT_TRUE(any);
  EXPECT_EQ(any->cost.exchange->kinds.at(3), Kinds{ExchangeKind::ring});
}

TEST(MachineCosts, EveryShapeOnEveryMachineIsAValidInstance) {
  for (const TransformerShape& shape : kTransformerShapes) {
    for (const Machine& machine : kMachines) {
      for (const int devices : {1, 6, 64, 1024}) {
        const auto made = scatter_preset({.model = std::string(shape.name),
                                          .devices = devices,
                                          .machine = std::string(machine.name)});
        ASSERT_TRUE(made) << to_string(made.errors()[0]);
        const auto read = read_scatter_instance(write_scatter_instance(*made));
        ASSERT_TRUE(read) << shape.name << ' ' << to_string(read.errors()[0]);
        EXPECT_EQ(*read, *made);
      }
    }
  }
}

TEST(MachineCosts, TheGeneratorNamesTheMachine) {
  const ScatterGenerator generator{.preset = {.model = "qwen3-32b", .machine = "b200"},
                                   .source = {.kind = LengthSource::Kind::lognormal},
                                   .count = 9};
  const auto made = generate_scatter(generator);
  ASSERT_TRUE(made) << to_string(made.errors()[0]);
  const std::string text = write_generated(*made);
  const auto read = read_scatter_generator(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, made->generator);
  EXPECT_EQ(read->preset.memory_mib, 165888);
  EXPECT_EQ(write_generated(*generate_scatter(*read)), text);
}

TEST(MachineCosts, WrongOptionsAreNamed) {
  const auto both = scatter_preset({.model = "lama3-8b", .limit_tokens = 0, .machine = "h10"});
  ASSERT_FALSE(both);
  ASSERT_EQ(both.errors().size(), 3U);
  EXPECT_EQ(both.errors()[0].pointer, "/model");
  EXPECT_EQ(both.errors()[1].pointer, "/machine");
  EXPECT_EQ(both.errors()[2].pointer, "/limit_tokens");
  const auto none = scatter_preset({.model = "llama3-8b"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.errors()[0].code, "E502");
}

}  // namespace
}  // namespace stowage::scatter_machine_costs_test
