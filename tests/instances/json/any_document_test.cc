// Any instance and any plan reads back as itself.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

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

}  // namespace
}  // namespace stowage::json_round_trip_test
