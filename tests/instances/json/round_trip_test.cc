// Written documents are read back unchanged. Longer than 300 lines: a generator for each kind of
// document.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "instances/document/header.h"
#include "instances/json/limits.h"
#include "instances/scatter/json/json.h"
#include "tests/instances/json_fixture.h"

namespace stowage::json_round_trip_test {
namespace {

// The cases are the same in every run; RC_PARAMS in the environment takes precedence.
[[maybe_unused]] const int kFixedSeed = setenv("RC_PARAMS", "seed=20241203 max_success=300", 0);

std::string any_name() {
  static const std::vector<std::string> kPieces = {"a",    "Z",        "\"",
                                                   "\\",   "/",        "\n",
                                                   "\t",   "\x01",     " ",
                                                   "\x7F", "\xC3\xA4", "\xE2\x82\xAC",
                                                   "\r",   "0",        "\xF0\x9F\x9A\xA2",
                                                   "x-"};
  std::string name;
  for (const std::string& piece :
       *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(kPieces))) {
    name += piece;
  }
  return name;
}

// A number from `least` to 2^53 whose decimal text may need all its 17 digits.
double any_number(double least) {
  const auto mantissa = static_cast<double>(*rc::gen::inRange<std::int64_t>(0, kMaxExact));
  const int exponent = *rc::gen::inRange(-1074, 1);
  return std::max(least, std::ldexp(mantissa, exponent));
}

ScatterInstance any_instance() {
  ScatterInstance instance;
  instance.name = any_name();
  Cluster& cluster = instance.cluster;
  cluster.devices = *rc::gen::inRange(1, 5000);
  cluster.devices_per_node = *rc::gen::inRange(1, 64);
  cluster.memory_mib = any_number(0);
  cluster.aligned = *rc::gen::arbitrary<bool>();
  for (int d = *rc::gen::inRange(1, 4); d <= cluster.devices;) {
    cluster.degrees.push_back(d);
    d = cluster.aligned ? d * *rc::gen::inRange(2, 5) : d + *rc::gen::inRange(1, 900);
  }
  if (cluster.degrees.empty()) cluster.degrees = {1};
  instance.model = {.states_mib = any_number(0), .activation_mib_per_token = any_number(1e-300)};
  if (*rc::gen::arbitrary<bool>()) instance.model.sequence_mib = any_number(0);
  if (*rc::gen::arbitrary<bool>()) instance.model.keys_values_mib_per_token = any_number(0);
  if (*rc::gen::arbitrary<bool>()) {
    instance.model.logits_mib_per_token = any_number(1e-300);
    if (*rc::gen::arbitrary<bool>())
      instance.model.logits_chunk_tokens = *rc::gen::inRange<Tokens>(1, kMaxExact);
  }
  if (*rc::gen::arbitrary<bool>()) {
    for (const char* name : {"none", "some", "full"}) {
      instance.model.recomputation.push_back({.name = name,
                                              .activation_mib_per_token = any_number(1e-300),
                                              .quadratic_factor = any_number(1e-300),
                                              .linear_factor = any_number(1e-300),
                                              .exchange_factor = any_number(1e-300)});
    }
  }
  ScatterCost& cost = instance.cost;
  cost = {.quadratic_ms = any_number(0), .linear_ms = any_number(0), .fixed_ms = any_number(0)};
  if (*rc::gen::arbitrary<bool>()) cost.split_ms = any_number(0);
  cost.all_to_all.mib_per_token = any_number(0);
  for (const int degree : cluster.degrees) {
    cost.all_to_all.mib_per_ms[degree] = any_number(1e-9);
    if (*rc::gen::arbitrary<bool>()) cost.all_to_all.latency_ms[degree] = any_number(0);
  }
  if (*rc::gen::arbitrary<bool>()) {
    const auto limit = [] {
      return *rc::gen::arbitrary<bool>() ? kMaxExact : *rc::gen::inRange<std::int64_t>(1, 9000);
    };
    instance.rules = {.no_idle_ranks = *rc::gen::arbitrary<bool>(),
                      .sorted_groups = *rc::gen::arbitrary<bool>(),
                      .micro_batches_multiple_of = *rc::gen::inRange<std::int64_t>(1, 9),
                      .min_degree = *rc::gen::inRange(1, cluster.degrees.back() + 1),
                      .max_tokens_per_rank = limit(),
                      .max_sequences_per_group = limit(),
                      .equal_sequences = *rc::gen::arbitrary<bool>(),
                      .packed = *rc::gen::arbitrary<bool>()};
  }
  if (*rc::gen::arbitrary<bool>()) instance.pipeline_stages = *rc::gen::inRange(1, 1025);
  const bool one_at_a_time = instance.pipeline_stages > 1 || !instance.rules.packed;
  if (!one_at_a_time && instance.model.sequence_mib == 0 && *rc::gen::arbitrary<bool>()) {
    ActivationOffload offload{.mib_per_token = instance.model.activation_mib_per_token,
                              .out_mib_per_ms = any_number(1e-9),
                              .in_mib_per_ms = any_number(1e-9),
                              .forward_share = 0.125 * *rc::gen::inRange(0, 9)};
    if (*rc::gen::arbitrary<bool>()) offload.host_mib = any_number(0);
    instance.model.offload = offload;
  }
  instance.pad_multiple = *rc::gen::inRange<Tokens>(1, 5000);
  instance.lengths =
      *rc::gen::container<std::vector<Tokens>>(rc::gen::inRange<Tokens>(1, kMaxExact / 100000));
  return instance;
}

ScatterPlan any_plan() {
  const auto number = [] {
    const double value = *rc::gen::arbitrary<double>();
    const double scaled = std::ldexp(value, *rc::gen::inRange(-600, 600));
    return std::isfinite(scaled) ? scaled : 0.0;
  };
  const auto ids =
      rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, kMaxExact));
  ScatterPlan plan{.name = any_name(),
                   .instance_hash = any_name(),
                   .objective_ms = number(),
                   .bound_ms = number(),
                   .bound_by = any_name()};
  plan.micro_batches.resize(*rc::gen::inRange<std::size_t>(0, 4));
  for (ScatterMicroBatch& micro_batch : plan.micro_batches) {
    micro_batch.makespan_ms = number();
    micro_batch.groups.resize(*rc::gen::inRange<std::size_t>(0, 4));
    for (ScatterGroup& group : micro_batch.groups) {
      group = {.degree = *rc::gen::inRange(0, kMaxDevices + 1),
               .first_rank = *rc::gen::inRange(0, kMaxDevices + 1),
               .sequences = *ids,
               .tokens = *rc::gen::inRange<Tokens>(0, kMaxExact),
               .time_ms = number(),
               .cu_seqlens = *ids,
               .offload = number()};
    }
  }
  return plan;
}

void fail_with(const std::vector<InputError>& errors) {
  for (const InputError& error : errors) RC_LOG() << to_string(error) << '\n';
  RC_FAIL("was not read back");
}

TEST(JsonRoundTrip, AnyInstanceReadsBackAsItself) {
  EXPECT_TRUE(rc::check([] {
    const ScatterInstance instance = any_instance();
    const std::string text = write_scatter_instance(instance);
    const Result<ScatterInstance> read = read_scatter_instance(text);
    if (!read) fail_with(read.errors());
    RC_ASSERT(*read == instance);
    RC_ASSERT(write_scatter_instance(*read) == text);
    RC_ASSERT(instance_hash(*read) == instance_hash(instance));
  }));
}

TEST(JsonRoundTrip, AnyPlanReadsBackAsItself) {
  EXPECT_TRUE(rc::check([] {
    const ScatterPlan plan = any_plan();
    const std::string text = write_scatter_plan(plan);
    const Result<ScatterPlan> read = read_scatter_plan(text);
    if (!read) fail_with(read.errors());
    RC_ASSERT(*read == plan);
    RC_ASSERT(write_scatter_plan(*read) == text);
  }));
}

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
