// Assign documents read back as what was written.
#include "instances/assign/json/json.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/instances/json_fixture.h"
#include "tests/instances/random_assign.h"

namespace stowage::assign_json_test {
namespace {

AssignInstance read_or_die(std::string_view text) {
  Result<AssignInstance> read = read_assign_instance(text);
  if (!read) {
    ADD_FAILURE() << to_string(read.errors()[0]);
    return {};
  }
  return *std::move(read);
}

TEST(AssignJson, AnyInstanceAndPlanReadBackAsThemselves) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Draw draw(seed);
    AssignInstance instance = random_assign_instance(draw);
    instance.constraints = {.rows_multiple_of = static_cast<int>(draw.whole(1, 4)),
                            .equal_rows = draw.coin(),
                            .allow_empty = draw.coin()};
    const std::string text = write_assign_instance(instance);
    const AssignInstance read = read_or_die(text);
    ASSERT_EQ(read, instance) << text;
    ASSERT_EQ(write_assign_instance(read), text);
    ASSERT_EQ(instance_hash(read), instance_hash(instance));
    const AssignPlan plan = random_assign_plan(instance, draw);
    const std::string plan_text = write_assign_plan(plan);
    const Result<AssignPlan> plan_read = read_assign_plan(plan_text);
    ASSERT_TRUE(plan_read) << to_string(plan_read.errors()[0]);
    ASSERT_EQ(*plan_read, plan);
    ASSERT_EQ(write_assign_plan(*plan_read), plan_text);
  }
}

TEST(AssignJson, EveryMemberIsReadAndWritten) {
  const AssignInstance read = read_or_die(kValidAssign);
  const AssignInstance expected = {
      .name = "five",
      .devices = 8,
      .schemes = {{.name = "2x2",
                   .tp = 2,
                   .pp = 2,
                   .quadratic_ms = 0.001,
                   .linear_ms = 0.5,
                   .fixed_ms = 3,
                   .max_tokens = 128},
                  {.name = "1x1",
                   .tp = 1,
                   .pp = 1,
                   .quadratic_ms = 0.004,
                   .linear_ms = 2,
                   .fixed_ms = 1,
                   .max_tokens = 64}},
      .strategies = {{.name = "both", .replicas = {1, 4}}, {.name = "small", .replicas = {0, 8}}},
      .constraints = {.rows_multiple_of = 2, .equal_rows = true, .allow_empty = false},
      .pad_multiple = 16,
      .lengths = {100, 50, 30, 20, 10}};
  EXPECT_EQ(read, expected);
  EXPECT_EQ(write_assign_instance(read), R"({
  "format": "stowage/instance",
  "version": 1,
  "problem": "assign",
  "name": "five",
  "devices": 8,
  "schemes": {
    "2x2": {"tp": 2, "pp": 2, "quadratic_ms": 0.001, "linear_ms": 0.5, "fixed_ms": 3, "max_tokens": 128},
    "1x1": {"tp": 1, "pp": 1, "quadratic_ms": 0.004, "linear_ms": 2, "fixed_ms": 1, "max_tokens": 64}
  },
  "strategies": {
    "both": {"2x2": 1, "1x1": 4},
    "small": {"1x1": 8}
  },
  "constraints": {
    "rows_multiple_of": 2,
    "equal_rows": true,
    "allow_empty": false
  },
  "pad_multiple": 16,
  "lengths": [100, 50, 30, 20, 10]
}
)");
}

TEST(AssignJson, TargetsAreReadWrittenAndHashed) {
  const std::string text = with(kValidAssign, "[100, 50, 30, 20, 10]",
                                "[100, 50, 30, 20, 10],\n  \"loss_tokens\": [99, 0, 30, 7, 10]");
  const AssignInstance read = read_or_die(text);
  EXPECT_EQ(read.loss_tokens, (std::vector<Tokens>{99, 0, 30, 7, 10}));
  EXPECT_EQ(read_or_die(write_assign_instance(read)), read);
  EXPECT_EQ(targets_of(read, 3), 7);
  AssignInstance without = read;
  without.loss_tokens.clear();
  EXPECT_EQ(targets_of(without, 3), 20);
  EXPECT_NE(instance_hash(read), instance_hash(without));
  AssignInstance other = read;
  other.loss_tokens[1] = 1;
  EXPECT_NE(instance_hash(read), instance_hash(other));
}

TEST(AssignJson, TheRowConstraintsAndThePaddingHaveDefaults) {
  std::string text = with(kValidAssign, "\"constraints\"", "\"x-constraints\"");
  text = with(text, "\"pad_multiple\"", "\"x-pad_multiple\"");
  const AssignInstance read = read_or_die(text);
  EXPECT_EQ(read.constraints, RowConstraints{});
  EXPECT_EQ(read.pad_multiple, 1);
}

TEST(AssignJson, LengthsMayStandInAList) {
  const std::string text = with(kValidAssign, "[100, 50, 30, 20, 10]",
                                R"({"file": "laws_de.txt", "first": 2, "count": 3})");
  const Result<AssignInstance> read =
      read_assign_instance(text, kInstancesDir / "data" / "lengths");
  ASSERT_TRUE(read) << to_string(read.errors()[0]);
  EXPECT_EQ(read->lengths.size(), 3U);
}

TEST(AssignJson, ExtremesAreLegal) {
  const std::string text =
      R"({"format": "stowage/instance", "version": 1, "problem": "assign", "devices": 1000000,
          "schemes": {"": {"tp": 976, "pp": 1024, "quadratic_ms": 0, "linear_ms": 0,
                           "fixed_ms": 0, "max_tokens": 9007199254740992}},
          "strategies": {"a/b~c": {"": 1, "x-why": "all of it"}}, "lengths": []})";
  const AssignInstance none = read_or_die(text);
  EXPECT_EQ(none.strategies[0].name, "a/b~c");
  EXPECT_TRUE(none.lengths.empty());
  EXPECT_EQ(usable_strategies(none), std::vector<std::size_t>{0});
  const AssignInstance longest = read_or_die(
      with(kValidAssign, "[100, 50, 30, 20, 10]", "[" + std::to_string(kMaxExact) + "]"));
  EXPECT_EQ(unplaceable_sequences(longest), std::vector<std::int64_t>{0});  // infeasible, not wrong
}

TEST(AssignJson, TheHashFollowsTheMeaning) {
  const AssignInstance instance = read_or_die(kValidAssign);
  const auto hash_with = [&](auto change) {
    AssignInstance changed = instance;
    change(changed);
    return instance_hash(changed);
  };
  const std::string hash = instance_hash(instance);
  EXPECT_EQ(hash, "fnv1a64:dd14b94f3a656cef");  // a plan on disk outlives this release
  EXPECT_EQ(hash, hash_with([](auto& i) { i.name = "other"; }));
  const std::vector<std::string> others = {
      hash_with([](auto& i) { i.devices = 9; }),
      hash_with([](auto& i) { i.schemes[0].name = "2x1"; }),
      hash_with([](auto& i) { i.schemes[0].tp = 1; }),
      hash_with([](auto& i) { i.schemes[0].pp = 1; }),
      hash_with([](auto& i) { i.schemes[0].quadratic_ms = 0; }),
      hash_with([](auto& i) { i.schemes[0].linear_ms = 0; }),
      hash_with([](auto& i) { i.schemes[0].fixed_ms = 0; }),
      hash_with([](auto& i) { i.schemes[0].max_tokens = 129; }),
      hash_with([](auto& i) { std::swap(i.schemes[0], i.schemes[1]); }),
      hash_with([](auto& i) { i.strategies[0].name = "all"; }),
      hash_with([](auto& i) { i.strategies[0].replicas[1] = 3; }),
      hash_with([](auto& i) { i.strategies.pop_back(); }),
      hash_with([](auto& i) { i.constraints.rows_multiple_of = 1; }),
      hash_with([](auto& i) { i.constraints.equal_rows = false; }),
      hash_with([](auto& i) { i.constraints.allow_empty = true; }),
      hash_with([](auto& i) { i.pad_multiple = 8; }),
      hash_with([](auto& i) { i.lengths.pop_back(); }),
      hash_with([](auto& i) { std::swap(i.lengths[0], i.lengths[1]); }),
  };
  for (std::size_t a = 0; a < others.size(); ++a) {
    EXPECT_NE(others[a], hash) << a;
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(others[a], others[b]) << a << ' ' << b;
  }
}

TEST(AssignJson, AnOutcomeLendsItsPlan) {
  const Result<AssignPlan> alone = read_assign_plan(kValidAssignPlan);
  const Result<AssignPlan> inside = read_assign_plan(
      "{\"format\": \"stowage/outcome\", \"plan\": " + std::string(kValidAssignPlan) + "}");
  ASSERT_TRUE(alone);
  ASSERT_TRUE(inside);
  EXPECT_EQ(*alone, *inside);
}

TEST(AssignJson, AHundredThousandSequencesRoundTrip) {
  AssignInstance instance = read_or_die(kValidAssign);
  for (std::int64_t i = 0; i < 100'000; ++i) instance.lengths.push_back(1 + i * 7919 % 1000);
  EXPECT_EQ(read_or_die(write_assign_instance(instance)), instance);
}

// Caps of the strategies: 128 and 64; lengths are padded to multiples of 16.
TEST(Assign, OnlyStrategiesThatHoldTheLongestAreUsable) {
  AssignInstance instance = read_or_die(kValidAssign);
  EXPECT_EQ(longest_allowed(instance, instance.strategies[0]), 128);
  EXPECT_EQ(longest_allowed(instance, instance.strategies[1]), 64);
  EXPECT_EQ(usable_strategies(instance), std::vector<std::size_t>{0});
  EXPECT_EQ(unplaceable_sequences(instance), std::vector<std::int64_t>{});
  instance.lengths = {64, 3};
  EXPECT_EQ(usable_strategies(instance), (std::vector<std::size_t>{0, 1}));
  instance.lengths = {64, 113, 128, 65};  // 113 is 128 once padded
  EXPECT_EQ(usable_strategies(instance), std::vector<std::size_t>{0});
  instance.lengths = {129, 64, 500};
  EXPECT_EQ(usable_strategies(instance), std::vector<std::size_t>{});
  EXPECT_EQ(unplaceable_sequences(instance), (std::vector<std::int64_t>{0, 2}));
  instance.lengths = {};
  EXPECT_EQ(usable_strategies(instance), (std::vector<std::size_t>{0, 1}));
  // A scheme in no strategy admits nothing.
  instance.strategies.erase(instance.strategies.begin());
  instance.lengths = {100};
  EXPECT_EQ(unplaceable_sequences(instance), std::vector<std::int64_t>{0});
}

// Replicas are counted per scheme, even if two schemes share a name and the document is refused.
TEST(AssignJson, ASchemeThatStandsTwiceIsAnErrorAndNothingElse) {
  std::string text(kValidAssign);
  const std::size_t at = text.find("\"schemes\": {") + 12;
  for (int twice = 0; twice < 50; ++twice) {
    text.insert(at, R"("again": {"tp": 1, "pp": 1, "quadratic_ms": 0, "linear_ms": 1,
                       "fixed_ms": 0, "max_tokens": 9},)");
  }
  const auto read = read_assign_instance(text);
  ASSERT_FALSE(read);
  for (const InputError& error : read.errors()) {
    EXPECT_NE(to_string(error).find("again"), std::string::npos) << to_string(error);
  }
}

}  // namespace
}  // namespace stowage::assign_json_test
