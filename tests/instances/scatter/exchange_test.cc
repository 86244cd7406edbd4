// Terms of time beyond the published model: the cost of each kind of exchange, worked out by hand,
// and the documents with these terms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/verify/reference_model.h"

namespace stowage::scatter_exchange_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using enum ExchangeKind;

// Two nodes of two devices. A sequence of 400 tokens has 160 ms of attention and 200 ms of other
// work in all; a device of four holds 100 tokens of it, one of two 200.
ScatterInstance two_nodes() {
  return {
      .cluster = {.devices = 4, .devices_per_node = 2, .memory_mib = 1000, .degrees = {1, 2, 4}},
      .model = {.activation_mib_per_token = 1},
      .cost = {.quadratic_ms = 0.001,
               .linear_ms = 0.5,
               .fixed_ms = 3,
               .exchange = Exchange{.kinds = {{2, {all_to_all, ring, all_gather}},
                                              {4, {all_to_all, ring, all_gather, two_level}}},
                                    .all_to_all_mib_per_token = 1,
                                    .keys_values_mib_per_token = 0.5,
                                    .inside_mib_per_ms = 8,
                                    .across_mib_per_ms = 2,
                                    .inside_latency_ms = 0.25,
                                    .across_latency_ms = 1}},
      .lengths = {400}};
}

// Returns the time of a group that holds sequence 0; the planners' and the verifier's values must
// agree.
Ms time_of(const ScatterInstance& instance, GroupForm form) {
  const Tokens length = padded_length(instance, instance.lengths[0]);
  const Ms time = group_overhead_ms(instance, form) + sequence_ms(instance, length, form);
  const ScatterReferenceModel truth(instance);
  GroupSums sums;
  truth.add(0, sums, form);
  EXPECT_NEAR(*truth.time(sums, form), time, 1e-9 * time);
  return time;
}

TEST(Exchange, EveryKindCostsWhatItSends) {
  const ScatterInstance instance = two_nodes();
  EXPECT_DOUBLE_EQ(time_of(instance, 1), 3 + 160 + 200);
  // 40 ms of attention and 50 of the rest on each of four devices.
  EXPECT_DOUBLE_EQ(time_of(instance, {4, all_to_all}), 3 + 1 + 90 + 0.75 * 100 / 2);
  EXPECT_DOUBLE_EQ(time_of(instance, {4, all_gather}), 3 + 1 + 90 + 3 * 50 / 2.0);
  // Four blocks of 10 ms; three transfers of 25 ms for keys and values hide three of them.
  EXPECT_DOUBLE_EQ(time_of(instance, {4, ring}), 3 + 3 * 1 + 50 + 10 + 3 * 25);
  // Two blocks of 20 ms and 25 ms once, after 6.25 ms inside the nodes.
  EXPECT_DOUBLE_EQ(time_of(instance, {4, two_level}), 3 + 0.25 + 1 + 50 + 20 + 25 + 6.25);
  // Within a node 12.5 ms are hidden by a block of 40 ms.
  EXPECT_DOUBLE_EQ(time_of(instance, {2, ring}), 3 + 0.25 + 180);
  // Two ranks are of two nodes, unless groups are aligned.
  EXPECT_DOUBLE_EQ(time_of(instance, {2, all_to_all}), 3 + 0.25 + 180 + 200 / 8.0 / 2);
  ScatterInstance anywhere = instance;
  anywhere.cluster.aligned = false;
  EXPECT_DOUBLE_EQ(time_of(anywhere, {2, all_to_all}), 3 + 1 + 180 + 200 / 2.0 / 2);
}

// A two-level exchange has the all-to-all of a node, of two devices.
TEST(Exchange, VolumesAreThoseOfTheDevicesThatShareThem) {
  ScatterInstance instance = two_nodes();
  instance.cost.exchange->all_to_all_by_devices = {{2, 3}, {4, 5}};
  EXPECT_DOUBLE_EQ(time_of(instance, {4, all_to_all}), 3 + 1 + 90 + 5 * 0.75 * 100 / 2);
  EXPECT_DOUBLE_EQ(time_of(instance, {2, all_to_all}), 3 + 0.25 + 180 + 3 * 200 / 8.0 / 2);
  EXPECT_DOUBLE_EQ(time_of(instance, {4, two_level}), 3 + 0.25 + 1 + 50 + 20 + 25 + 3 * 6.25);
}

TEST(Exchange, ComputeHidesAsMuchAsOverlapAllows) {
  ScatterInstance instance = two_nodes();
  instance.cost.exchange->overlap = 0.5;
  // Half of 37.5 ms is hidden, and half of 75 ms, since 90 ms of compute can hide as much.
  EXPECT_DOUBLE_EQ(time_of(instance, {4, all_to_all}), 4 + 90 + 18.75);
  EXPECT_DOUBLE_EQ(time_of(instance, {4, all_gather}), 4 + 90 + 37.5);
  instance.cost.exchange->overlap = 1;
  EXPECT_DOUBLE_EQ(time_of(instance, {4, all_gather}), 4 + 90);
  instance.cost.exchange->across_mib_per_ms = 1;  // 150 ms
  EXPECT_DOUBLE_EQ(time_of(instance, {4, all_gather}), 4 + 150);
}

// A ring that is not hidden for one sequence is hidden for this sequence and a longer one in the
// same row.
TEST(Exchange, ARowHidesTogether) {
  ScatterInstance instance = two_nodes();
  instance.lengths = {400, 2000};
  const ScatterReferenceModel truth(instance);
  GroupSums sums;
  truth.add(0, sums, {4, ring});
  truth.add(1, sums, {4, ring});
  const Load load =
      sequence_load(instance, 400, {4, ring}) + sequence_load(instance, 2000, {4, ring});
  // Blocks of 10 and 250 ms; 25 and 125 ms to send.
  EXPECT_DOUBLE_EQ(load.time(), 50 + 40 + 250 + 1000);
  EXPECT_NEAR(*truth.time(sums, {4, ring}), 6 + load.time(), 1e-9);
}

TEST(Exchange, GroupsThatMayCrossNodesArePricedSo) {
  Cluster cluster{.devices = 16, .devices_per_node = 6, .degrees = {1, 2, 4, 6, 12}};
  for (const auto& [degree, crosses] :
       {std::pair(1, false), {2, false}, {3, false}, {4, true}, {6, false}, {12, true}}) {
    EXPECT_EQ(may_cross_nodes(cluster, degree), crosses) << degree;
  }
  cluster.aligned = false;
  EXPECT_TRUE(may_cross_nodes(cluster, 2));
  EXPECT_FALSE(may_cross_nodes(cluster, 1));
  EXPECT_FALSE(can_exchange(cluster, {12, two_level}));
  cluster.devices = 6;  // one node
  EXPECT_FALSE(may_cross_nodes(cluster, 2));
}

TEST(Exchange, SequencesTilesAndWindowsAddUp) {
  ScatterInstance instance = two_nodes();
  instance.cost.sequence_fixed_ms = 7;
  EXPECT_DOUBLE_EQ(time_of(instance, 1), 3 + 160 + 200 + 7);
  EXPECT_DOUBLE_EQ(time_of(instance, {2, ring}), 3 + 0.25 + 180 + 7);
  instance.cost.tile_tokens = 300;  // attention of 600 tokens
  EXPECT_DOUBLE_EQ(time_of(instance, 1), 3 + 360 + 200 + 7);
  instance.cost.window = {.tokens = 100, .share = 0.5};  // half of the layers: 600^2 - 500^2 pairs
  EXPECT_DOUBLE_EQ(time_of(instance, 1), 3 + 180 + 55 + 200 + 7);
  instance.cost.window.tokens = 600;  // as long as the sequence
  EXPECT_DOUBLE_EQ(time_of(instance, 1), 3 + 360 + 200 + 7);
}

TEST(Exchange, SplittingAttentionLosesTimeOnEveryDevice) {
  ScatterInstance instance = two_nodes();
  instance.cost.split_ms = 0.02;  // 8 ms of 400 tokens, of which d devices lose 1 - 1/d
  EXPECT_DOUBLE_EQ(time_of(instance, 1), 3 + 160 + 200);
  EXPECT_DOUBLE_EQ(time_of(instance, {2, ring}), 3 + 0.25 + 180 + 4);
  EXPECT_DOUBLE_EQ(time_of(instance, {4, all_to_all}), 3 + 1 + 90 + 6 + 0.75 * 100 / 2);
  // Blocks of a ring are as long as before, and what is lost is beside them.
  EXPECT_DOUBLE_EQ(time_of(instance, {4, ring}), 3 + 3 * 1 + 50 + 6 + 10 + 3 * 25);
  // It hides an exchange as other work does.
  instance.cost.exchange->overlap = 1;
  EXPECT_DOUBLE_EQ(time_of(instance, {4, all_gather}), 3 + 1 + 90 + 6);
  instance.cost.window = {.tokens = 100, .share = 0.5};
  EXPECT_DOUBLE_EQ(time_of(instance, {2, ring}), 3 + 0.25 + (160 - 45) / 2.0 + 100 + 4);
  instance.rules.packed = false;
  EXPECT_DOUBLE_EQ(time_of(instance, {2, ring}), 3 + 0.25 + (160 - 45) / 2.0 + 100 + 4);
}

TEST(Exchange, AttentionThatIsRepeatedLosesAgain) {
  ScatterInstance instance = two_nodes();
  instance.cost.split_ms = 0.02;
  instance.model.recomputation = {{.name = "none", .activation_mib_per_token = 1},
                                  {.name = "selective",
                                   .activation_mib_per_token = 1,
                                   .quadratic_factor = 1.5,
                                   .linear_factor = 1}};
  EXPECT_DOUBLE_EQ(time_of(instance, {2, ring, 0}), 3 + 0.25 + 180 + 4);
  EXPECT_DOUBLE_EQ(time_of(instance, {2, ring, 1}), 3 + 0.25 + 220 + 6);
}

TEST(Exchange, SlowDevicesLoseMore) {
  ScatterInstance instance = two_nodes();
  instance.cost.exchange.reset();
  instance.cost.all_to_all = {.mib_per_token = 0};
  instance.cost.split_ms = 0.02;
  instance.cluster.kinds = {{.name = "", .nodes = 1, .speed = 1, .memory_mib = 1000},
                            {.name = "", .nodes = 1, .speed = 0.5, .memory_mib = 1000}};
  EXPECT_DOUBLE_EQ(time_of(instance, {2, none, 0, 0}), 3 + 180 + 4);
  EXPECT_DOUBLE_EQ(time_of(instance, {2, none, 0, 1}), 3 + 360 + 8);
}

TEST(Exchange, OnlyTermsThatAreGivenChangeTheHash) {
  ScatterInstance instance = two_nodes();
  instance.cost.exchange.reset();
  instance.cost.all_to_all = {.mib_per_token = 1, .mib_per_ms = {{2, 8}, {4, 2}}};
  const std::string old = instance_hash(instance);
  instance.cluster.devices_per_node = 4;
  instance.cost.window.tokens = 100;  // in no layer
  EXPECT_EQ(instance_hash(instance), old);
  instance.cost.window.share = 0.5;
  const std::string with_window = instance_hash(instance);
  EXPECT_NE(with_window, old);
  EXPECT_THAT(write_scatter_instance(instance), Not(HasSubstr("split_ms")));
  instance.cost.split_ms = 0.02;
  EXPECT_NE(instance_hash(instance), with_window);
  const auto read = read_scatter_instance(write_scatter_instance(instance));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, instance);
  instance = two_nodes();
  const std::string with_exchange = instance_hash(instance);
  instance.cluster.devices_per_node = 4;
  EXPECT_NE(instance_hash(instance), with_exchange);
  EXPECT_THAT(write_scatter_instance(instance), HasSubstr("\"exchange\""));
}

// The errors of an instance whose cost has this exchange.
std::vector<std::string> errors_of(const std::string& exchange,
                                   const std::string& cluster = R"("devices": 8,
                                                                   "devices_per_node": 4)") {
  const auto instance = read_scatter_instance(
      R"({"format": "stowage/instance", "version": 1, "problem": "scatter", "lengths": [10],
          "cluster": {"memory_mib": 100, )" +
      cluster + R"(}, "model": {"states_mib": 20, "activation_mib_per_token": 1},
          "cost": {"quadratic_ms": 0, "linear_ms": 1, "fixed_ms": 0, "exchange": )" +
      exchange + "}}");
  std::vector<std::string> errors;
  if (!instance) {
    for (const InputError& error : instance.errors()) errors.push_back(to_string(error));
  }
  return errors;
}

constexpr char kRest[] = R"(, "all_to_all_mib_per_token": 1, "keys_values_mib_per_token": 1,
                             "inside_mib_per_ms": 9, "across_mib_per_ms": 1})";

TEST(Exchange, KindsAreOfEveryDegreeThatCan) {
  EXPECT_THAT(errors_of(std::string(R"({"kinds": ["two_level", "ring"])") + kRest), IsEmpty());
  EXPECT_THAT(errors_of(std::string(R"({"kinds": ["two_level"])") + kRest),
              ElementsAre(HasSubstr("E305 /cost/exchange/kinds: must name an exchange that groups "
                                    "of degree 2 can use"),
                          HasSubstr("degree 4")));
  EXPECT_THAT(
      errors_of(std::string(R"({"kinds": {"2": ["ring"], "4": ["ring"], "8": []})") + kRest),
      ElementsAre(HasSubstr("degree 8")));
  EXPECT_THAT(
      errors_of(
          std::string(R"({"kinds": {"2": ["ring"], "4": ["two_level"], "8": ["two_level"]})") +
          kRest),
      ElementsAre(HasSubstr("E305 /cost/exchange/kinds/4: must be without two_level")));
  EXPECT_THAT(errors_of(std::string(R"({"kinds": ["ring", "ring", "gossip", 7])") + kRest),
              ElementsAre(HasSubstr("E305 /cost/exchange/kinds/1: must be"),
                          HasSubstr("/kinds/2: must be"), HasSubstr("/kinds/3: must be")));
  EXPECT_THAT(errors_of(std::string(R"({"kinds": 7)") + kRest),
              ElementsAre(HasSubstr("E203 /cost/exchange/kinds")));
  EXPECT_THAT(errors_of(R"({"overlap": 1.5})"),
              ElementsAre(HasSubstr("E206 /cost/exchange/overlap"),
                          HasSubstr("E201 /cost/exchange/kinds")));
}

TEST(Exchange, WhatAKindUsesMustBeGiven) {
  EXPECT_THAT(errors_of(R"({"kinds": ["ring"]})"),
              ElementsAre(HasSubstr("E303 /cost/exchange/across_mib_per_ms"),
                          HasSubstr("E303 /cost/exchange/inside_mib_per_ms"),
                          HasSubstr("E303 /cost/exchange/keys_values_mib_per_token")));
  EXPECT_THAT(errors_of(R"({"kinds": ["all_to_all"], "all_to_all_mib_per_token": 1,
                            "inside_mib_per_ms": 1})",
                        R"("devices": 8, "devices_per_node": 8)"),
              IsEmpty());
  EXPECT_THAT(errors_of(R"({"kinds": ["all_to_all"], "all_to_all_mib_per_token": 1,
                            "inside_mib_per_ms": 1})"),
              ElementsAre(HasSubstr("as groups of degree 8 use it")));
  EXPECT_THAT(errors_of(R"({"kinds": {}})", R"("devices": 1)"), IsEmpty());
}

}  // namespace
}  // namespace stowage::scatter_exchange_test
