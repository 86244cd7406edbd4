// Plans that need no search, and the claim without a proof that they refute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "instances/assign/verify/counterexample_plan.h"
#include "instances/layout/load.h"
#include "instances/layout/verify/counterexample_plan.h"
#include "instances/order/verify/counterexample_plan.h"
#include "instances/order/verify/exhaustive_check.h"
#include "instances/scatter/verify/counterexample_plan.h"
#include "instances/verify.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/oracles/layout/brute_force.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_host.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_order.h"
#include "tests/tiny_scatter.h"

namespace stowage::simple_plans_test {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

bool refused_by_none(const Instance& instance) {
  return !check_infeasibility(instance, InfeasibilityProof()).empty();
}

TEST(SimplePlans, EveryLayoutWithoutACapacityHasOneUnlessPinsClash) {
  int clashing = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    LayoutInstance instance = tiny_layout(seed);
    instance.capacity.reset();
    const bool clash = !pin_clashes(instance).empty();
    EXPECT_EQ(has_counterexample_plan(instance), !clash) << seed;
    clashing += clash ? 1 : 0;
  }
  EXPECT_GT(clashing, 10);
}

TEST(SimplePlans, AStackIsHeldAgainstTheCapacity) {
  LayoutInstance stack{.capacity = 16,
                       .buffers = {{.upper = 1, .size = 8}, {.upper = 1, .size = 8}}};
  EXPECT_TRUE(has_counterexample_plan(stack));
  stack.capacity = 15;
  EXPECT_FALSE(has_counterexample_plan(stack));
}

TEST(SimplePlans, EveryOrderWithoutACapacityHasOne) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    EXPECT_TRUE(has_counterexample_plan(tiny_order(seed, 9, false))) << seed;
    EXPECT_TRUE(has_counterexample_plan(tiny_order(seed, 40, false))) << seed;
    EXPECT_TRUE(has_counterexample_plan(tiny_growing_order(seed, 40))) << seed;
    OrderInstance host = tiny_host(seed);
    if (host.capacity) continue;
    EXPECT_TRUE(has_counterexample_plan(host)) << seed;
  }
}

TEST(SimplePlans, OfFewOperatorsTheLeastPeakDecides) {
  int tight = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    OrderInstance graph = tiny_order(seed, 9, false);
    graph.capacity = *least_peak(graph);
    EXPECT_TRUE(has_counterexample_plan(graph)) << seed;
    if (*graph.capacity == 0) continue;
    --*graph.capacity;
    EXPECT_FALSE(has_counterexample_plan(graph)) << seed;
    ++tight;
  }
  EXPECT_GT(tight, 100);
}

// Without rules on rows each sequence may have a row of its own. With rules, a plan that is found
// must be valid.
TEST(SimplePlans, OfAssignStepsAreThereWhereEverySequenceIsAdmitted) {
  int ruled = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    AssignInstance instance = tiny_assign(seed);
    const bool found = has_counterexample_plan(instance);
    EXPECT_TRUE(!found || brute_force(instance)) << seed;
    const bool free = instance.constraints == RowConstraints();
    ruled += found && !free ? 1 : 0;
    instance.constraints = {};
    EXPECT_EQ(has_counterexample_plan(instance), unplaceable_sequences(instance).empty()) << seed;
  }
  EXPECT_GT(ruled, 20);
}

TEST(SimplePlans, OfFewSequencesTheOptimumDecides) {
  int none = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const ScatterInstance instance = tiny_ruled_scatter(seed, 5);
    const bool found = has_counterexample_plan(instance);
    EXPECT_EQ(found, brute_force(instance).has_value()) << seed;
    none += found ? 0 : 1;
  }
  EXPECT_GT(none, 20);
}

// Thirteen sequences and more are not searched: each sequence is planned in a micro-batch of its
// own.
TEST(SimplePlans, OfManySequencesEachIsAlone) {
  ScatterInstance many{.cluster = {.devices = 4, .memory_mib = 10, .degrees = {1, 2, 4}},
                       .model = {.activation_mib_per_token = 1},
                       .cost = {.linear_ms = 1}};
  many.lengths.assign(20, 40);
  EXPECT_TRUE(has_counterexample_plan(many));
  many.rules.no_idle_ranks = true;
  EXPECT_TRUE(has_counterexample_plan(many));
  many.lengths.back() = 41;
  EXPECT_FALSE(has_counterexample_plan(many));
}

// If an instance has a plan, that plan refutes a claim without a proof; otherwise the claim stands.
TEST(SimplePlans, RefuteAClaimByNone) {
  EXPECT_TRUE(refused_by_none(LayoutInstance{.buffers = {{.upper = 1, .size = 8}}}));
  EXPECT_TRUE(refused_by_none(LayoutInstance{}));
  EXPECT_FALSE(
      refused_by_none(LayoutInstance{.capacity = 7, .buffers = {{.upper = 1, .size = 8}}}));
  EXPECT_TRUE(refused_by_none(OrderInstance{}));
  EXPECT_FALSE(refused_by_none(
      OrderInstance{.capacity = 7, .tensors = {{.size = 8}}, .operators = {{.writes = {0}}}}));
  AssignInstance rows{.devices = 1,
                      .schemes = {{.name = "a", .linear_ms = 1, .max_tokens = 10}},
                      .strategies = {{.name = "s", .replicas = {1}}},
                      .lengths = {10}};
  EXPECT_TRUE(refused_by_none(rows));
  rows.lengths = {11};
  EXPECT_FALSE(refused_by_none(rows));
  ScatterInstance step{.cluster = {.devices = 2, .memory_mib = 10, .degrees = {1, 2}},
                       .model = {.activation_mib_per_token = 1},
                       .cost = {.linear_ms = 1},
                       .lengths = {20}};
  EXPECT_TRUE(refused_by_none(step));
  step.lengths = {21};
  EXPECT_FALSE(refused_by_none(step));
  StrategyInstance wanted{.model = {.hidden = 256,
                                    .heads = 4,
                                    .vocabulary = 500,
                                    .blocks = {{.count = 4, .ffn = 1024}}},
                          .cluster = {.nodes = 1, .devices_per_node = 4, .memory_mib = 500},
                          .lengths = {100, 100, 100, 100}};
  EXPECT_TRUE(refused_by_none(wanted));
  wanted.cluster.memory_mib = 0.5;
  EXPECT_FALSE(refused_by_none(wanted));
}

// A proof has exactly the parts that the page lists.
TEST(Infeasibility, WitnessesAscendAndBelongToTheirProof) {
  const auto rules = [](const Instance& instance, const InfeasibilityProof& proof) {
    std::vector<std::string> broken;
    for (const Violation& v : check_infeasibility(instance, proof)) broken.push_back(v.rule);
    return broken;
  };
  const std::vector<std::string> witness = {kInfeasibilityWitness};
  const std::vector<std::string> step = {kInfeasibility};
  const AssignInstance starving{.devices = 2,
                                .schemes = {{.name = "a", .linear_ms = 1, .max_tokens = 10}},
                                .strategies = {{.name = "s", .replicas = {2}}},
                                .constraints = {.allow_empty = false},
                                .lengths = {5}};
  EXPECT_THAT(rules(starving, {.by = "rows"}), IsEmpty());
  EXPECT_EQ(rules(starving, {.by = "rows", .witnesses = {0}}), witness);
  EXPECT_EQ(rules(starving, {.by = "rows", .witnesses = {7, 3, 1000}}).front(), witness.front());
  EXPECT_EQ(rules(starving, {.by = "rows", .step = 0}), step);
  EXPECT_EQ(rules(starving, {.by = "none", .witnesses = {0}}), witness);
  AssignInstance longer = starving;
  longer.lengths = {11, 12, 13};
  EXPECT_THAT(rules(longer, {.by = "sequences", .witnesses = {0, 2}}), IsEmpty());
  EXPECT_EQ(rules(longer, {.by = "sequences", .witnesses = {2, 0}}), witness);
  EXPECT_EQ(rules(longer, {.by = "sequences", .witnesses = {1, 1}}), witness);
  EXPECT_EQ(rules(longer, {.by = "sequences", .witnesses = {1}, .step = 1}), step);
  ScatterInstance idle{.cluster = {.devices = 4, .memory_mib = 10, .degrees = {1, 2}},
                       .model = {.activation_mib_per_token = 1},
                       .cost = {.linear_ms = 1},
                       .rules = {.no_idle_ranks = true},
                       .lengths = {5}};
  EXPECT_THAT(rules(idle, {.by = "micro_batches"}), IsEmpty());
  EXPECT_EQ(rules(idle, {.by = "micro_batches", .witnesses = {0}}), witness);
  const OrderInstance crowded{.capacity = 7,
                              .tensors = {{.size = 8, .input = true}},
                              .operators = {{.reads = {0}}, {.reads = {0}}}};
  EXPECT_THAT(rules(crowded, {.by = "ends"}), IsEmpty());
  EXPECT_EQ(rules(crowded, {.by = "ends", .witnesses = {0}}), witness);
  EXPECT_THAT(rules(crowded, {.by = "operator", .witnesses = {0, 1}}), IsEmpty());
  EXPECT_EQ(rules(crowded, {.by = "operator", .witnesses = {1, 0}}), witness);
  EXPECT_EQ(rules(crowded, {.by = "operator", .witnesses = {1}, .step = 0}), step);
  const LayoutInstance pinned{.capacity = 7, .buffers = {{.upper = 2, .size = 8, .offset = 0}}};
  EXPECT_THAT(rules(pinned, {.by = "capacity", .witnesses = {0}}), IsEmpty());
  EXPECT_EQ(rules(pinned, {.by = "capacity", .witnesses = {0}, .step = 0}), step);
  EXPECT_EQ(rules(pinned, {.by = "load", .witnesses = {0, 0}, .step = 0}).front(), witness.front());
}

}  // namespace
}  // namespace stowage::simple_plans_test
