// The statements of explain() are true: causes are those built in, each remedy makes the instance
// feasible and a slightly smaller one does not, and the stated effect of a move is its effect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/assign/json/json.h"
#include "instances/json/limits.h"
#include "instances/layout/json/json.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/plan_builder.h"
#include "tests/solvers/explain/explained.h"

namespace stowage::explain_explain_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ScatterInstance small_scatter(std::vector<Tokens> lengths) {
  return {.name = "conflict",
          .cluster = {.devices = 4, .memory_mib = 100, .degrees = {1, 2, 4}},
          .model = {.states_mib = 20, .activation_mib_per_token = 1},
          .cost = {.quadratic_ms = 0.01, .linear_ms = 0.5, .fixed_ms = 3},
          .lengths = std::move(lengths)};
}

AssignInstance small_assign(std::vector<Tokens> lengths) {
  return {.name = "conflict",
          .devices = 4,
          .schemes = {{.name = "wide", .tp = 2, .linear_ms = 0.1, .fixed_ms = 1, .max_tokens = 64},
                      {.name = "narrow", .linear_ms = 0.2, .fixed_ms = 1, .max_tokens = 32}},
          .strategies = {{.name = "both", .replicas = {1, 2}}},
          .lengths = std::move(lengths)};
}

TEST(Explain, OneLongSequence) {
  const ScatterInstance instance = small_scatter({100, 64, 401});
  const Explanation why = explained(instance);
  EXPECT_EQ(why.outcome.status, Status::infeasible);
  EXPECT_TRUE(why.conflict.irreducible);
  EXPECT_THAT(places(why.conflict.causes),
              ElementsAre("/lengths/2", "/cluster/memory_mib", "/cluster/degrees"));
  ASSERT_THAT(remedy_places(why),
              ElementsAre("/cluster/memory_mib", "/cluster/degrees", "/lengths", "/lengths"));
  expect_remedies(why);
  // 401 tokens on 4 devices are 101 each.
  EXPECT_EQ(as<ScatterInstance>(why.remedies[0]).cluster.memory_mib, 121);
  ScatterInstance less = instance;
  less.cluster.memory_mib = 120;
  EXPECT_EQ(solved(less).status, Status::infeasible);
  EXPECT_EQ(as<ScatterInstance>(why.remedies[1]).cluster.devices, 8);
  EXPECT_EQ(as<ScatterInstance>(why.remedies[2]).lengths, (std::vector<Tokens>{100, 64}));
  EXPECT_EQ(as<ScatterInstance>(why.remedies[3]).lengths, (std::vector<Tokens>{100, 64, 320}));
}

TEST(Explain, TwoLongSequencesOnceTheyArePadded) {
  ScatterInstance instance = small_scatter({310, 3, 318});
  instance.pad_multiple = 32;
  instance.cluster.memory_mib = 99;  // 79 tokens a device, 316 in all
  const Explanation why = explained(instance);
  EXPECT_THAT(places(why.conflict.causes),
              ElementsAre("/lengths/0", "/cluster/memory_mib", "/cluster/degrees"));
  EXPECT_THAT(why.conflict.causes.front().text, HasSubstr("320 tokens after padding"));
  EXPECT_THAT(why.conflict.causes.front().text, HasSubstr("2 that fit no group: 0, 2"));
  ASSERT_EQ(why.remedies.size(), 4U);
  expect_remedies(why);
  EXPECT_EQ(as<ScatterInstance>(why.remedies[0]).cluster.memory_mib, 100);
  EXPECT_EQ(as<ScatterInstance>(why.remedies[3]).lengths, (std::vector<Tokens>{288, 3, 288}));
}

TEST(Explain, StatesThatFillTheMemory) {
  ScatterInstance instance = small_scatter({10, 1});
  instance.cluster.memory_mib = 20;
  const Explanation why = explained(instance);
  EXPECT_THAT(places(why.conflict.causes), ElementsAre("/lengths/0", "/cluster/memory_mib"));
  ASSERT_THAT(remedy_places(why), ElementsAre("/cluster/memory_mib"));
  expect_remedies(why);
  EXPECT_EQ(as<ScatterInstance>(why.remedies[0]).cluster.memory_mib, 23);
}

// The sequence would fit without the term, so the term is named.
TEST(Explain, MemoryThatTermsFill) {
  ScatterInstance instance = small_scatter({300, 1});
  instance.model.sequence_mib = 6;
  instance.model.logits_mib_per_token = 0.5;
  instance.model.logits_chunk_tokens = 4;
  const Explanation why = explained(instance);
  EXPECT_TRUE(why.conflict.irreducible);
  EXPECT_THAT(places(why.conflict.causes),
              ElementsAre("/lengths/0", "/cluster/memory_mib", "/model/sequence_mib",
                          "/model/logits_mib_per_token", "/cluster/degrees"));
  EXPECT_THAT(why.conflict.causes[2].text, HasSubstr("as 24 tokens of the group"));
  EXPECT_THAT(why.conflict.causes[3].text, HasSubstr("4 tokens at a time"));
  expect_remedies(why);
  // 324 tokens of 4 devices are 81 each; with states and a chunk 103 MiB.
  EXPECT_EQ(as<ScatterInstance>(why.remedies[0]).cluster.memory_mib, 103);
  ScatterInstance less = instance;
  less.cluster.memory_mib = 102;
  EXPECT_EQ(solved(less).status, Status::infeasible);
}

TEST(Explain, KeysAndValuesThatAnAllGatherHolds) {
  ScatterInstance instance = small_scatter({200});
  instance.model.keys_values_mib_per_token = 0.25;
  Exchange& exchange = instance.cost.exchange.emplace();
  exchange = {.kinds = {{2, {ExchangeKind::all_gather}}, {4, {ExchangeKind::all_gather}}},
              .keys_values_mib_per_token = 1,
              .inside_mib_per_ms = 10};
  const Explanation why = explained(instance);
  // 2 MiB a token: 40 tokens on each of 4 devices.
  EXPECT_THAT(places(why.conflict.causes),
              ElementsAre("/lengths/0", "/cluster/memory_mib", "/model/keys_values_mib_per_token",
                          "/cluster/degrees"));
  expect_remedies(why);
  EXPECT_EQ(as<ScatterInstance>(why.remedies[0]).cluster.memory_mib, 120);
  // A ring holds one block: 80 / 1.25 = 64 tokens on each device.
  exchange.kinds[4] = {ExchangeKind::ring, ExchangeKind::all_gather};
  const Outcome outcome = solved(instance);
  ASSERT_TRUE(outcome.plan);
  EXPECT_EQ(std::get<ScatterPlan>(*outcome.plan).micro_batches.at(0).groups.at(0).exchange,
            ExchangeKind::ring);
}

TEST(Explain, DegreesThatNeedNotFormAChain) {
  ScatterInstance instance = small_scatter({250});
  instance.cluster = {.devices = 6, .memory_mib = 100, .degrees = {1, 3}, .aligned = false};
  const Explanation why = explained(instance);
  ASSERT_EQ(why.remedies.size(), 3U);  // nothing would be left to drop
  expect_remedies(why);
  const Cluster& cluster = as<ScatterInstance>(why.remedies[1]).cluster;
  EXPECT_THAT(cluster.degrees, ElementsAre(1, 3, 4));
  EXPECT_EQ(cluster.devices, 6);
}

TEST(Explain, ASequenceLongerThanEveryRow) {
  const AssignInstance instance = small_assign({70, 10, 64});
  const Explanation why = explained(instance);
  EXPECT_THAT(places(why.conflict.causes), ElementsAre("/lengths/0", "/schemes/wide/max_tokens"));
  ASSERT_EQ(why.remedies.size(), 3U);
  expect_remedies(why);
  EXPECT_EQ(as<AssignInstance>(why.remedies[0]).schemes[0].max_tokens, 70);
  EXPECT_EQ(as<AssignInstance>(why.remedies[2]).lengths, (std::vector<Tokens>{64, 10, 64}));
}

// 50 tokens after padding keep activations for 40 and keys for 10: (34 * 40 + 4 * 10) / 34 = 41.2.
TEST(Explain, ASequenceCutIntoChunksNeedsNoCapOfItsLength) {
  AssignInstance instance = small_assign({1, 1, 47, 48});
  instance.schemes = {{.name = "s", .linear_ms = 0.1, .fixed_ms = 10, .max_tokens = 40}};
  instance.strategies = {{.name = "t", .replicas = {1}}};
  instance.pad_multiple = 10;
  instance.constraints.chunks = {.size = 40, .activation_bytes = 34, .key_value_bytes = 4};
  const Explanation why = explained(instance);
  ASSERT_FALSE(why.remedies.empty());
  expect_remedies(why);
  AssignInstance remedied = as<AssignInstance>(why.remedies[0]);
  EXPECT_EQ(remedied.schemes[0].max_tokens, 42);
  remedied.schemes[0].max_tokens = 41;
  EXPECT_EQ(solved(remedied).status, Status::infeasible);
}

TEST(Explain, FewerSequencesThanReplicas) {
  AssignInstance instance = small_assign({10, 20});
  instance.constraints.allow_empty = false;
  const Explanation why = explained(instance);
  EXPECT_TRUE(why.conflict.irreducible);
  EXPECT_THAT(places(why.conflict.causes), ElementsAre("/lengths", "/constraints/allow_empty"));
  ASSERT_THAT(remedy_places(why), ElementsAre("/constraints/allow_empty"));
  expect_remedies(why);
}

TEST(Explain, FewerSequencesThanRowsInAMultiple) {
  AssignInstance instance = small_assign({10, 20, 30});
  instance.constraints.rows_multiple_of = 5;
  instance.constraints.equal_rows = true;  // not one of the causes
  const Explanation why = explained(instance);
  EXPECT_THAT(places(why.conflict.causes),
              ElementsAre("/lengths", "/constraints/rows_multiple_of"));
  ASSERT_THAT(remedy_places(why), ElementsAre("/constraints/rows_multiple_of"));
  expect_remedies(why);
  EXPECT_EQ(as<AssignInstance>(why.remedies[0]).constraints.rows_multiple_of, 3);
  instance.constraints.rows_multiple_of = 4;
  EXPECT_EQ(solved(instance).status, Status::infeasible);
}

TEST(Explain, FullRowsThatMakeNoMultiple) {
  // Three sequences fill a row each, and rows come in pairs.
  AssignInstance instance = small_assign({60, 60, 60});
  instance.constraints.rows_multiple_of = 2;
  const Explanation why = explained(instance);
  EXPECT_THAT(places(why.conflict.causes),
              ElementsAre("/lengths", "/constraints/rows_multiple_of", "/schemes"));
  ASSERT_EQ(why.remedies.size(), 2U);
  expect_remedies(why);
  EXPECT_EQ(as<AssignInstance>(why.remedies[0]).constraints.rows_multiple_of, 1);
  // 188 % of 64 tokens are 120: two of them in one row.
  EXPECT_EQ(as<AssignInstance>(why.remedies[1]).schemes[0].max_tokens, 120);
}

TEST(Explain, CapsAreRaisedToTheLargestThereIs) {
  AssignInstance instance = small_assign({60, 60, 60});
  instance.constraints.rows_multiple_of = 2;
  instance.schemes.push_back({.name = "vast", .linear_ms = 0.2, .max_tokens = kMaxExact - 1});
  instance.strategies[0].replicas.push_back(0);
  const Explanation why = explained(instance);
  ASSERT_THAT(remedy_places(why), ElementsAre("/constraints/rows_multiple_of", "/schemes"));
  EXPECT_EQ(as<AssignInstance>(why.remedies[1]).schemes[0].max_tokens, 120);
  EXPECT_EQ(as<AssignInstance>(why.remedies[1]).schemes[2].max_tokens, kMaxExact);
}

// Four devices hold 320 tokens, and 640 if half of each token is recomputed.
TEST(Explain, WhatIsRecomputedHoldsMoreTokens) {
  ScatterInstance instance = small_scatter({700, 8});
  instance.model.recomputation = {
      {.name = "none", .activation_mib_per_token = 1},
      {.name = "half", .activation_mib_per_token = 0.5, .linear_factor = 1.25}};
  const Explanation why = explained(instance);
  EXPECT_THAT(places(why.conflict.causes), testing::Contains("/cluster/memory_mib"));
  expect_remedies(why);
  instance.lengths[0] = 640;
  const Outcome outcome = solved(instance);
  ASSERT_TRUE(outcome.plan);
  const auto& batches = std::get<ScatterPlan>(*outcome.plan).micro_batches;
  for (const ScatterMicroBatch& batch : batches) {
    const bool has_long = batch.groups.front().sequences.front() == 0;
    EXPECT_EQ(batch.recomputation == "half", has_long || batches.size() == 1);
  }
}

TEST(Explain, WhatIfNeverLosesWhatThePlanHas) {
  const ScatterInstance instance = small_scatter({100, 64, 80, 8, 16, 24, 70, 60, 50, 40, 30, 12});
  const Explanation found = explained(instance, std::nullopt, "fast");
  ASSERT_TRUE(found.objective);
  ASSERT_EQ(found.what_if.size(), 2U);
  for (const WhatIf& what : found.what_if) {
    ASSERT_TRUE(what.objective) << what.text;
    EXPECT_LE(*what.objective, *found.objective * (1 + 1e-9)) << what.text;
    EXPECT_LE(what.bound, *what.objective * (1 + 1e-9)) << what.text;
  }
  // Four devices become twelve: the step is faster for sure.
  EXPECT_LT(*found.what_if[1].objective, *found.objective);
}

std::vector<std::string> what_if_places(const Instance& instance) {
  std::vector<std::string> places;
  for (const WhatIf& what : explained(instance, std::nullopt, "fast").what_if) {
    places.push_back(what.where);
  }
  return places;
}

// If a value is already the largest that an instance may have, no change beyond it is tried.
TEST(Explain, WhatIfAsksForNothingThatIsTooLarge) {
  ScatterInstance scatter = small_scatter({8, 16});
  EXPECT_THAT(what_if_places(scatter), ElementsAre("/cluster/memory_mib", "/cluster/devices"));
  scatter.cluster.memory_mib = static_cast<double>(kMaxExact);
  EXPECT_THAT(what_if_places(scatter), ElementsAre("/cluster/devices"));
  scatter.cluster.devices_per_node = kMaxDevices;
  EXPECT_THAT(what_if_places(scatter), IsEmpty());

  AssignInstance assign = small_assign({8, 16});
  EXPECT_THAT(what_if_places(assign),
              ElementsAre("/schemes", "/strategies/both/wide", "/strategies/both/narrow"));
  assign.devices = kMaxDevices - 1;
  EXPECT_THAT(what_if_places(assign), ElementsAre("/schemes", "/strategies/both/narrow"));
}

TEST(Explain, APlanIsExplainedAsItIs) {
  const ScatterInstance instance = small_scatter({100, 64, 80, 8});
  std::vector<MicroBatchChoice> choices;
  for (std::int64_t id = 0; id < 4; ++id) choices.push_back({{4, {id}}});
  ScatterPlan plan = compose_plan(instance, std::move(choices));
  plan.instance_hash = instance_hash(instance);
  const Explanation why = explained(instance, plan);
  EXPECT_EQ(why.objective, plan.objective_ms);
  EXPECT_LT(*why.outcome.objective, plan.objective_ms);
  // the status of the given plan, whatever is proven for others
  EXPECT_EQ(why.status, Status::feasible);
  EXPECT_THAT(places(why.binding.parts),
              ElementsAre("/micro_batches/0/groups/0", "/micro_batches/1/groups/0",
                          "/micro_batches/2/groups/0", "/micro_batches/3/groups/0"));
  ASSERT_EQ(why.what_if.size(), 3U);  // a longer search first
  EXPECT_EQ(why.what_if[0].objective, why.outcome.objective);
}

}  // namespace
}  // namespace stowage::explain_explain_test
