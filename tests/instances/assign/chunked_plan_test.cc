// Plans whose rows are chunks: their composition, their verification and their documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "instances/assign/chunks/chunk_flow.h"
#include "instances/assign/json/json.h"
#include "instances/assign/plan_builder.h"
#include "instances/assign/verify/verify.h"
#include "instances/json/limits.h"
#include "instances/violation.h"
#include "tests/chunked_assign.h"
#include "tests/instances/assign/cut_plans.h"
#include "tests/instances/json_fixture.h"

namespace stowage::assign_chunked_plan_test {
namespace {

// ChunkFlow's example: sequences of 4, 2, 1 and 1 units on four stages, chunks of 2, two retained.
AssignInstance published() {
  AssignInstance instance{
      .name = "published",
      .devices = 8,
      .schemes = {{.name = "pp4", .pp = 4, .linear_ms = 3, .max_tokens = 2}},
      .strategies = {{.name = "one", .replicas = {1}}, {.name = "two", .replicas = {2}}},
      .lengths = {4, 2, 1, 1}};
  instance.constraints.chunks = {.size = 2, .retained = 2};
  return instance;
}

TEST(ChunkedPlan, ThePublishedExampleEndsAfter46Units) {
  const AssignInstance instance = published();
  const AssignPlan composed = compose_assign(instance, 0, {{0, {{0}, {1}, {2, 3}}}});
  EXPECT_EQ(composed.simulated_1f1b_ms, 44);  // with the cut sequence first
  EXPECT_TRUE(verify(instance, composed).empty()) << all_of(verify(instance, composed));
  const AssignPlan plan = parts_last(instance, composed);
  EXPECT_TRUE(verify(instance, plan).empty()) << all_of(verify(instance, plan));
  EXPECT_EQ(plan.simulated_1f1b_ms, 46);
  const std::vector<AssignRow>& rows = plan.replicas.front().rows;
  ASSERT_EQ(rows.size(), 4U);
  const PipelineRun run = run_chunks(chunks_of(instance, rows), instance.schemes.front(), 2, {});
  EXPECT_EQ(run.end, 46);
  EXPECT_NEAR(run.bubble(), 0.478, 5e-4);
  EXPECT_EQ(rows[2].part, (TokenRange{0, 2}));
  EXPECT_EQ(rows[3].part, (TokenRange{2, 4}));
  EXPECT_EQ(plan.objective_ms, 4 * 6 + 3 * 6);  // the estimate
}

// Two independent implementations agree on the times of random plans: the simulator and the
// verifier's own.
TEST(ChunkedPlan, ComposedPlansAreValid) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Draw draw(seed);
    const AssignInstance instance = chunked_assign(draw);
    const AssignPlan plan = chunked_plan(instance, draw);
    const auto violations = verify(instance, plan);
    ASSERT_TRUE(violations.empty()) << "seed " << seed << '\n' << all_of(violations);
  }
}

// The time of a last part of few tokens after very many is the difference of two large squares.
TEST(ChunkedPlan, TimesOfPartsFarBehindAreExact) {
  for (const Tokens size : {Tokens{50'000'000}, Tokens{3'000'000'000}}) {
    for (const Tokens rest : {1, 2, 3, 97}) {
      AssignInstance instance{
          .devices = 2,
          .schemes = {{.name = "g", .pp = 2, .quadratic_ms = 1e-9, .max_tokens = size}},
          .strategies = {{.name = "s", .replicas = {1}}},
          .lengths = {2 * size + rest}};
      instance.constraints.chunks = {.size = size, .retained = 1};
      const AssignPlan plan = compose_assign(instance, 0, {{.scheme = 0, .rows = {{0}}}});
      EXPECT_EQ(all_of(verify(instance, plan)), "") << size << " and " << rest;
      const auto last = static_cast<double>(rest * (4 * size + rest)) * 1e-9;
      EXPECT_DOUBLE_EQ(plan.replicas[0].rows.back().time_ms, last);
    }
  }
}

// The memory rule considers one sequence at a time, yet no stage ever holds more for any order of
// the rows: 1F1B has as many rows in flight as there are stages left, or one sequence.
TEST(ChunkedPlan, NoStageHoldsMoreThanItsMemory) {
  std::int64_t cut = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Draw draw(seed);
    const AssignInstance instance = chunked_assign(draw);
    const ChunkRule& rule = *instance.constraints.chunks;
    for (const AssignReplica& replica : chunked_plan(instance, draw).replicas) {
      const Scheme& scheme = *std::ranges::find(instance.schemes, replica.scheme, &Scheme::name);
      const PipelineRun run = run_chunks(
          chunks_of(instance, replica.rows), scheme, static_cast<std::size_t>(rule.retained),
          {.activation = rule.activation_bytes, .key_value = rule.key_value_bytes});
      for (const AssignRow& row : replica.rows) cut += row.part.has_value();
      for (const Bytes held : run.memory) {
        ASSERT_LE(held, scheme.pp * scheme.max_tokens * rule.activation_bytes) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(cut, 3000);
}

TEST(ChunkedPlan, LongestSequenceIsWhereTheMemoryEnds) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Draw draw(seed);
    const AssignInstance instance = chunked_assign(draw);
    const ChunkRule& rule = *instance.constraints.chunks;
    for (const Scheme& scheme : instance.schemes) {
      const Tokens longest = longest_sequence(instance, scheme);
      if (rule.size > scheme.max_tokens) {
        EXPECT_EQ(longest, scheme.max_tokens);
        continue;
      }
      const auto fits = [&](Tokens length) {
        const Tokens kept = std::min(length, rule.size * rule.retained);
        return rule.activation_bytes * kept + rule.key_value_bytes * (length - kept) <=
               rule.activation_bytes * scheme.pp * scheme.max_tokens;
      };
      EXPECT_TRUE(fits(longest)) << "seed " << seed;
      EXPECT_FALSE(fits(longest + 1)) << "seed " << seed;
    }
  }
}

TEST(ChunkedPlan, LongestSequenceOfTheLargestNumbers) {
  AssignInstance instance{.schemes = {{.name = "g", .pp = 1024, .max_tokens = kMaxExact}}};
  instance.constraints.chunks = {
      .size = 1, .retained = 1, .activation_bytes = 1000, .key_value_bytes = 1};
  EXPECT_EQ(longest_sequence(instance, instance.schemes[0]), kMaxExact);
  instance.constraints.chunks->size = kMaxExact;
  instance.constraints.chunks->retained = 1'000'000;
  EXPECT_EQ(longest_sequence(instance, instance.schemes[0]), kMaxExact);
}

TEST(ChunkedPlan, CutCostIsThatOfTheChunks) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Draw draw(seed);
    const ChunkRule rule{.size = draw.whole(1, 30), .retained = static_cast<int>(draw.whole(1, 6))};
    const Scheme scheme{.pp = 2,
                        .quadratic_ms = draw.coin() ? 0 : draw.real(0, 1),
                        .linear_ms = draw.real(0, 1),
                        .fixed_ms = draw.real(0, 5)};
    const Tokens length = rule.size + draw.whole(1, 200);
    CutCost want;
    for (const Chunk& chunk : cut_into_chunks({length}, rule.size)) {
      const Ms time = chunk_pass_ms(chunk, scheme, static_cast<std::size_t>(rule.retained));
      ++want.chunks;
      want.sum += time;
      want.longest = std::max(want.longest, time);
    }
    const CutCost have = cut_cost(length, rule, scheme);
    EXPECT_EQ(have.chunks, want.chunks);
    EXPECT_NEAR(have.sum, want.sum, 1e-9 * want.sum);
    EXPECT_NEAR(have.longest, want.longest, 1e-9 * want.longest) << "seed " << seed;
  }
}

TEST(ChunkedPlan, ReadsBackAsItself) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Draw draw(seed);
    const AssignInstance instance = chunked_assign(draw);
    const AssignPlan plan = chunked_plan(instance, draw);
    const std::string text = write_assign_instance(instance);
    const Result<AssignInstance> read = read_assign_instance(text);
    ASSERT_TRUE(read) << to_string(read.errors()[0]);
    ASSERT_EQ(*read, instance);
    ASSERT_EQ(instance_hash(*read), instance_hash(instance));
    const Result<AssignPlan> plan_read = read_assign_plan(write_assign_plan(plan));
    ASSERT_TRUE(plan_read) << to_string(plan_read.errors()[0]);
    ASSERT_EQ(*plan_read, plan);
  }
}

// Plans that choose the ends of parts are read, written and verified like others, and need no more
// memory. Parts of equal size are one choice.
TEST(ChunkedPlan, PartsMayEndWhereThePlanSays) {
  std::int64_t uneven = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    for (const ChunkBoundaries way : {ChunkBoundaries::equal_time, ChunkBoundaries::least_bubble}) {
      Draw draw(seed);
      AssignInstance instance = chunked_assign(draw, {.most_tokens = 60, .boundaries = way});
      const ChunkRule& rule = *instance.constraints.chunks;
      ASSERT_EQ(*read_assign_instance(write_assign_instance(instance)), instance);
      AssignPlan plan = chunked_plan(instance, draw);
      ASSERT_EQ(all_of(verify(instance, plan)), "") << "seed " << seed;
      ASSERT_EQ(*read_assign_plan(write_assign_plan(plan)), plan);
      for (const AssignReplica& replica : plan.replicas) {
        const Scheme& scheme = *std::ranges::find(instance.schemes, replica.scheme, &Scheme::name);
        const PipelineRun run = run_chunks(
            chunks_of(instance, replica.rows), scheme, static_cast<std::size_t>(rule.retained),
            {.activation = rule.activation_bytes, .key_value = rule.key_value_bytes});
        for (const AssignRow& row : replica.rows) {
          uneven += row.part && row.part->begin % rule.size != 0;
        }
        for (const Bytes held : run.memory) {
          ASSERT_LE(held, scheme.pp * scheme.max_tokens * rule.activation_bytes) << "seed " << seed;
        }
      }
      const AssignInstance free = instance;
      instance.constraints.chunks->boundaries = ChunkBoundaries::fixed;
      plan = chunked_plan(instance, draw);
      ASSERT_EQ(all_of(verify(free, plan)), "") << "seed " << seed;
    }
  }
  EXPECT_GT(uneven, 1000);
}

TEST(ChunkedPlan, TheHashFollowsTheRule) {
  const AssignInstance instance = three_cuts();
  std::set<std::string> hashes{instance_hash(instance)};
  AssignInstance other = instance;
  other.constraints.chunks.reset();
  hashes.insert(instance_hash(other));
  for (const auto& change : std::vector<std::function<void(ChunkRule&)>>{
           [](ChunkRule& rule) { rule.size = 9; }, [](ChunkRule& rule) { rule.retained = 2; },
           [](ChunkRule& rule) { rule.activation_bytes = 11; },
           [](ChunkRule& rule) { rule.key_value_bytes = 4; },
           [](ChunkRule& rule) { rule.boundaries = ChunkBoundaries::equal_time; },
           [](ChunkRule& rule) { rule.boundaries = ChunkBoundaries::least_bubble; }}) {
    other = instance;
    change(*other.constraints.chunks);
    hashes.insert(instance_hash(other));
  }
  EXPECT_EQ(hashes.size(), 8U);
}

std::string errors_with(const std::string& constraints) {
  std::string text = write_assign_instance(published());
  const std::size_t from = text.find("\"constraints\": ") + 15;
  const std::size_t to = text.find("\"pad_multiple\"");
  text = text.substr(0, from) + constraints + ",\n  " + text.substr(to);
  const Result<AssignInstance> read = read_assign_instance(text);
  std::string lines;
  if (!read) {
    for (const InputError& error : read.errors()) lines += to_string(error) + '\n';
  }
  return lines;
}

TEST(ChunkedPlan, WrongRulesAreNamed) {
  using testing::HasSubstr;
  using testing::IsEmpty;
  EXPECT_THAT(errors_with(R"({"chunks": {"size_tokens": 2}})"), IsEmpty());
  EXPECT_THAT(errors_with(R"({"chunks": {"size_tokens": 2, "x-mine": []}})"), IsEmpty());
  EXPECT_THAT(errors_with(R"({"chunks": {}})"), HasSubstr("E201 /constraints/chunks/size_tokens"));
  EXPECT_THAT(errors_with(R"({"chunks": 2})"), HasSubstr("E203 /constraints/chunks"));
  EXPECT_THAT(errors_with(R"({"chunks": null})"), HasSubstr("E203 /constraints/chunks"));
  EXPECT_THAT(errors_with(R"({"chunks": {"size": 2}})"),
              HasSubstr("E202 /constraints/chunks/size"));
  EXPECT_THAT(errors_with(R"({"chunks": {"size_tokens": 0}})"), HasSubstr("E205"));
  EXPECT_THAT(errors_with(R"({"chunks": {"size_tokens": 1.5}})"), HasSubstr("E204"));
  EXPECT_THAT(errors_with(R"({"chunks": {"size_tokens": 2, "retained": 0}})"),
              HasSubstr("E205 /constraints/chunks/retained"));
  EXPECT_THAT(errors_with(R"({"chunks": {"size_tokens": 2, "activation_bytes": 3}})"),
              HasSubstr("E346 /constraints/chunks/key_value_bytes"));
  EXPECT_THAT(errors_with(R"({"chunks": {"size_tokens": 2}, "rows_multiple_of": 2})"),
              HasSubstr("E345 /constraints/rows_multiple_of"));
  EXPECT_THAT(errors_with(R"({"chunks": {"size_tokens": 2}, "equal_rows": true})"),
              HasSubstr("E345 /constraints/equal_rows"));
  EXPECT_THAT(errors_with(R"({"chunks": {"size_tokens": 2}, "allow_empty": false})"),
              HasSubstr("E345 /constraints/allow_empty"));
}

TEST(ChunkedPlan, AStepOfTooManyPartsIsRefused) {
  AssignInstance instance = published();
  instance.constraints.chunks->size = 1;
  instance.lengths = {kMaxParts};
  EXPECT_TRUE(read_assign_instance(write_assign_instance(instance)));
  instance.lengths = {kMaxParts, 2};
  const Result<AssignInstance> read = read_assign_instance(write_assign_instance(instance));
  ASSERT_FALSE(read);
  EXPECT_THAT(to_string(read.errors()[0]), testing::HasSubstr("E108 /constraints/chunks"));
}

TEST(ChunkedPlan, RangesAreTwoTokens) {
  const AssignInstance instance = published();
  const std::string text =
      write_assign_plan(compose_assign(instance, 0, {{0, {{0}, {1}, {2, 3}}}}));
  const std::size_t at = text.find("\"token_range\": ");
  ASSERT_NE(at, std::string::npos);
  const std::size_t end = text.find(']', at) + 1;
  for (const std::string wrong : {"[]", "[0]", "[0, 1, 2]", "2", "null", "[0, -1]", "[0, 1.5]"}) {
    std::string broken = text;
    broken.replace(at, end - at, "\"token_range\": " + wrong);
    EXPECT_FALSE(read_assign_plan(broken)) << wrong;
  }
}

}  // namespace
}  // namespace stowage::assign_chunked_plan_test
