// The remedy of an infeasible outcome is true: the instance changed accordingly has a plan, and
// with one unit less it has none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <regex>
#include <string>

#include "instances/scatter/cost/cost_model.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_scatter.h"

namespace stowage::remedy_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const auto kInstances = static_cast<std::uint64_t>(in_long_run(200, 5000));

Outcome solved(const Instance& instance) {
  Budget budget({.node_limit = 200});
  return solve(instance, {.method = "fast"}, budget);
}

// Returns the number after `words` in the remedy; spaces may separate its thousands.
std::optional<std::int64_t> number_behind(const std::string& words, const std::string& remedy) {
  std::smatch found;
  if (!std::regex_search(remedy, found, std::regex(words + "([0-9 ]*[0-9])"))) return std::nullopt;
  std::string digits = found[1];
  std::erase(digits, ' ');
  return std::stoll(digits);
}

TEST(Remedy, OfSequencesThatFitNoGroup) {
  std::uint64_t memory = 0;
  std::uint64_t capped = 0;
  std::uint64_t degrees = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    ScatterInstance instance = seed % 2 == 0 ? tiny_ruled_scatter(seed) : tiny_scatter(seed);
    instance.rules.no_idle_ranks = false;  // another reason why there may be no plan
    instance.rules.micro_batches_multiple_of = 1;
    if (instance.lengths.empty()) continue;
    instance.lengths.front() += longest_in_group(instance, largest_form(instance));
    instance.loss_tokens.clear();
    const Outcome outcome = solved(instance);
    ASSERT_EQ(outcome.status, Status::infeasible) << seed;
    ASSERT_FALSE(outcome.unplaceable.empty()) << seed;
    EXPECT_THAT(outcome.remedy, HasSubstr("shorten the sequences")) << seed;

    ScatterInstance roomier = instance;
    const auto cap = number_behind("max_tokens_per_rank from [0-9]+ to ", outcome.remedy);
    const auto mib = number_behind("cluster.memory_mib from [0-9.e+-]+ to ", outcome.remedy);
    ASSERT_TRUE(cap || mib) << seed << outcome.remedy;
    if (cap) roomier.rules.max_tokens_per_rank = *cap;
    if (mib) roomier.cluster.memory_mib = static_cast<double>(*mib);
    EXPECT_THAT(unplaceable_sequences(roomier), IsEmpty()) << seed << outcome.remedy;
    EXPECT_TRUE(solved(roomier).plan) << seed << outcome.remedy;
    capped += cap ? 1 : 0;
    memory += mib ? 1 : 0;
    if (cap) roomier.rules.max_tokens_per_rank -= 1;
    if (mib && !cap) roomier.cluster.memory_mib -= 1;
    EXPECT_EQ(solved(roomier).status, Status::infeasible) << seed << outcome.remedy;

    const auto degree = number_behind("allow a degree of at least ", outcome.remedy);
    // the remedy does not name the exchanges that the degree may use
    if (!degree || instance.cost.exchange) continue;
    ++degrees;
    Tokens longest = 0;
    for (const std::int64_t id : outcome.unplaceable) {
      const Tokens length = instance.lengths[static_cast<std::size_t>(id)];
      longest = std::max(longest, padded_length(instance, length));
    }
    EXPECT_GE(longest_in_group(instance, static_cast<int>(*degree)), longest) << seed;
    EXPECT_LT(longest_in_group(instance, static_cast<int>(*degree - 1)), longest) << seed;
  }
  EXPECT_GT(memory, kInstances / 10);
  EXPECT_GT(capped, kInstances / 50);
  EXPECT_GT(degrees, kInstances / 50);
}

TEST(Remedy, OfTooFewSequences) {
  ScatterInstance instance{.name = "few",
                           .cluster = {.devices = 4, .memory_mib = 100, .degrees = {1, 2}},
                           .model = {.states_mib = 20, .activation_mib_per_token = 1},
                           .cost = {.linear_ms = 1},
                           .rules = {.no_idle_ranks = true, .micro_batches_multiple_of = 3}};
  instance.lengths.assign(5, 10);
  const Outcome outcome = solved(instance);
  ASSERT_EQ(outcome.status, Status::infeasible);
  EXPECT_EQ(outcome.remedy,
            "plan at least 6 sequences in a step, set rules.no_idle_ranks to false or lower "
            "rules.micro_batches_multiple_of");
  ScatterInstance more = instance;
  more.lengths.assign(6, 10);
  EXPECT_TRUE(solved(more).plan);
  ScatterInstance idle = instance;
  idle.rules.no_idle_ranks = false;
  EXPECT_TRUE(solved(idle).plan);
  ScatterInstance fewer = instance;
  fewer.rules.micro_batches_multiple_of = 2;
  EXPECT_TRUE(solved(fewer).plan);

  instance.cluster.devices = 5;
  instance.cluster.degrees = {2};
  const Outcome odd = solved(instance);
  ASSERT_EQ(odd.status, Status::infeasible);
  EXPECT_THAT(odd.remedy, HasSubstr("allow degrees that make up all 5 devices"));
}

TEST(Remedy, OfAnAssignStep) {
  AssignInstance instance{.name = "rows", .devices = 2};
  instance.schemes = {{.name = "1x1", .linear_ms = 1, .max_tokens = 100}};
  instance.strategies = {{"two", {2}}};
  instance.lengths = {50, 120};
  const Outcome longer = solved(instance);
  ASSERT_EQ(longer.status, Status::infeasible);
  EXPECT_EQ(longer.remedy,
            "add a strategy with a scheme of max_tokens 120 or more, or shorten the sequences");
  instance.lengths = {50};
  instance.constraints.allow_empty = false;
  const Outcome few = solved(instance);
  ASSERT_EQ(few.status, Status::infeasible);
  EXPECT_EQ(few.remedy,
            "plan more sequences in a step, set constraints.allow_empty to true, or add a strategy "
            "of fewer replicas");
  instance.constraints.allow_empty = true;
  const Outcome planned = solved(instance);
  EXPECT_TRUE(planned.plan);
  EXPECT_THAT(planned.remedy, IsEmpty());
}

TEST(Remedy, OfALayout) {
  std::uint64_t raised = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const LayoutInstance instance = tiny_layout(seed);
    Budget budget({.node_limit = 20'000});
    const Outcome outcome = solve(Instance(instance), {}, budget);
    if (outcome.status != Status::infeasible) {
      EXPECT_THAT(outcome.remedy, IsEmpty()) << seed;
      continue;
    }
    ASSERT_FALSE(outcome.remedy.empty()) << seed;
    const auto capacity = number_behind("raise capacity to at least ", outcome.remedy);
    if (!capacity) continue;
    ++raised;
    EXPECT_GT(*capacity, *instance.capacity) << seed;
    // the named amount is necessary, whether or not it is sufficient
    LayoutInstance less = instance;
    less.capacity = *capacity - 1;
    EXPECT_FALSE(solved(less).plan) << seed << outcome.remedy;
  }
  EXPECT_GT(raised, kInstances / 50);
}

}  // namespace
}  // namespace stowage::remedy_test
