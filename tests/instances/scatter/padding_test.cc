// Padding by the form of a group: multiples, plans, and what the verifier says about them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/table/group_form.h"
#include "instances/scatter/verify/reference_counts.h"
#include "instances/scatter/verify/reference_model.h"
#include "instances/scatter/verify/verify.h"

namespace stowage::scatter_padding_by_form_test {
namespace {

constexpr ExchangeKind all_to_all = ExchangeKind::all_to_all;
constexpr ExchangeKind ring = ExchangeKind::ring;

// Four devices of 100 tokens; rings and all-to-alls send nothing, so that only tokens count.
ScatterInstance four(Padding padding, std::vector<Tokens> lengths) {
  return {.name = "four",
          .cluster = {.devices = 4, .devices_per_node = 4, .memory_mib = 100, .degrees = {1, 2, 4}},
          .model = {.states_mib = 0, .activation_mib_per_token = 1},
          .cost = {.linear_ms = 1,
                   .fixed_ms = 5,
                   .exchange = Exchange{.kinds = {{2, {all_to_all, ring}}, {4, {all_to_all, ring}}},
                                        .inside_mib_per_ms = 1}},
          .padding = padding,
          .lengths = std::move(lengths)};
}

ScatterPlan planned(const ScatterInstance& instance, int degree, ExchangeKind exchange) {
  std::vector<std::int64_t> ids;
  for (std::size_t id = 0; id < instance.lengths.size(); ++id) {
    ids.push_back(static_cast<std::int64_t>(id));
  }
  ScatterPlan plan = compose_plan(
      instance, {{{.degree = degree, .sequences = std::move(ids), .exchange = exchange}}});
  plan.bound_by = "none";
  return plan;
}

std::vector<std::string> rules_of(const ScatterInstance& instance, const ScatterPlan& plan) {
  std::vector<std::string> rules;
  for (const Violation& violation : verify(instance, plan)) rules.push_back(violation.rule);
  return rules;
}

TEST(ScatterPaddingByForm, MultiplesFollowDegreeAndExchange) {
  ScatterInstance instance = four({}, {});
  EXPECT_EQ(sequence_multiple(instance, 1), 1);
  EXPECT_EQ(sequence_multiple(instance, {4, all_to_all}), 4);
  EXPECT_EQ(sequence_multiple(instance, {4, ring}), 8);
  instance.padding = Padding{.sequence_multiple = 6, .device_multiple = 3};
  EXPECT_EQ(sequence_multiple(instance, 1), 6);
  EXPECT_EQ(sequence_multiple(instance, {4, all_to_all}), 12);
  EXPECT_EQ(sequence_multiple(instance, {4, ring}), 24);
  EXPECT_EQ(common_multiple(instance), 6);
  instance.padding = Padding{.row_multiple = 6, .device_multiple = 0};  // the row alone is cut
  EXPECT_EQ(sequence_multiple(instance, {4, all_to_all}), 1);
  EXPECT_EQ(row_multiple(instance, {4, all_to_all}), 12);
  EXPECT_EQ(sequence_multiple(instance, {4, ring}), 8);
  instance.padding = Padding{.sequence_multiple = 6, .row_multiple = 10, .per_degree = false};
  EXPECT_EQ(sequence_multiple(instance, {4, ring}), 6);
  EXPECT_EQ(row_multiple(instance, {4, ring}), 10);
  instance.rules.packed = false;  // each sequence is a row
  EXPECT_EQ(sequence_multiple(instance, {4, ring}), 30);
  EXPECT_EQ(row_multiple(instance, {4, ring}), 1);
}

TEST(ScatterPaddingByForm, PlansPayForTheirOwnPadding) {
  const ScatterInstance instance = four({}, {17, 9});
  const ScatterPlan rings = planned(instance, 4, ring);
  const ScatterGroup& group = rings.micro_batches[0].groups[0];
  EXPECT_EQ(group.cu_seqlens, (std::vector<std::int64_t>{0, 24, 40}));
  EXPECT_EQ(group.tokens, 40);
  EXPECT_DOUBLE_EQ(group.time_ms, 5 + 40 / 4.0);
  EXPECT_TRUE(rules_of(instance, rings).empty());
  EXPECT_EQ(planned(instance, 4, all_to_all).micro_batches[0].groups[0].tokens, 32);
  EXPECT_EQ(planned(instance, 1, ExchangeKind::none).micro_batches[0].groups[0].tokens, 26);
}

// Every group pads to multiples of 3 tokens a device, of 2 devices at least.
TEST(ScatterPaddingByForm, LengthsArePaddedAsAllGroupsDo) {
  ScatterInstance instance = four({.device_multiple = 3}, {5});
  instance.cluster.degrees = {2, 4};
  EXPECT_EQ(common_multiple(instance), 6);
  EXPECT_EQ(ScatterReferenceModel(instance).length(0), 6);
  instance.padding->device_multiple = 0;
  EXPECT_EQ(ScatterReferenceModel(instance).length(0), 5);
}

// Without packing each sequence is a row of its own. 3 tokens are padded to 12, a multiple of 4 and
// of 3, also on one device.
TEST(ScatterPaddingByForm, RowsOfOneSequenceOnOneDevice) {
  ScatterInstance instance = four({.row_multiple = 4, .device_multiple = 3}, {3});
  instance.rules.packed = false;
  const ScatterPlan plan = planned(instance, 1, ExchangeKind::none);
  EXPECT_EQ(plan.micro_batches[0].groups[0].tokens, 12);
  EXPECT_TRUE(rules_of(instance, plan).empty());
}

TEST(ScatterPaddingByForm, TheLastSequenceHasThePaddingOfTheRow) {
  const ScatterInstance instance = four({.row_multiple = 10}, {17, 9});
  const ScatterPlan plan = planned(instance, 2, all_to_all);
  const ScatterGroup& group = plan.micro_batches[0].groups[0];
  EXPECT_EQ(group.cu_seqlens, (std::vector<std::int64_t>{0, 18, 30}));
  EXPECT_DOUBLE_EQ(group.time_ms, 5 + 30 / 2.0);
  EXPECT_TRUE(rules_of(instance, plan).empty());
}

TEST(ScatterPaddingByForm, TheVerifierFindsOtherPadding) {
  const ScatterInstance instance = four({.row_multiple = 10}, {17, 9});
  const ScatterPlan right = planned(instance, 2, all_to_all);
  ScatterPlan wrong = right;
  wrong.micro_batches[0].groups[0].tokens = 28;  // without the padding of the row
  EXPECT_EQ(rules_of(instance, wrong), std::vector<std::string>{"tokens"});
  wrong = right;
  wrong.micro_batches[0].groups[0].cu_seqlens = {0, 20, 30};  // as in a ring
  EXPECT_EQ(rules_of(instance, wrong), std::vector<std::string>{"cu_seqlens"});
  wrong = right;
  wrong.micro_batches[0].groups[0].cu_seqlens = {0, 18, 28};
  EXPECT_EQ(rules_of(instance, wrong), std::vector<std::string>{"cu_seqlens"});
  wrong = right;
  wrong.objective_ms = wrong.micro_batches[0].makespan_ms =
      wrong.micro_batches[0].groups[0].time_ms = 5 + 28 / 2.0;
  EXPECT_EQ(rules_of(instance, wrong), (std::vector<std::string>{"time", "makespan", "objective"}));
}

TEST(ScatterPaddingByForm, PaddingTakesMemoryAndCountsForTheRule) {
  // 397 tokens are 400 in an all-to-all of four devices of 100, and 400 in a ring; 393 are 400 too.
  EXPECT_TRUE(rules_of(four({}, {397}), planned(four({}, {397}), 4, ring)).empty());
  const ScatterInstance rows = four({.row_multiple = 32}, {353});  // 384 of 400
  EXPECT_TRUE(rules_of(rows, planned(rows, 4, all_to_all)).empty());
  EXPECT_EQ(longest_in_group(rows, {4, all_to_all}), 384);
  EXPECT_TRUE(unplaceable_sequences(rows).empty());
  const ScatterInstance larger = four({.row_multiple = 32}, {385});  // 416
  EXPECT_EQ(rules_of(larger, planned(larger, 4, all_to_all)), std::vector<std::string>{"capacity"});
  EXPECT_EQ(unplaceable_sequences(larger), std::vector<std::int64_t>{0});
  ScatterInstance ruled = four({.row_multiple = 32}, {300, 30});  // 352, 88 on each device
  ruled.rules.max_tokens_per_rank = 88;
  EXPECT_TRUE(rules_of(ruled, planned(ruled, 4, all_to_all)).empty());
  ruled.rules.max_tokens_per_rank = 87;
  EXPECT_EQ(rules_of(ruled, planned(ruled, 4, all_to_all)),
            std::vector<std::string>{"max_tokens_per_rank"});
}

TEST(ScatterPaddingByForm, AllToAllsMaySendMoreOnMoreDevices) {
  ScatterInstance instance = four({}, {400});
  instance.cost.exchange->all_to_all_by_devices = {{2, 1}, {4, 3}};
  // Of 100 tokens on each of four devices, three quarters are sent, 3 MiB each.
  EXPECT_DOUBLE_EQ(planned(instance, 4, all_to_all).objective_ms, 5 + 100 + 0.75 * 100 * 3);
  ScatterPlan plan = planned(instance, 4, all_to_all);
  EXPECT_TRUE(rules_of(instance, plan).empty());
  instance.cost.exchange->all_to_all_by_devices = {{2, 1}, {4, 2}};
  EXPECT_EQ(rules_of(instance, plan), (std::vector<std::string>{"time", "makespan", "objective"}));
}

// Sequences of 60 tokens fill a device, and would be padded to 64 on two: one micro-batch holds
// two.
TEST(ScatterPadding, SequencesThatFillADeviceArePaddedAsThere) {
  ScatterInstance instance{.name = "full"};
  instance.cluster = {.devices = 2, .memory_mib = 60, .degrees = {1, 2}};
  instance.model = {.activation_mib_per_token = 1};
  instance.cost = {.linear_ms = 1};
  instance.pad_multiple = 1;
  instance.padding = Padding{.per_degree = true, .device_multiple = 4};
  instance.lengths = {60, 60};
  const ScatterReferenceModel truth(instance);
  ASSERT_EQ(truth.on_group(60, 1), 60);
  ASSERT_EQ(truth.on_group(60, 2), 64);
  EXPECT_EQ(true_fewest_micro_batches(instance, true_length_counts(instance)), 1);
}

}  // namespace
}  // namespace stowage::scatter_padding_by_form_test
