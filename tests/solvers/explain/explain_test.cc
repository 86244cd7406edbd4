// Longer than 300 lines: it has one hand-made conflict after the other. The statements of explain()
// are true: causes are those built in, each remedy makes the instance feasible and a slightly
// smaller one does not, and the stated effect of a move is its effect.
#include "solvers/explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "instances/assign/json/json.h"
#include "instances/assign/plan_builder.h"
#include "instances/assign/verify/verify.h"
#include "instances/json/limits.h"
#include "instances/layout/json/json.h"
#include "instances/layout/plan_builder.h"
#include "instances/layout/verify/verify.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/verify/verify.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/oracles/layout/brute_force.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_scatter.h"

namespace stowage::explain_explain_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Explanation explained(const Instance& instance, const std::optional<Plan>& plan = std::nullopt,
                      const std::string& method = "auto") {
  Budget budget;
  return explain(instance, plan, {.solve = {.method = method}, .seconds = 60, .nodes = 500},
                 budget);
}

Outcome solved(const Instance& instance) {
  Budget budget({.node_limit = 20000});
  return solve(instance, {}, budget);
}

std::vector<std::string> places(const std::vector<Finding>& findings) {
  std::vector<std::string> places;
  for (const Finding& finding : findings) places.push_back(finding.where);
  return places;
}

std::vector<std::string> remedy_places(const Explanation& explanation) {
  std::vector<std::string> places;
  for (const Remedy& remedy : explanation.remedies) places.push_back(remedy.change.where);
  return places;
}

// Expects a plan for every remedy. `weaken` makes a remedy's instance slightly less generous, which
// must make it infeasible.
void expect_remedies(const Explanation& explanation) {
  for (const Remedy& remedy : explanation.remedies) {
    const Outcome outcome = solved(remedy.change.instance);
    EXPECT_TRUE(outcome.plan) << remedy.change.text;
  }
}

template <class InstanceT>
const InstanceT& as(const Remedy& remedy) {
  return std::get<InstanceT>(remedy.change.instance);
}

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

LayoutInstance small_layout(std::vector<Buffer> buffers, std::optional<Bytes> capacity) {
  return {.name = "conflict", .capacity = capacity, .buffers = std::move(buffers)};
}

TEST(Explain, AStepThatNeedsMoreThanTheCapacity) {
  const Explanation why = explained(small_layout({{.id = "a", .lower = 0, .upper = 3, .size = 20},
                                                  {.id = "b", .lower = 1, .upper = 4, .size = 20},
                                                  {.id = "c", .lower = 2, .upper = 5, .size = 25},
                                                  {.id = "d", .lower = 2, .upper = 3, .size = 1}},
                                                 64));
  // The two bytes too many occur without d too.
  EXPECT_THAT(places(why.conflict.causes),
              ElementsAre("/buffers/2", "/buffers/0", "/buffers/1", "/capacity_bytes"));
  ASSERT_EQ(why.remedies.size(), 2U);
  expect_remedies(why);
  EXPECT_EQ(as<LayoutInstance>(why.remedies[0]).buffers.size(), 3U);
  EXPECT_EQ(as<LayoutInstance>(why.remedies[1]).capacity, 66);
}

TEST(Explain, AlignmentsThatTheLoadDoesNotSeeAreNoReasonToBlameMore) {
  // a and b need 11 bytes alone: one of them begins at 6.
  LayoutInstance instance =
      small_layout({{.id = "a", .lower = 0, .upper = 1, .size = 5, .alignment = 3},
                    {.id = "b", .lower = 0, .upper = 1, .size = 5, .alignment = 2},
                    {.id = "c", .lower = 0, .upper = 1, .size = 1}},
                   10);
  const std::vector<std::string> both = {"/buffers/0", "/buffers/1", "/capacity_bytes"};
  Explanation why = explained(instance);
  EXPECT_EQ(places(why.conflict.causes), both);
  EXPECT_TRUE(why.conflict.irreducible);
  expect_remedies(why);

  // The conflict does not contain a pin whose removal does not help.
  instance.buffers.pop_back();
  instance.buffers[0].offset = 0;
  why = explained(instance);
  EXPECT_EQ(places(why.conflict.causes), both);
  EXPECT_TRUE(why.conflict.irreducible);
}

TEST(Explain, APinThatLeavesNoRoomIsACause) {
  const Explanation why =
      explained(small_layout({{.id = "a", .lower = 0, .upper = 2, .size = 4, .offset = 3},
                              {.id = "b", .lower = 0, .upper = 1, .size = 4},
                              {.id = "c", .lower = 1, .upper = 2, .size = 1}},
                             8));
  EXPECT_THAT(places(why.conflict.causes), ElementsAre("/buffers/0", "/buffers/0/offset_bytes",
                                                       "/buffers/1", "/capacity_bytes"));
  EXPECT_TRUE(why.conflict.irreducible);
  expect_remedies(why);
  EXPECT_THAT(remedy_places(why),
              ElementsAre("/buffers/0/offset_bytes", "/buffers/0", "/capacity_bytes"));
}

TEST(Explain, ASmallBufferMayFreeAWholeBlock) {
  LayoutInstance instance = small_layout({{.id = "a", .lower = 0, .upper = 1, .size = 8},
                                          {.id = "b", .lower = 0, .upper = 1, .size = 8},
                                          {.id = "c", .lower = 0, .upper = 1, .size = 1},
                                          {.id = "d", .lower = 0, .upper = 1, .size = 1}},
                                         20);
  instance.alignment = 8;
  const Explanation why = explained(instance);
  expect_remedies(why);
  ASSERT_FALSE(why.remedies.empty());
  EXPECT_EQ(why.remedies[0].change.text, "free 1 buffer of 1 byte (recompute or offload): d");
}

TEST(Explain, OneFreedBufferIsNotAlwaysEnough) {
  const Explanation why = explained(small_layout({{.id = "a", .lower = 0, .upper = 1, .size = 20},
                                                  {.id = "b", .lower = 0, .upper = 1, .size = 20},
                                                  {.id = "c", .lower = 0, .upper = 1, .size = 20}},
                                                 25));
  ASSERT_EQ(why.remedies.size(), 2U);
  expect_remedies(why);
  EXPECT_EQ(as<LayoutInstance>(why.remedies[0]).buffers.size(), 1U);
}

TEST(Explain, PinsThatClash) {
  const Explanation why =
      explained(small_layout({{.id = "a", .lower = 0, .upper = 3, .size = 16, .offset = 0},
                              {.id = "b", .lower = 1, .upper = 4, .size = 16, .offset = 8},
                              {.id = "c", .lower = 0, .upper = 4, .size = 8}},
                             std::nullopt));
  EXPECT_THAT(places(why.conflict.causes),
              ElementsAre("/buffers/0/offset_bytes", "/buffers/1/offset_bytes"));
  ASSERT_EQ(why.remedies.size(), 2U);
  expect_remedies(why);
}

TEST(Explain, TwoConflictsAtOnceNeedARemedyOnTop) {
  const Explanation why =
      explained(small_layout({{.id = "a", .lower = 0, .upper = 3, .size = 16, .offset = 0},
                              {.id = "b", .lower = 1, .upper = 4, .size = 16, .offset = 8},
                              {.id = "c", .lower = 0, .upper = 4, .size = 8, .offset = 100}},
                             64));
  ASSERT_FALSE(why.remedies.empty());
  expect_remedies(why);
  EXPECT_THAT(why.remedies[0].change.text, HasSubstr("a lie anywhere, and let buffer c"));
}

TEST(Explain, APinAboveTheCapacity) {
  const Explanation why =
      explained(small_layout({{.id = "high", .lower = 0, .upper = 3, .size = 16, .offset = 56},
                              {.id = "b", .lower = 1, .upper = 4, .size = 16}},
                             64));
  EXPECT_THAT(places(why.conflict.causes),
              ElementsAre("/buffers/0/offset_bytes", "/capacity_bytes"));
  ASSERT_EQ(why.remedies.size(), 2U);
  expect_remedies(why);
  EXPECT_EQ(as<LayoutInstance>(why.remedies[1]).capacity, 72);
}

TEST(Explain, BuffersThatOnlyASearchCanRefute) {
  // The load is 6 bytes and the least peak 7, independent of the last buffer.
  std::vector<Buffer> buffers{
      {.lower = 2, .upper = 5, .size = 2}, {.lower = 2, .upper = 3, .size = 2},
      {.lower = 0, .upper = 4, .size = 2}, {.lower = 0, .upper = 2, .size = 4},
      {.lower = 5, .upper = 7, .size = 4}, {.lower = 3, .upper = 7, .size = 1},
      {.lower = 4, .upper = 5, .size = 3}, {.lower = 9, .upper = 10, .size = 5}};
  const LayoutInstance instance = small_layout(buffers, 6);
  const Explanation why = explained(instance);
  ASSERT_EQ(why.outcome.status, Status::infeasible);
  EXPECT_TRUE(why.conflict.irreducible);
  // Irreducible: the named buffers are refuted together, and not without any one of them.
  LayoutInstance named = instance;
  named.buffers.clear();
  for (const Finding& cause : why.conflict.causes) {
    if (cause.where == "/capacity_bytes") continue;
    named.buffers.push_back(buffers[std::stoul(cause.where.substr(9))]);
  }
  EXPECT_LT(named.buffers.size(), buffers.size());
  EXPECT_EQ(solved(named).status, Status::infeasible);
  for (std::size_t b = 0; b < named.buffers.size(); ++b) {
    LayoutInstance fewer = named;
    fewer.buffers.erase(fewer.buffers.begin() + static_cast<std::ptrdiff_t>(b));
    EXPECT_TRUE(solved(fewer).plan) << b;
  }
  expect_remedies(why);
  EXPECT_EQ(as<LayoutInstance>(why.remedies.back()).capacity, 7);
}

TEST(Explain, NothingHelpsAnOptimalPlan) {
  int with_moves = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    if (const auto plan = brute_force(tiny_scatter(seed))) {
      ScatterPlan best = *plan;
      best.instance_hash = instance_hash(tiny_scatter(seed));
      const Explanation why = explained(tiny_scatter(seed), best, "fast");
      EXPECT_EQ(why.binding.moves.best_text, "") << "scatter " << seed;
      EXPECT_EQ(why.binding.moves.best_gain, 0) << "scatter " << seed;
      with_moves += why.binding.moves.tried > 0 ? 1 : 0;
    }
    if (const auto plan = brute_force(tiny_recomputing_scatter(seed))) {
      ScatterPlan best = *plan;
      best.instance_hash = instance_hash(tiny_recomputing_scatter(seed));
      const Explanation why = explained(tiny_recomputing_scatter(seed), best, "fast");
      EXPECT_EQ(why.binding.moves.best_text, "") << "recomputing " << seed;
    }
    if (const auto plan = brute_force(tiny_assign(seed))) {
      AssignPlan best = *plan;
      best.instance_hash = instance_hash(tiny_assign(seed));
      const Explanation why = explained(tiny_assign(seed), best, "fast");
      EXPECT_EQ(why.binding.moves.best_text, "") << "assign " << seed;
      with_moves += why.binding.moves.tried > 0 ? 1 : 0;
    }
    if (const auto plan = brute_force(tiny_layout(seed))) {
      LayoutPlan best = *plan;
      best.instance_hash = instance_hash(tiny_layout(seed));
      const Explanation why = explained(tiny_layout(seed), best, "fast");
      EXPECT_EQ(why.binding.moves.best_text, "") << "layout " << seed;
    }
  }
  EXPECT_GT(with_moves, 100);
}

// Applies the move in `best_text` to a scatter plan.
Ms after_move(const ScatterInstance& instance, const ScatterPlan& plan, const std::string& text) {
  std::vector<MicroBatchChoice> choices;
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    choices.emplace_back();
    for (const ScatterGroup& group : batch.groups) {
      choices.back().push_back({.degree = group.degree,
                                .sequences = group.sequences,
                                .recomputation = form_of(instance, batch, group)->recomputation});
    }
  }
  std::array<char, 20> name{};
  unsigned long long id = 0, b = 0, g = 0, other = 0, c = 0, h = 0;
  int degree = 0;
  const auto group_at = [&](unsigned long long batch, unsigned long long group) -> GroupChoice& {
    return choices.at(batch).at(group);
  };
  const auto erase = [](GroupChoice& group, unsigned long long which) {
    std::erase(group.sequences, static_cast<std::int64_t>(which));
  };
  if (std::sscanf(text.c_str(),
                  "move sequence %llu from /micro_batches/%llu/groups/%llu to "
                  "/micro_batches/%llu/groups/%llu",
                  &id, &b, &g, &c, &h) == 5) {
    group_at(c, h).sequences.push_back(static_cast<std::int64_t>(id));
    erase(group_at(b, g), id);
  } else if (std::sscanf(text.c_str(),
                         "exchange sequence %llu of /micro_batches/%llu/groups/%llu with sequence "
                         "%llu of /micro_batches/%llu/groups/%llu",
                         &id, &b, &g, &other, &c, &h) == 6) {
    erase(group_at(b, g), id);
    erase(group_at(c, h), other);
    group_at(b, g).sequences.push_back(static_cast<std::int64_t>(other));
    group_at(c, h).sequences.push_back(static_cast<std::int64_t>(id));
  } else if (std::sscanf(
                 text.c_str(),
                 "move sequence %llu from /micro_batches/%llu/groups/%llu to a new group of "
                 "degree %d of /micro_batches/%llu",
                 &id, &b, &g, &degree, &c) == 5) {
    erase(group_at(b, g), id);
    const int way = choices.at(c).front().recomputation;
    choices.at(c).push_back(
        {.degree = degree, .sequences = {static_cast<std::int64_t>(id)}, .recomputation = way});
  } else if (std::sscanf(text.c_str(), "recompute \"%19[^\"]\" in /micro_batches/%llu", name.data(),
                         &b) == 2) {
    for (GroupChoice& group : choices.at(b)) {
      group.recomputation = recomputation_index(instance, name.data());
    }
  } else {
    ADD_FAILURE() << text;
  }
  const ScatterPlan moved = compose_plan(instance, std::move(choices));
  EXPECT_TRUE(verify(instance, moved).empty()) << text;
  return moved.objective_ms;
}

TEST(Explain, ABadScatterPlansBestMoveGainsWhatItSays) {
  int helped = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed);
    if (!unplaceable_sequences(instance).empty() || instance.lengths.size() < 2) continue;
    // A micro-batch for each sequence, on the largest degree.
    std::vector<MicroBatchChoice> choices;
    for (std::size_t id = 0; id < instance.lengths.size(); ++id) {
      choices.push_back({{instance.cluster.degrees.back(), {static_cast<std::int64_t>(id)}}});
    }
    ScatterPlan plan = compose_plan(instance, std::move(choices));
    plan.instance_hash = instance_hash(instance);
    const Explanation why = explained(instance, plan, "fast");
    const Moves& moves = why.binding.moves;
    if (moves.best_text.empty()) continue;
    ++helped;
    EXPECT_NEAR(plan.objective_ms - after_move(instance, plan, moves.best_text), moves.best_gain,
                1e-9 * plan.objective_ms)
        << seed << ' ' << moves.best_text;
  }
  EXPECT_GT(helped, 100);
}

// The same if micro-batches choose a recomputation mode, without several kinds of exchange.
TEST(Explain, ABadRecomputingPlansBestMoveGainsWhatItSays) {
  int helped = 0;
  int other_way = 0;
  for (std::uint64_t seed = 0; seed < 600; seed += 3) {
    const ScatterInstance instance = tiny_recomputing_scatter(seed);
    if (instance.lengths.size() < 2) continue;
    // Every sequence is in a micro-batch of its own, all with the recomputation mode of the largest
    // capacity.
    const int way = largest_form(instance).recomputation;
    std::vector<MicroBatchChoice> choices;
    for (std::size_t id = 0; id < instance.lengths.size(); ++id) {
      choices.push_back({{.degree = instance.cluster.degrees.back(),
                          .sequences = {static_cast<std::int64_t>(id)},
                          .recomputation = way}});
    }
    ScatterPlan plan = compose_plan(instance, std::move(choices));
    if (!verify(instance, plan).empty()) continue;
    plan.instance_hash = instance_hash(instance);
    const Explanation why = explained(instance, plan, "fast");
    const Moves& moves = why.binding.moves;
    if (moves.best_text.empty()) continue;
    ++helped;
    other_way += moves.best_text.starts_with("recompute") ? 1 : 0;
    EXPECT_NEAR(plan.objective_ms - after_move(instance, plan, moves.best_text), moves.best_gain,
                1e-9 * plan.objective_ms)
        << seed << ' ' << moves.best_text;
  }
  EXPECT_GT(helped, 80);
  EXPECT_GT(other_way, 10);
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

TEST(Explain, AStackEndsOnTheGround) {
  const LayoutInstance instance = small_layout({{.id = "x", .lower = 0, .upper = 2, .size = 64},
                                                {.id = "y", .lower = 1, .upper = 3, .size = 32},
                                                {.id = "z", .lower = 2, .upper = 4, .size = 64}},
                                               std::nullopt);
  LayoutPlan plan = compose_layout(instance, {0, 64, 0});
  plan.instance_hash = instance_hash(instance);
  const Explanation why = explained(instance, plan);
  EXPECT_THAT(places(why.binding.parts), ElementsAre("/buffers", "/offsets/1", "/offsets/0"));
  EXPECT_THAT(why.binding.moves.best_text, IsEmpty());
  // One byte higher, the top buffer can fall by one.
  plan = compose_layout(instance, {0, 65, 0});
  plan.instance_hash = instance_hash(instance);
  const Explanation higher = explained(instance, plan);
  EXPECT_EQ(higher.binding.moves.best_gain, 1);
  EXPECT_EQ(higher.binding.moves.best_text, "move buffer y from 65 to 64");
}

// A pinned buffer of 0 bytes may be above all others and then determines the peak.
TEST(Explain, APinnedBufferWithoutBytesOnTop) {
  const LayoutInstance layout = small_layout(
      {{.lower = 0, .upper = 4, .size = 8}, {.lower = 0, .upper = 4, .size = 0, .offset = 64}}, {});
  Budget budget({.node_limit = 100});
  const Explanation why = explain(Instance(layout), std::nullopt, {.nodes = 10}, budget);
  EXPECT_EQ(why.objective, 64);
  ASSERT_EQ(why.binding.parts.size(), 2U);
  EXPECT_EQ(why.binding.parts[1].text, "buffer 1 lies at bytes [64, 64) where it is pinned");
}

}  // namespace
}  // namespace stowage::explain_explain_test
