// Steps with rows of chunks are solved: bounds and plans against brute force, and edge cases of the
// rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "formulations/assign/chunk_bounds.h"
#include "heuristics/assign/construct/chunked_rows.h"
#include "instances/assign/plan_builder.h"
#include "instances/assign/verify/verify.h"
#include "solvers/solve.h"
#include "tests/chunked_assign.h"

namespace stowage::assign_chunked_test {
namespace {

constexpr Ms kForever = std::numeric_limits<Ms>::infinity();

// Enumerates every dispatch, and every partition of the uncut sequences into rows, without
// shortcuts. Infinite if no plan exists.
class EveryPlan {
 public:
  explicit EveryPlan(const AssignInstance& instance) : instance_(instance) {}

  Ms optimum() {
    for (std::size_t k = 0; k < instance_.strategies.size(); ++k) {
      choices_.clear();
      for (std::size_t g = 0; g < instance_.schemes.size(); ++g) {
        for (int n = 0; n < instance_.strategies[k].replicas[g]; ++n) {
          choices_.push_back({.scheme = static_cast<int>(g)});
        }
      }
      place(static_cast<int>(k), 0);
    }
    return best_;
  }

 private:
  Tokens length(std::int64_t id) const {
    return padded_length(instance_, instance_.lengths[static_cast<std::size_t>(id)]);
  }

  void place(int strategy, std::int64_t id) {
    if (id == static_cast<std::int64_t>(instance_.lengths.size())) {
      const AssignPlan plan = compose_assign(instance_, strategy, choices_);
      if (verify(instance_, plan).empty()) best_ = std::min(best_, plan.objective_ms);
      return;
    }
    for (ReplicaChoice& choice : choices_) {
      const std::size_t rows = choice.rows.size();
      for (std::size_t j = 0; j < rows; ++j) {
        if (length(choice.rows[j].front()) > instance_.constraints.chunks->size) continue;
        if (length(id) > instance_.constraints.chunks->size) continue;
        choice.rows[j].push_back(id);
        place(strategy, id + 1);
        choice.rows[j].pop_back();
      }
      choice.rows.push_back({id});
      place(strategy, id + 1);
      choice.rows.pop_back();
    }
  }

  const AssignInstance& instance_;
  std::vector<ReplicaChoice> choices_;
  Ms best_ = kForever;
};

TEST(AssignChunked, BoundsAndPlansEncloseTheOptimum) {
  int optimal = 0;
  int solved = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Draw draw(seed);
    const AssignInstance instance = chunked_assign(
        draw, {.most_schemes = 2, .most_replicas = 1, .most_sequences = 5, .most_tokens = 60});
    const Ms optimum = EveryPlan(instance).optimum();
    ASSERT_LT(optimum, kForever) << "seed " << seed;
    for (const NamedBound& bound : assign_chunk_bounds(instance)) {
      EXPECT_LE(bound.value, optimum * (1 + 1e-9)) << bound.name << ", seed " << seed;
    }
    for (const Method& method : methods(instance)) {
      Budget budget;
      const Outcome outcome = solve(instance, {.method = method.name}, budget);
      if (!outcome.plan) {
        EXPECT_EQ(method.name, "chunk-flow") << "seed " << seed;
        continue;
      }
      const auto& plan = std::get<AssignPlan>(*outcome.plan);
      EXPECT_TRUE(verify(instance, plan).empty()) << method.name << ", seed " << seed;
      EXPECT_GE(plan.objective_ms, optimum * (1 - 1e-9)) << method.name << ", seed " << seed;
      EXPECT_LE(plan.bound_ms, plan.objective_ms * (1 + 1e-9));
      if (method.name == "auto") {
        EXPECT_EQ(outcome.status, Status::optimal) << "seed " << seed;
        EXPECT_NEAR(plan.objective_ms, optimum, 1e-9 * optimum) << "seed " << seed;
      }
      if (method.name != "fast") continue;
      ++solved;
      optimal += plan.objective_ms <= optimum * (1 + 1e-9);
    }
  }
  EXPECT_EQ(solved, 400);
  EXPECT_GE(optimal, 300);  // of 400
}

// The plan may choose the ends of parts. No bound exceeds the best of all plans, whose parts are
// the best for each assignment and packing of the sequences. No plan is worse than with parts of
// one size.
TEST(AssignChunked, FreeBoundariesKeepBoundsAndPlansTrue) {
  int better = 0;
  int optimal = 0;
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    for (const ChunkBoundaries way : {ChunkBoundaries::least_bubble, ChunkBoundaries::equal_time}) {
      Draw draw(seed);
      const AssignInstance instance = chunked_assign(draw, {.most_schemes = 2,
                                                            .most_replicas = 1,
                                                            .most_sequences = 4,
                                                            .most_tokens = 24,
                                                            .boundaries = way});
      const Ms optimum = EveryPlan(instance).optimum();
      ASSERT_LT(optimum, kForever) << "seed " << seed;
      if (way == ChunkBoundaries::least_bubble) {
        for (const NamedBound& bound : assign_chunk_bounds(instance)) {
          EXPECT_LE(bound.value, optimum * (1 + 1e-9)) << bound.name << ", seed " << seed;
        }
      }
      AssignInstance fixed = instance;
      fixed.constraints.chunks->boundaries = ChunkBoundaries::fixed;
      for (const char* method : {"fast", "auto"}) {
        Budget budget;
        const Outcome outcome = solve(instance, {.method = method}, budget);
        ASSERT_TRUE(outcome.plan) << method << seed;
        const auto& plan = std::get<AssignPlan>(*outcome.plan);
        EXPECT_TRUE(verify(instance, plan).empty()) << method << ", seed " << seed;
        EXPECT_LE(plan.bound_ms, plan.objective_ms * (1 + 1e-9));
        EXPECT_GE(plan.objective_ms, optimum * (1 - 1e-9)) << method << ", seed " << seed;
        Budget same;
        const Outcome without = solve(fixed, {.method = "fast"}, same);
        const Ms before = std::get<AssignPlan>(*without.plan).objective_ms;
        EXPECT_LE(plan.objective_ms, before * (1 + 1e-9)) << method << ", seed " << seed;
        better += plan.objective_ms < 0.99 * before;
        optimal += plan.objective_ms <= optimum * (1 + 1e-9);
      }
    }
  }
  EXPECT_GT(better, 50);
  EXPECT_GT(optimal, 700);  // of 1,000
}

AssignInstance two_stages(Tokens chunk, int retained) {
  AssignInstance instance{
      .name = "stages",
      .devices = 4,
      .schemes = {{.name = "p2",
                   .pp = 2,
                   .quadratic_ms = 0.001,
                   .linear_ms = 1,
                   .fixed_ms = 2,
                   .max_tokens = 40}},
      .strategies = {{.name = "one", .replicas = {1}}, {.name = "two", .replicas = {2}}},
      .lengths = {35, 20, 7, 7, 3, 1}};
  instance.constraints.chunks = {.size = chunk, .retained = retained};
  return instance;
}

const AssignPlan& plan_in(const Outcome& outcome) { return std::get<AssignPlan>(*outcome.plan); }

Outcome solved(const AssignInstance& instance) {
  Budget budget;
  return solve(instance, {}, budget);
}

TEST(AssignChunked, OddChunksArePlanned) {
  for (const Tokens chunk : {1, 2, 7, 34, 35, 36, 40, 41, 1000}) {
    for (const int retained : {1, 2, 35, 1'000'000}) {
      const AssignInstance instance = two_stages(chunk, retained);
      const Outcome outcome = solved(instance);
      ASSERT_TRUE(outcome.plan) << chunk << ' ' << retained;
      EXPECT_TRUE(verify(instance, plan_in(outcome)).empty()) << chunk << ' ' << retained;
      EXPECT_GT(outcome.bound, 0);
      std::int64_t rows = 0;
      for (const AssignReplica& replica : plan_in(outcome).replicas) {
        for (const AssignRow& row : replica.rows) rows += row.tokens == 1;
      }
      if (chunk == 1) {
        EXPECT_EQ(rows, 73);
      }
    }
  }
}

// If no sequence is longer than a chunk, chunks do not change the step.
TEST(AssignChunked, ChunksLongerThanAllSequencesChangeNothing) {
  AssignInstance instance = two_stages(1000, 1);
  const Ms chunked = plan_in(solved(instance)).objective_ms;
  instance.constraints.chunks.reset();
  EXPECT_NEAR(chunked, plan_in(solved(instance)).objective_ms, 1e-9 * chunked);
}

TEST(AssignChunked, CuttingAdmitsWhatNoRowHolds) {
  AssignInstance instance = two_stages(10, 1);
  instance.lengths = {200};
  instance.schemes[0].max_tokens = 20;  // two stages: memory of 40 tokens
  // 34 * 10 + 4 * 190 <= 34 * 40
  const Outcome outcome = solved(instance);
  ASSERT_TRUE(outcome.plan);
  EXPECT_TRUE(verify(instance, plan_in(outcome)).empty());
  instance.constraints.chunks.reset();
  EXPECT_EQ(solved(instance).status, Status::infeasible);
}

TEST(AssignChunked, ASequenceBeyondTheMemoryIsNamed) {
  AssignInstance instance = two_stages(10, 4);
  instance.schemes[0].max_tokens = 20;
  instance.lengths = {5, 40, 41};
  const Outcome outcome = solved(instance);
  EXPECT_EQ(outcome.status, Status::infeasible);
  EXPECT_EQ(outcome.stopped_by, StoppedBy::proof);
  instance.constraints.chunks->key_value_bytes = 34;  // cutting saves nothing
  EXPECT_THAT(solved(instance).unplaceable, testing::ElementsAre(2));
}

// A scheme whose rows are shorter than a chunk holds whole sequences only.
TEST(AssignChunked, ShortRowsHoldWholeSequencesOnly) {
  AssignInstance instance = two_stages(30, 1);
  instance.schemes.push_back({.name = "small", .linear_ms = 0.01, .fixed_ms = 1, .max_tokens = 7});
  instance.strategies = {{.name = "mix", .replicas = {1, 1}}};
  const Outcome outcome = solved(instance);
  ASSERT_TRUE(outcome.plan);
  for (const AssignReplica& replica : plan_in(outcome).replicas) {
    if (replica.scheme != "small") continue;
    EXPECT_FALSE(replica.rows.empty());
    for (const AssignRow& row : replica.rows) EXPECT_FALSE(row.part);
  }
}

TEST(AssignChunked, AStepWithoutSequencesAndOneOfEqualOnes) {
  AssignInstance instance = two_stages(10, 1);
  instance.lengths = {};
  Outcome outcome = solved(instance);
  ASSERT_TRUE(outcome.plan);
  EXPECT_EQ(plan_in(outcome).objective_ms, 0);
  EXPECT_EQ(outcome.status, Status::optimal);
  instance.lengths.assign(50, 10);
  outcome = solved(instance);
  ASSERT_TRUE(outcome.plan);
  EXPECT_TRUE(verify(instance, plan_in(outcome)).empty());
}

// A plan is found under every limit, and a limit only ends the search.
TEST(AssignChunked, NoTimeIsEnoughForAPlan) {
  Draw draw(1);
  AssignInstance instance = two_stages(10, 2);
  for (int i = 0; i < 2000; ++i) instance.lengths.push_back(draw.whole(1, 60));
  for (const double seconds : {0.0, 0.001}) {
    Budget budget({.time_limit_s = seconds});
    const Outcome outcome = solve(instance, {}, budget);
    ASSERT_TRUE(outcome.plan);
    EXPECT_TRUE(verify(instance, plan_in(outcome)).empty());
  }
}

TEST(AssignChunked, TheSameSeedGivesTheSamePlan) {
  Draw draw(7);
  const AssignInstance instance = chunked_assign(draw, {.most_sequences = 60});
  EXPECT_EQ(plan_in(solved(instance)), plan_in(solved(instance)));
}

}  // namespace
}  // namespace stowage::assign_chunked_test
