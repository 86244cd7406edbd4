// Proofs that an assign step has no plan, on both sides of every boundary.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "instances/assign/verify/verify.h"
#include "tests/instances/every_proof.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/tiny_assign.h"

namespace stowage::assign_infeasibility_test {
namespace {

AssignInstance of(std::vector<Tokens> caps, std::vector<Tokens> lengths,
                  const RowConstraints& constraints = {}) {
  AssignInstance instance{.devices = static_cast<int>(caps.size()),
                          .strategies = {{.name = "all", .replicas = {}}},
                          .constraints = constraints,
                          .lengths = std::move(lengths)};
  for (const Tokens cap : caps) {
    instance.schemes.push_back(
        {.name = std::to_string(instance.schemes.size()), .linear_ms = 1, .max_tokens = cap});
    instance.strategies[0].replicas.push_back(1);
  }
  return instance;
}

bool holds(const AssignInstance& instance, const InfeasibilityProof& proof) {
  return check_infeasibility(instance, proof).empty();
}

constexpr RowConstraints kNoneEmpty = {.allow_empty = false};

TEST(AssignInfeasibility, SequencesAreLongerThanEveryCap) {
  EXPECT_FALSE(holds(of({100, 40}, {100}), {.by = "sequences", .witnesses = {0}}));
  EXPECT_TRUE(holds(of({100, 40}, {101}), {.by = "sequences", .witnesses = {0}}));
  EXPECT_FALSE(holds(of({100}, {101, 5}), {.by = "sequences", .witnesses = {0, 1}}));
  EXPECT_FALSE(holds(of({100}, {101}), {.by = "sequences"}));
  EXPECT_FALSE(holds(of({100}, {101}), {.by = "sequences", .witnesses = {1}}));
  EXPECT_FALSE(holds(of({100}, {101}), {.by = "sequences", .witnesses = {-1}}));
  AssignInstance padded = of({100}, {99});
  padded.pad_multiple = 8;
  EXPECT_TRUE(holds(padded, {.by = "sequences", .witnesses = {0}}));
  // A scheme of no replica holds nothing.
  AssignInstance unused = of({100, 40}, {41});
  unused.strategies[0].replicas = {0, 1};
  EXPECT_TRUE(holds(unused, {.by = "sequences", .witnesses = {0}}));
}

// Two stages of 20 tokens hold 34 * 10 bytes of the last part, and 34 * 30 bytes of keys and values
// of 4 bytes: 10 + 255 tokens. The check tolerates one token of rounding.
TEST(AssignInfeasibility, CutSequencesAreLongerThanStagesHaveMemoryFor) {
  AssignInstance cut = of({20}, {265});
  cut.schemes[0].pp = 2;
  cut.devices = 2;
  cut.constraints.chunks = ChunkRule{.size = 10};
  EXPECT_EQ(longest_sequence(cut, cut.schemes[0]), 265);
  EXPECT_FALSE(holds(cut, {.by = "sequences", .witnesses = {0}}));
  cut.lengths = {267};
  EXPECT_TRUE(holds(cut, {.by = "sequences", .witnesses = {0}}));
  // Chunks as long as all stages hold leave nothing for keys and values.
  cut.constraints.chunks = ChunkRule{.size = 20, .retained = 2};
  EXPECT_EQ(longest_sequence(cut, cut.schemes[0]), 40);
  cut.lengths = {40};
  EXPECT_FALSE(holds(cut, {.by = "sequences", .witnesses = {0}}));
  cut.lengths = {42};
  EXPECT_TRUE(holds(cut, {.by = "sequences", .witnesses = {0}}));
  // Chunks longer than a row cut nothing.
  cut.constraints.chunks = ChunkRule{.size = 21};
  cut.lengths = {21};
  EXPECT_TRUE(holds(cut, {.by = "sequences", .witnesses = {0}}));
  cut.lengths = {20};
  EXPECT_FALSE(holds(cut, {.by = "sequences", .witnesses = {0}}));
}

TEST(AssignInfeasibility, RowsAreMoreThanSequences) {
  const InfeasibilityProof rows{.by = "rows"};
  EXPECT_FALSE(holds(of({100, 40}, {40, 50}, kNoneEmpty), rows));
  EXPECT_TRUE(holds(of({100, 40}, {50}, kNoneEmpty), rows));
  EXPECT_TRUE(holds(of({100, 40}, {40, 101}, kNoneEmpty), rows));  // admitted by none
  EXPECT_FALSE(holds(of({100, 40}, {40, 100}, kNoneEmpty), rows));
  // The narrow replica needs a sequence of at most 40 tokens.
  EXPECT_TRUE(holds(of({100, 40}, {41, 50}, kNoneEmpty), rows));
  EXPECT_FALSE(holds(of({100, 40}, {40, 50}), rows));
  EXPECT_TRUE(
      holds(of({100, 100}, {1, 1, 1}, {.rows_multiple_of = 2, .allow_empty = false}), rows));
  EXPECT_FALSE(
      holds(of({100, 100}, {1, 1, 1, 1}, {.rows_multiple_of = 2, .allow_empty = false}), rows));
  EXPECT_TRUE(holds(of({100}, {}, kNoneEmpty), rows));
}

TEST(AssignInfeasibility, OneReplicaHasAsManyRowsAsTheMultiple) {
  const InfeasibilityProof rows{.by = "rows"};
  EXPECT_TRUE(holds(of({100}, {1}, {.rows_multiple_of = 2}), rows));
  EXPECT_FALSE(holds(of({100}, {1, 1}, {.rows_multiple_of = 2}), rows));
  EXPECT_FALSE(holds(of({100}, {}, {.rows_multiple_of = 2}), rows));
}

TEST(AssignInfeasibility, EveryStrategyMustWantRows) {
  AssignInstance two = of({100, 40}, {50}, kNoneEmpty);
  two.strategies.push_back({.name = "one", .replicas = {1, 0}});
  EXPECT_FALSE(holds(two, {.by = "rows"}));
}

// For a feasible step no proof with any name and witnesses is accepted.
TEST(AssignInfeasibility, NoProofRefutesAStepWithAPlan) {
  int feasible = 0;
  int proven = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    AssignInstance instance = tiny_assign(seed, 5);
    if (seed % 3 == 0)
      instance.constraints = {.rows_multiple_of = 1 + static_cast<int>(seed / 3 % 3),
                              .allow_empty = false};
    const bool has_plan = brute_force(instance).has_value();
    feasible += has_plan ? 1 : 0;
    bool some = false;
    for_every_proof({"sequences", "rows"}, instance.lengths.size(), 0,
                    [&](const InfeasibilityProof& proof) {
                      const bool accepted = holds(instance, proof);
                      some = some || accepted;
                      EXPECT_FALSE(has_plan && accepted) << seed << ' ' << proof.by;
                    });
    proven += some ? 1 : 0;
    // A sequence that cannot be placed is a proof.
    const auto unplaceable = unplaceable_sequences(instance);
    if (!unplaceable.empty()) {
      EXPECT_TRUE(holds(instance, {.by = "sequences", .witnesses = unplaceable})) << seed;
    }
  }
  EXPECT_GT(feasible, 100);
  EXPECT_GT(proven, 100);
}

}  // namespace
}  // namespace stowage::assign_infeasibility_test
