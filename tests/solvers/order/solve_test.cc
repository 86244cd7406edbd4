// Solves of graphs: equal to brute force, with valid bounds and certificates.
#include "solvers/solve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "heuristics/order/commit_search.h"
#include "heuristics/order/registry.h"
#include "instances/check.h"
#include "instances/families.h"
#include "instances/order/generate/generate.h"
#include "instances/order/json/json.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/exhaustive_check.h"
#include "instances/order/verify/verify.h"
#include "instances/verify.h"
#include "tests/long_run.h"
#include "tests/oracles/order/brute_force.h"
#include "tests/tiny_order.h"

namespace stowage::order_solve_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Outcome solved(const OrderInstance& instance, const std::string& method = "auto",
               std::int64_t nodes = 1'000'000) {
  Budget budget({.node_limit = nodes});
  return solve(instance, {.method = method}, budget);
}

OrderInstance generated(OrderGenerator::Kind kind, std::int64_t operators, std::uint64_t seed = 0) {
  return *generate_order({.kind = kind, .operators = operators, .seed = seed});
}

// Every outcome is the optimum over all orders, with valid claims and certificates.
TEST(OrderSolve, EqualsBruteForce) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(2000, 100'000));
  int infeasible = 0;
  int cut = 0;
  int searched = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const OrderInstance graph = tiny_order(seed, seed % 50 == 0 ? 10 : 8);
    ASSERT_THAT(check(graph), IsEmpty()) << seed;
    const std::optional<OrderPlan> best = brute_force(graph);
    for (const char* method : {"auto", "exact"}) {
      const Outcome outcome = solved(graph, method);
      if (!best) {
        EXPECT_EQ(outcome.status, Status::infeasible) << method << seed << outcome.detail;
        continue;
      }
      ASSERT_EQ(outcome.status, Status::optimal) << method << seed << outcome.detail;
      EXPECT_EQ(*outcome.objective, static_cast<double>(best->peak_bytes)) << method << seed;
      EXPECT_THAT(verify(Instance(graph), *outcome.plan), IsEmpty()) << method << seed;
      EXPECT_TRUE(outcome.certificate || outcome.bound_by == "operator" || outcome.bound == 0)
          << seed;
      if (!outcome.certificate) continue;
      const auto& certificate = std::get<OrderCertificate>(outcome.certificate->any());
      const OrderCertificateCheck proof = check_certificate(graph, certificate);
      EXPECT_THAT(proof.violations, IsEmpty()) << seed;
      EXPECT_LE(proof.bound_bytes, best->peak_bytes) << seed;
      if (outcome.bound_by == "operator") continue;
      EXPECT_EQ(proof.bound_bytes, best->peak_bytes) << seed;
      ++(certificate.searched ? searched : cut);
    }
    if (!best) ++infeasible;
  }
  EXPECT_GT(infeasible, 0);
  EXPECT_GT(cut, 0);
  EXPECT_GT(searched, 0);
}

// Graphs beyond brute force: the search's proof passes, from whichever end it started.
TEST(OrderSolve, SearchesLeaveProofsThatPass) {
  const auto seeds = static_cast<std::uint64_t>(in_long_run(600, 20'000));
  int searched = 0;
  int from_end = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    OrderInstance graph = tiny_order(seed, 12 + seed % 40, false);
    const Outcome outcome = solved(graph, "exact", 60'000);
    EXPECT_THAT(outcome.detail, Not(HasSubstr("fails its check"))) << seed;
    if (outcome.bound_by != "search") continue;
    ASSERT_TRUE(outcome.certificate) << seed;
    const auto& certificate = std::get<OrderCertificate>(outcome.certificate->any());
    ASSERT_TRUE(certificate.searched) << seed;
    EXPECT_EQ(static_cast<double>(check_certificate(graph, certificate).bound_bytes), outcome.bound)
        << seed;
    ++searched;
    from_end += certificate.searched->from_end ? 1 : 0;
  }
  EXPECT_GT(searched, static_cast<int>(seeds / 10));
  EXPECT_GT(from_end, 0);
}

// Each bundled tiny graph has its stated outcome, and so have the real ones that a cut proves.
TEST(OrderSolve, BundledGraphsHaveTheOptimaTheySay) {
  const auto data = std::filesystem::path(STOWAGE_SOURCE_DIR) / "instances/data";
  const auto text_of = [](const std::filesystem::path& path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  for (const auto& entry : std::filesystem::directory_iterator(data / "order/tiny")) {
    const std::string text = text_of(entry.path());
    const Outcome outcome = solved(*read_order_instance(text));
    const bool infeasible = text.find("\"x-infeasible\"") != std::string::npos;
    EXPECT_EQ(outcome.status, infeasible ? Status::infeasible : Status::optimal) << entry.path();
    if (infeasible) continue;
    const bool time = text.find("\"objective\": \"time\"") != std::string::npos;
    const std::string said = (time ? "\"x-optimal_ms\": " : "\"x-optimal_bytes\": ") +
                             std::to_string(static_cast<Bytes>(*outcome.objective)) + ",";
    EXPECT_NE(text.find(said), std::string::npos) << entry.path() << said;
  }
  const std::string readme =
      text_of(std::filesystem::path(STOWAGE_SOURCE_DIR) / "docs/benchmarks/instances.md");
  for (const auto& entry : std::filesystem::directory_iterator(data / "order/real")) {
    const Outcome outcome = solved(*read_order_instance(text_of(entry.path())), "auto", 20'000);
    if (outcome.status != Status::optimal) continue;
    const std::string row = "| `" + entry.path().stem().string() + "` | ";
    const std::size_t at = readme.find(row);
    ASSERT_NE(at, std::string::npos) << row;
    const std::string said = readme.substr(at, readme.find('\n', at) - at);
    const std::string optimum = "| " + std::to_string(static_cast<Bytes>(*outcome.objective));
    EXPECT_NE(said.find(optimum), std::string::npos) << said << optimum;
  }
}

// The verifier's dynamic programme over sets of operators is a third oracle.
TEST(OrderSolve, TheVerifierFindsTheSameOptimum) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    OrderInstance graph = tiny_order(seed, 8, false);
    EXPECT_EQ(least_peak(graph), brute_force(graph)->peak_bytes) << seed;
  }
}

// For every capacity the search decides whether there is an order, and if not, returns a true lower
// bound on the need.
TEST(OrderSearch, RefutesEveryCapacityBelowTheOptimum) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const OrderInstance graph = tiny_order(seed, 8, false);
    const Bytes best = brute_force(graph)->peak_bytes;
    const OrderTable table(graph);
    CommitSearch search(table);
    const Budget budget;
    for (Bytes capacity = table.at_start(); capacity <= best + 2; ++capacity) {
      OrderMemory memory(table);
      const auto found = search.run(memory, table.program_order(), capacity, 1'000'000, budget);
      EXPECT_EQ(memory.live(), table.at_start());
      if (found.end == CommitSearch::End::found) {
        EXPECT_GE(capacity, best) << seed;
        EXPECT_LE(peak_of(table, found.steps), std::max(capacity, table.at_start())) << seed;
      } else {
        EXPECT_EQ(found.end, CommitSearch::End::none) << seed;
        EXPECT_LT(capacity, best) << seed;
        EXPECT_LE(found.least_overflow, best) << seed;
        EXPECT_GT(found.least_overflow, capacity) << seed;
      }
    }
  }
}

TEST(OrderSolve, EveryMethodIsValidAndNoneIsBelowTheBound) {
  using Kind = OrderGenerator::Kind;
  for (const Kind kind : {Kind::transformer, Kind::recompute, Kind::accumulate, Kind::experts,
                          Kind::chunked, Kind::randwire, Kind::layered, Kind::layered_local}) {
    const OrderInstance graph = generated(kind, 40);
    const Outcome best = solved(graph, "auto", 20'000);
    for (const Method& method : methods(graph)) {
      const Outcome outcome = solved(graph, method.name, 20'000);
      ASSERT_TRUE(outcome.plan) << method.name;
      EXPECT_THAT(verify(Instance(graph), *outcome.plan), IsEmpty()) << method.name;
      EXPECT_GE(*outcome.objective, best.bound) << method.name;
      EXPECT_GE(*outcome.objective, *best.objective) << method.name;
    }
  }
}

TEST(OrderSolve, TransformersAreProvenByTheFirstCuts) {
  using Kind = OrderGenerator::Kind;
  for (const Kind kind : {Kind::transformer, Kind::recompute, Kind::accumulate}) {
    const Outcome outcome = solved(generated(kind, 500));
    EXPECT_EQ(outcome.status, Status::optimal) << outcome.detail;
    EXPECT_EQ(outcome.nodes, 0);
  }
}

// List scheduling runs recomputed operators at once; the order of the list does not.
TEST(OrderSolve, ListSchedulingLosesWhereLayersAreComputedAgain) {
  const OrderInstance graph = generated(OrderGenerator::Kind::accumulate, 500);
  EXPECT_GT(*solved(graph, "list").objective, *solved(graph, "program").objective);
}

TEST(OrderSolve, AnEmptyGraphNeedsItsInputs) {
  OrderInstance graph{.tensors = {{.size = 7, .input = true}}};
  const Outcome outcome = solved(graph);
  EXPECT_EQ(outcome.status, Status::optimal);
  EXPECT_EQ(*outcome.objective, 7);
  EXPECT_EQ(*solved({}).objective, 0);
  graph.capacity = 6;
  const Outcome none = solved(graph);
  EXPECT_EQ(none.status, Status::infeasible);
  EXPECT_EQ(none.infeasibility->by, "ends");
  EXPECT_THAT(check_infeasibility(graph, *none.infeasibility), IsEmpty());
}

TEST(OrderSolve, AnOperatorAboveTheCapacityIsProven) {
  OrderInstance graph{.capacity = 10,
                      .tensors = {{.size = 4, .input = true}, {.size = 4, .output = true}},
                      .operators = {{.reads = {0}, .writes = {1}, .workspace = 3}}};
  const Outcome outcome = solved(graph);
  EXPECT_EQ(outcome.status, Status::infeasible);
  EXPECT_EQ(outcome.infeasibility->by, "operator");
  EXPECT_THAT(check_infeasibility(graph, *outcome.infeasibility), IsEmpty());
  EXPECT_THAT(outcome.remedy, HasSubstr("11"));
  graph.capacity = 11;
  EXPECT_EQ(solved(graph).status, Status::optimal);
  EXPECT_FALSE(check_infeasibility(graph, *outcome.infeasibility).empty());
}

TEST(OrderSolve, SizesNearTheLargestAreExact) {
  const Bytes half = kMaxExact / 2;
  const OrderInstance graph{
      .tensors = {{.size = half, .input = true}, {.size = half - 1, .output = true}},
      .operators = {{.reads = {0}, .writes = {1}}}};
  const Outcome outcome = solved(graph);
  EXPECT_EQ(outcome.status, Status::optimal);
  EXPECT_EQ(std::get<OrderPlan>(*outcome.plan).peak_bytes, kMaxExact - 1);
}

TEST(OrderSolve, StartsFromAPlanAndIsNeverWorse) {
  const OrderInstance graph = generated(OrderGenerator::Kind::layered, 80, 3);
  const Outcome first = solved(graph, "auto", 50'000);
  Budget budget({.node_limit = 0});
  const Outcome again = solve(graph, {.start = first.plan}, budget);
  ASSERT_TRUE(again.objective);
  EXPECT_LE(*again.objective, *first.objective);
}

}  // namespace
}  // namespace stowage::order_solve_test
