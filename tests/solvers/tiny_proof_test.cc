// Tiny instances of every family are proven, not only solved: none stays "feasible".
#include <gtest/gtest.h>

#include <string>

#include "solvers/solve.h"
#include "tests/chunked_assign.h"
#include "tests/long_run.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_order.h"
#include "tests/tiny_rerun.h"
#include "tests/tiny_scatter.h"
#include "tests/tiny_strategy.h"

namespace stowage::tiny_proof_test {
namespace {

constexpr std::int64_t kNodes = 20000;

std::uint64_t instances() { return static_cast<std::uint64_t>(in_long_run(100, 1000)); }

// Expects a proof by `auto`, of optimality or of infeasibility.
void expect_proof(const Instance& instance, std::int64_t nodes = kNodes) {
  Budget budget({.node_limit = nodes});
  const Outcome outcome = solve(instance, {}, budget);
  EXPECT_TRUE(outcome.status == Status::optimal || outcome.status == Status::infeasible)
      << to_string(outcome.status) << " by " << to_string(outcome.stopped_by) << ", bound "
      << outcome.bound << " of " << outcome.objective.value_or(0) << "; " << outcome.detail;
}

TEST(TinyProof, ScatterStepsOfUpToTwelveSequences) {
  for (std::uint64_t seed = 0; seed < instances(); ++seed) {
    SCOPED_TRACE(seed);
    expect_proof(tiny_scatter(seed + 60000, 12, 16));
  }
}

TEST(TinyProof, AssignStepsOfUpToSixteenSequences) {
  for (std::uint64_t seed = 0; seed < instances(); ++seed) {
    SCOPED_TRACE(seed);
    expect_proof(tiny_assign(seed + 60000, 16));
  }
}

TEST(TinyProof, AssignStepsOfChunks) {
  for (std::uint64_t seed = 0; seed < instances(); ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed + 60000);
    expect_proof(chunked_assign(draw, {.most_sequences = 16}));
  }
}

TEST(TinyProof, LayoutsOfUpToSevenBuffers) {
  for (std::uint64_t seed = 0; seed < instances(); ++seed) {
    SCOPED_TRACE(seed);
    expect_proof(tiny_layout(seed + 60000));
  }
}

TEST(TinyProof, LayoutsOfUpToTwelveBuffers) {
  for (std::uint64_t seed = 0; seed < instances(); ++seed) {
    SCOPED_TRACE(seed);
    expect_proof(tiny_layout(seed + 90000, 12), 60'000);
  }
}

// Every order exhausts a capacity of these in fewer than 20,000 nodes, and there are a dozen such
// capacities: all orders on some of them took 565,012 and 2,396,609 nodes.
TEST(TinyProof, LayoutsWhoseCapacitiesAreAllExhausted) {
  for (const std::uint64_t seed : {60393, 91115, 92268}) {
    SCOPED_TRACE(seed);
    expect_proof(tiny_layout(seed, 12), 60'000);
  }
}

TEST(TinyProof, OrdersOfUpToTwelveOperators) {
  for (std::uint64_t seed = 0; seed < instances(); ++seed) {
    SCOPED_TRACE(seed);
    expect_proof(tiny_order(seed + 60000, 12));
  }
}

TEST(TinyProof, OrdersWithRunsAgain) {
  for (std::uint64_t seed = 0; seed < instances(); ++seed) {
    SCOPED_TRACE(seed);
    expect_proof(tiny_rerun(seed + 60000));
  }
}

TEST(TinyProof, StrategiesOfUpToEightSequences) {
  for (std::uint64_t seed = 0; seed < instances(); ++seed) {
    SCOPED_TRACE(seed);
    expect_proof(tiny_strategy(seed + 60000));
  }
}

}  // namespace
}  // namespace stowage::tiny_proof_test
