// Proofs that a graph has no order within the capacity, on both sides of every boundary.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "instances/order/verify/exhaustive_check.h"
#include "instances/order/verify/verify.h"
#include "tests/instances/every_proof.h"
#include "tests/oracles/order/brute_force_host.h"
#include "tests/tiny_host.h"
#include "tests/tiny_order.h"

namespace stowage::order_infeasibility_test {
namespace {

bool holds(OrderInstance instance, std::optional<Bytes> capacity, const InfeasibilityProof& proof) {
  instance.capacity = capacity;
  return check_infeasibility(instance, proof).empty();
}

// Expects that the proof holds below `need` bytes, and at no capacity from there on.
void expect_need(const OrderInstance& instance, Bytes need, const InfeasibilityProof& proof) {
  EXPECT_TRUE(holds(instance, need - 1, proof)) << need;
  EXPECT_FALSE(holds(instance, need, proof)) << need;
  EXPECT_FALSE(holds(instance, std::nullopt, proof));
}

// An input of 10 that stays, an input of 4 that is read and updated, an output of 6, a workspace of
// 3, and an input of 50 that another operator reads.
OrderInstance graph() {
  return {.tensors = {{.size = 10, .input = true, .output = true},
                      {.size = 4, .input = true},
                      {.size = 6, .output = true},
                      {.size = 50, .input = true}},
          .operators = {{.reads = {1, 1}, .writes = {2}, .updates = {1}, .workspace = 3},
                        {.reads = {3}}}};
}

TEST(OrderInfeasibility, AnOperatorNeedsWhatItTouchesAndWhatStays) {
  const InfeasibilityProof first{.by = "operator", .witnesses = {0}};
  expect_need(graph(), 10 + 4 + 6 + 3, first);
  OrderInstance aligned = graph();
  aligned.alignment = 8;
  expect_need(aligned, 16 + 8 + 8 + 8, first);
  OrderInstance growing = graph();
  growing.tokens = {1, 5};
  growing.tensors[2].size_per_token = 2;
  growing.operators[0].workspace_per_token = 1;
  expect_need(growing, 10 + 4 + (6 + 10) + (3 + 5), first);
  // A tensor that the operator does not access may be on the host.
  OrderInstance host = graph();
  host.host = HostLink{.out_bytes_per_ms = 1, .in_bytes_per_ms = 1};
  expect_need(host, 4 + 6 + 3, first);
  host.operators[0].reads.push_back(0);
  expect_need(host, 10 + 4 + 6 + 3, first);
  EXPECT_FALSE(holds(graph(), 5, {.by = "operator"}));
  EXPECT_FALSE(holds(graph(), 5, {.by = "operator", .witnesses = {2}}));
  EXPECT_FALSE(holds(graph(), 5, {.by = "operator", .witnesses = {-1, 0}}));
  // Every witness must need too much: the second needs 60.
  EXPECT_FALSE(holds(graph(), 23, {.by = "operator", .witnesses = {0, 1}}));
  EXPECT_TRUE(holds(graph(), 22, {.by = "operator", .witnesses = {0, 1}}));
}

TEST(OrderInfeasibility, TheEndsNeedTheirInputsOrOutputs) {
  expect_need(graph(), 10 + 4 + 50, {.by = "ends"});
  OrderInstance outputs = graph();
  outputs.tensors[2].size = 100;
  expect_need(outputs, 10 + 100, {.by = "ends"});
  outputs.operators[1].reads.clear();  // nobody frees the input
  expect_need(outputs, 10 + 100 + 50, {.by = "ends"});
}

// With a capacity that the best order just reaches, no proof with any name and witnesses is
// accepted.
TEST(OrderInfeasibility, NoProofRefutesWhatFits) {
  int tight = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    OrderInstance graph = tiny_order(seed, 7, false);
    if (seed % 4 == 1) graph = tiny_growing_order(seed, 6);
    graph.capacity = *least_peak(graph);
    const auto refused = [&](const InfeasibilityProof& proof) {
      EXPECT_FALSE(check_infeasibility(graph, proof).empty()) << seed << ' ' << proof.by;
    };
    for_every_proof({"operator", "ends"}, graph.operators.size(), 0, refused);
    if (*graph.capacity == 0) continue;
    --*graph.capacity;
    bool proven = check_infeasibility(graph, {.by = "ends"}).empty();
    for (std::int64_t op = 0; op < std::ssize(graph.operators); ++op) {
      proven = proven || check_infeasibility(graph, {.by = "operator", .witnesses = {op}}).empty();
    }
    tight += proven ? 1 : 0;
  }
  EXPECT_GT(tight, 100);
}

// The same with a host.
TEST(OrderInfeasibility, NoProofRefutesWhatFitsWithAHost) {
  int fitting = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    OrderInstance graph = tiny_host(seed, 4);
    graph.objective = OrderObjective::peak;
    graph.capacity.reset();
    const std::optional<double> best = brute_force_host(graph);
    if (!best) continue;
    ++fitting;
    graph.capacity = static_cast<Bytes>(*best);
    for_every_proof({"operator", "ends"}, graph.operators.size(), 0,
                    [&](const InfeasibilityProof& proof) {
                      EXPECT_FALSE(check_infeasibility(graph, proof).empty()) << seed;
                    });
  }
  EXPECT_GT(fitting, 30);
}

}  // namespace
}  // namespace stowage::order_infeasibility_test
