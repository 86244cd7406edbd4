// ActivationOffload of activations: what a group holds, waits for and states, worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/table/planning_table.h"
#include "instances/scatter/verify/reference_model.h"
#include "instances/scatter/verify/verify.h"

namespace stowage::scatter_offload_test {
namespace {

// One or two devices of 100 tokens, 1 ms a token, half of whose activations can leave.
ScatterInstance step(std::vector<Tokens> lengths) {
  ScatterInstance instance{.name = "host",
                           .cluster = {.devices = 2, .memory_mib = 120, .degrees = {1, 2}},
                           .model = {.states_mib = 20, .activation_mib_per_token = 1},
                           .cost = {.linear_ms = 1},
                           .lengths = std::move(lengths)};
  instance.model.offload =
      ActivationOffload{.mib_per_token = 0.5, .out_mib_per_ms = 2, .in_mib_per_ms = 2};
  return instance;
}

ScatterPlan alone(const ScatterInstance& instance, int degree = 1) {
  return compose_plan(instance, {{{.degree = degree, .sequences = {0}}}});
}

std::vector<std::string> rules_broken(const ScatterInstance& instance, const ScatterPlan& plan) {
  std::vector<std::string> rules;
  for (const Violation& violation : verify(instance, plan)) rules.emplace_back(violation.rule);
  return rules;
}

TEST(ScatterOffload, ADeviceHoldsWhatRemains) {
  ScatterInstance instance = step({150});
  EXPECT_EQ(resident_tokens(instance), 100);
  EXPECT_EQ(tokens_per_device(instance), 200);  // 100 / (1 - 0.5)
  EXPECT_EQ(ScatterReferenceModel(instance).per_device(1), 200);
  instance.model.offload->host_mib = 30;
  EXPECT_EQ(tokens_per_device(instance), 130);
  EXPECT_EQ(ScatterReferenceModel(instance).per_device(1), 130);
  instance.model.offload->host_mib = 0;
  EXPECT_EQ(tokens_per_device(instance), 100);
  EXPECT_EQ(ScatterReferenceModel(instance).per_device(1), 100);
  instance.model.offload =
      ActivationOffload{.mib_per_token = 1, .out_mib_per_ms = 2, .in_mib_per_ms = 2};
  EXPECT_EQ(tokens_per_device(instance), kMaxExact);
  EXPECT_EQ(ScatterReferenceModel(instance).per_device(1), kMaxExact);
}

// A way to recompute that keeps less lets less leave.
TEST(ScatterOffload, AWayLetsNoMoreLeaveThanItKeeps) {
  ScatterInstance instance = step({150});
  instance.model.logits_mib_per_token = 0.25;
  instance.model.recomputation = {{.name = "none", .activation_mib_per_token = 1},
                                  {.name = "full", .activation_mib_per_token = 0.25}};
  EXPECT_DOUBLE_EQ(offload_mib(instance, {1, ExchangeKind::none, 0}), 0.5);
  EXPECT_DOUBLE_EQ(offload_mib(instance, {1, ExchangeKind::none, 1}), 0.25);
  EXPECT_EQ(tokens_per_device(instance, {1, ExchangeKind::none, 0}), 133);  // 80 * 1.25 / 0.75
  EXPECT_EQ(tokens_per_device(instance, {1, ExchangeKind::none, 1}), 400);  // 200 * 0.5 / 0.25
}

// Of 150 tokens 50 MiB must leave, two thirds of the 75 that can. They take 25 ms each way at
// 2 MiB/ms, and hide under 50 ms forward and 100 ms backward. At 0.5 MiB/ms they take 100 ms each
// way, and the group waits for 50 ms forward.
TEST(ScatterOffload, CopiesHideUnderTheirPass) {
  ScatterInstance instance = step({150});
  ScatterPlan plan = alone(instance);
  EXPECT_DOUBLE_EQ(plan.micro_batches[0].groups[0].offload, 50.0 / 75);
  EXPECT_DOUBLE_EQ(plan.objective_ms, 150);
  EXPECT_TRUE(verify(instance, plan).empty());
  instance.model.offload->out_mib_per_ms = instance.model.offload->in_mib_per_ms = 0.5;
  plan = alone(instance);
  EXPECT_DOUBLE_EQ(plan.objective_ms, 200);
  EXPECT_TRUE(verify(instance, plan).empty());
  instance.model.offload->in_mib_per_ms = 0.25;  // 200 ms back
  plan = alone(instance);
  EXPECT_DOUBLE_EQ(plan.objective_ms, 300);
  EXPECT_TRUE(verify(instance, plan).empty());
  instance.model.offload->forward_share = 0;
  EXPECT_DOUBLE_EQ(alone(instance).objective_ms, 150 + 100 + 50);
  // Two devices hold the sequence as it is.
  plan = alone(instance, 2);
  EXPECT_EQ(plan.micro_batches[0].groups[0].offload, 0);
  EXPECT_DOUBLE_EQ(plan.objective_ms, 75);
}

TEST(ScatterOffload, TheVerifierRefusesWrongShares) {
  const ScatterInstance instance = step({150});
  const ScatterPlan plan = alone(instance);
  const auto with = [&](double share, const ScatterInstance& of) {
    ScatterPlan other = plan;
    other.micro_batches[0].groups[0].offload = share;
    return rules_broken(of, other);
  };
  using Rules = std::vector<std::string>;
  EXPECT_EQ(with(0.6, instance), Rules{"offload"});
  EXPECT_EQ(with(0, instance), Rules{"offload"});
  EXPECT_EQ(with(-0.1, instance), Rules{"offload"});
  EXPECT_EQ(with(1.1, instance), Rules{"offload"});
  EXPECT_EQ(with(std::numeric_limits<double>::quiet_NaN(), instance), Rules{"number"});
  // More may leave than must: here all 75 MiB still hide.
  EXPECT_EQ(with(1, instance), Rules{});
  ScatterInstance host = instance;
  host.model.offload->host_mib = 60;
  EXPECT_EQ(with(0.8, host), Rules{});  // 60 MiB
  EXPECT_EQ(with(0.9, host), Rules{"offload"});
  ScatterInstance slow = instance;
  slow.model.offload->out_mib_per_ms = 0.5;
  EXPECT_EQ(with(50.0 / 75, slow), (Rules{"time", "makespan", "objective"}));
  ScatterInstance none = instance;
  none.model.offload.reset();
  EXPECT_EQ(with(0, none), Rules{"capacity"});
  EXPECT_EQ(with(50.0 / 75, none), (Rules{"capacity", "offload"}));
}

TEST(ScatterOffload, TheVerifierRefusesMoreThanWhatCanLeave) {
  const ScatterInstance instance = step({201});
  EXPECT_EQ(rules_broken(instance, alone(instance)).front(), "capacity");
  ScatterInstance host = step({150});
  host.model.offload->host_mib = 49;
  EXPECT_EQ(rules_broken(host, alone(host)).front(), "capacity");
}

// The time of a group of the table and of the cost model, at the edge of memory and beyond.
TEST(ScatterOffload, TableAndModelAgree) {
  ScatterInstance instance = step({60, 55, 50, 35});
  instance.model.offload->out_mib_per_ms = 0.3;
  instance.model.offload->in_mib_per_ms = 0.7;
  const ScatterTable table(instance);
  ASSERT_TRUE(table.offloads());
  for (int config = 0; config < static_cast<int>(table.configs().size()); ++config) {
    const GroupForm form = table.configs()[static_cast<std::size_t>(config)].form();
    Load load = table.empty_load(config);
    Load own = empty_load(instance, form);
    for (int position = 0; position < table.size(); ++position) {
      load += table.load(position, config);
      own += sequence_load(instance, table.length(position), form);
      EXPECT_DOUBLE_EQ(table.time(config, load), group_ms(instance, form, own));
    }
    EXPECT_EQ(load.beyond, 200 - 100 * form.degree);
  }
}

// A group within capacity_within() whose load lasts no longer than the limit ends within it.
TEST(ScatterOffload, CapacityWithinATime) {
  ScatterInstance instance = step({400});
  instance.model.offload->out_mib_per_ms = 0.6;
  instance.model.offload->in_mib_per_ms = 0.4;
  const ScatterTable table(instance);
  for (int config = 0; config < 2; ++config) {
    const GroupConfig& own = table.configs()[static_cast<std::size_t>(config)];
    for (const Ms limit : {0.0, 10.0, 50.0, 90.0, 150.0, 1000.0}) {
      const Tokens most = table.capacity_within(config, limit);
      EXPECT_GE(most, own.resident);
      EXPECT_LE(most, own.capacity);
      for (const Ms work : {0.0, limit / 2, limit}) {
        const Load load{work, work, static_cast<double>(most - own.resident)};
        EXPECT_LE(table.time(config, load), limit * (1 + 1e-12) + 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace stowage::scatter_offload_test
