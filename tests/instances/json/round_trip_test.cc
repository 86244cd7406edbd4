// Written documents are read back unchanged.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "instances/document/header.h"
#include "instances/scatter/json/json.h"
#include "tests/instances/json_fixture.h"

namespace stowage::json_round_trip_test {
namespace {

ScatterInstance read_or_die(std::string_view text) {
  Result<ScatterInstance> read = read_scatter_instance(text);
  if (!read) {
    ADD_FAILURE() << to_string(read.errors()[0]);
    return {};
  }
  return *std::move(read);
}

TEST(JsonRoundTrip, ReadingFillsInDefaultsAndWritingSpellsThemOut) {
  const ScatterInstance read = read_or_die(R"({
    "lengths": [7], "x-mine": {"any": ["thing"]},
    "cost": {"fixed_ms": 1, "linear_ms": 2.5e0, "quadratic_ms": 0, "x-": 1},
    "model": {"activation_mib_per_token": 4.5, "states_mib": -0},
    "cluster": {"memory_mib": 64, "devices": 6},
    "problem": "scatter", "version": 1, "format": "stowage/instance"})");
  const ScatterInstance expected = {
      .cluster = {.devices = 6, .memory_mib = 64, .degrees = {1, 2, 4}},
      .model = {.activation_mib_per_token = 4.5},
      .cost = {.linear_ms = 2.5, .fixed_ms = 1},
      .lengths = {7}};
  EXPECT_EQ(read, expected);
  EXPECT_EQ(write_scatter_instance(read), R"({
  "format": "stowage/instance",
  "version": 1,
  "problem": "scatter",
  "name": "",
  "cluster": {
    "devices": 6,
    "devices_per_node": 8,
    "memory_mib": 64,
    "degrees": [1, 2, 4],
    "aligned": true
  },
  "model": {
    "states_mib": 0,
    "activation_mib_per_token": 4.5
  },
  "cost": {
    "quadratic_ms": 0,
    "linear_ms": 2.5,
    "fixed_ms": 1,
    "all_to_all": {
      "mib_per_token": 0,
      "mib_per_ms": {},
      "latency_ms": {}
    }
  },
  "pad_multiple": 1,
  "lengths": [7]
}
)");
}

TEST(JsonRoundTrip, ExtremesAreLegal) {
  EXPECT_EQ(read_or_die(with(kValidInstance, "[100, 80, 60, 20]", "[]")).lengths.size(), 0U);
  EXPECT_EQ(read_or_die(with(kValidInstance, "[100, 80, 60, 20]", "[9007199254740992]")).lengths,
            std::vector<Tokens>{kMaxExact});
  EXPECT_EQ(read_or_die(with(kValidInstance, "\"states_mib\": 20", "\"states_mib\": 100"))
                .model.states_mib,
            100);  // no room for a token: infeasible, not wrong
  EXPECT_EQ(read_or_die(with(kValidInstance,
                             "\"mib_per_token\": 1, \"mib_per_ms\": {\"2\": 8, \"4\": 4},",
                             "\"mib_per_token\": 0,"))
                .cost.all_to_all.mib_per_ms.size(),
            0U);
  const std::string any_degree = with(
      with(with(kValidInstance, "true", "false"), "[1, 2, 4]", "[2, 3]"), "\"4\": 4", "\"3\": 4");
  EXPECT_EQ(read_or_die(any_degree).cluster.degrees, (std::vector<int>{2, 3}));
  EXPECT_EQ(read_or_die(with(kValidInstance, "\"4\": 4", "\"4\": 4, \"x-8\": null, \"8\": 2"))
                .cost.all_to_all.mib_per_ms.size(),
            3U);
}

TEST(JsonRoundTrip, NestingOf64IsLegal) {
  std::string nest;
  for (int i = 0; i < 63; ++i) nest += '[';
  for (int i = 0; i < 63; ++i) nest += ']';
  read_or_die(with(kValidInstance, "\"four\"", "\"four\", \"x-nest\": " + nest));
}

TEST(JsonRoundTrip, LengthsMayComeFromAFileBesideTheInstance) {
  const std::string text =
      with(kValidInstance, "[100, 80, 60, 20]",
           "{\"file\": \"../../lengths/laws_de.txt\", \"first\": 2, \"count\": 3, \"x-why\": 1}");
  const Result<ScatterInstance> read =
      read_scatter_instance(text, kInstancesDir / "data/scatter/tiny");
  ASSERT_TRUE(read) << to_string(read.errors()[0]);
  EXPECT_EQ(read->lengths, (std::vector<Tokens>{1961, 1373, 3932}));
}

TEST(JsonRoundTrip, TheHashFollowsTheMeaning) {
  const ScatterInstance instance = read_or_die(kValidInstance);
  const auto hash_with = [&](auto change) {
    ScatterInstance changed = instance;
    change(changed);
    return instance_hash(changed);
  };
  const std::string hash = instance_hash(instance);
  EXPECT_EQ(hash, "fnv1a64:db8caf5cf40cfa42");  // a plan on disk outlives this release
  EXPECT_EQ(hash, hash_with([](auto& i) { i.name = "other"; }));
  EXPECT_EQ(hash, hash_with([](auto& i) { i.cluster.devices_per_node = 1; }));
  EXPECT_EQ(hash, hash_with([](auto&) {}));
  const std::vector<std::string> others = {
      hash_with([](auto& i) { i.cluster.devices = 5; }),
      hash_with([](auto& i) { i.cluster.memory_mib = std::nextafter(100.0, 101.0); }),
      hash_with([](auto& i) {
        i.cluster.degrees = {1, 2};
      }),
      hash_with([](auto& i) { i.cluster.aligned = false; }),
      hash_with([](auto& i) {
        i.cluster.kinds = {{"", 1, 1, 100}};
      }),
      hash_with([](auto& i) {
        i.cluster.kinds = {{"", 1, 2, 100}};
      }),
      hash_with([](auto& i) {
        i.cluster.kinds = {{"", 1, 1, 200}};
      }),
      hash_with([](auto& i) { i.model.states_mib = 1; }),
      hash_with([](auto& i) { i.model.activation_mib_per_token = 2; }),
      hash_with([](auto& i) { i.model.sequence_mib = 1; }),
      hash_with([](auto& i) { i.model.logits_mib_per_token = 1; }),
      hash_with([](auto& i) {
        i.model.logits_mib_per_token = 1;
        i.model.logits_chunk_tokens = 1;
      }),
      hash_with([](auto& i) { i.model.keys_values_mib_per_token = 1; }),
      hash_with([](auto& i) {
        i.model.offload = {1, 1, 1};
      }),
      hash_with([](auto& i) {
        i.model.offload = {0.5, 1, 1};
      }),
      hash_with([](auto& i) {
        i.model.offload = {1, 2, 1};
      }),
      hash_with([](auto& i) {
        i.model.offload = {1, 1, 2};
      }),
      hash_with([](auto& i) {
        i.model.offload = {1, 1, 1, 0};
      }),
      hash_with([](auto& i) {
        i.model.offload = {1, 1, 1, 5};
      }),
      hash_with([](auto& i) {
        i.model.offload = {1, 1, 1, std::nullopt, 0.5};
      }),
      hash_with([](auto& i) {
        i.model.recomputation = {{"none", 1}};
      }),
      hash_with([](auto& i) {
        i.model.recomputation = {{"full", 1}};
      }),
      hash_with([](auto& i) {
        i.model.recomputation = {{"none", 2}};
      }),
      hash_with([](auto& i) {
        i.model.recomputation = {{"none", 1, 2}};
      }),
      hash_with([](auto& i) {
        i.model.recomputation = {{"none", 1, 1, 2}};
      }),
      hash_with([](auto& i) {
        i.model.recomputation = {{"none", 1, 1, 1, 2}};
      }),
      hash_with([](auto& i) { i.cost.quadratic_ms = 0; }),
      hash_with([](auto& i) { i.cost.linear_ms = 0; }),
      hash_with([](auto& i) { i.cost.fixed_ms = 0; }),
      hash_with([](auto& i) { i.cost.split_ms = 1; }),
      hash_with([](auto& i) { i.cost.split_ms = 2; }),
      hash_with([](auto& i) { i.cost.all_to_all.mib_per_token = 2; }),
      hash_with([](auto& i) { i.cost.all_to_all.mib_per_ms[2] = 9; }),
      hash_with([](auto& i) { i.cost.all_to_all.latency_ms[2] = 9; }),
      hash_with([](auto& i) { i.pad_multiple = 8; }),
      hash_with([](auto& i) { i.rules.no_idle_ranks = true; }),
      hash_with([](auto& i) { i.rules.sorted_groups = true; }),
      hash_with([](auto& i) { i.rules.micro_batches_multiple_of = 2; }),
      hash_with([](auto& i) { i.rules.min_degree = 2; }),
      hash_with([](auto& i) { i.rules.max_tokens_per_rank = 70; }),
      hash_with([](auto& i) { i.rules.max_sequences_per_group = 70; }),
      hash_with([](auto& i) { i.rules.equal_sequences = true; }),
      hash_with([](auto& i) { i.rules.packed = false; }),
      hash_with([](auto& i) { i.pipeline_stages = 2; }),
      hash_with([](auto& i) { i.pipeline_stages = 3; }),
      hash_with([](auto& i) { i.lengths.push_back(1); }),
      hash_with([](auto& i) { std::swap(i.lengths[0], i.lengths[1]); }),
  };
  for (std::size_t a = 0; a < others.size(); ++a) {
    EXPECT_NE(others[a], hash) << a;
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(others[a], others[b]) << a << ' ' << b;
  }
}

TEST(JsonRoundTrip, AnOutcomeLendsItsPlan) {
  const Result<ScatterPlan> alone = read_scatter_plan(kValidPlan);
  ASSERT_TRUE(alone);
  const Result<ScatterPlan> inside = read_scatter_plan(
      "{\"format\": \"stowage/outcome\", \"gap\": null, \"plan\": " + std::string(kValidPlan) +
      "}");
  ASSERT_TRUE(inside);
  EXPECT_EQ(*alone, *inside);
}

TEST(JsonRoundTrip, TheHeadIsReadWithoutTheRest) {
  const Head expected{.format = "stowage/plan", .version = 1, .problem = "scatter", .name = "four"};
  const Result<Head> head = read_head(kValidPlan);
  ASSERT_TRUE(head);
  EXPECT_EQ(*head, expected);
  // The reader stops after the four keys.
  const Result<Head> broken = read_head(with(kValidPlan, "\"objective_ms\": 40.5", "oops"));
  ASSERT_TRUE(broken);
  EXPECT_EQ(*broken, expected);
  // The keys may be in any order, and the name may be missing.
  const Result<Head> late = read_head(
      R"({"lengths": [1, {"format": "no"}], "problem": "scatter", "version": 1,
          "format": "stowage/instance"})");
  ASSERT_TRUE(late);
  EXPECT_EQ(late->format, "stowage/instance");
  EXPECT_EQ(late->name, "");
}

TEST(JsonRoundTrip, HalfAMillionLengthsRoundTrip) {
  ScatterInstance instance = read_or_die(kValidInstance);
  for (Tokens i = 0; i < 500000; ++i) instance.lengths.push_back(1 + i * 7919 % 99991);
  const Result<ScatterInstance> read = read_scatter_instance(write_scatter_instance(instance));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, instance);
}

}  // namespace
}  // namespace stowage::json_round_trip_test
