// Instances built by programs: valid ones pass, and for others the check names the fault.
#include "instances/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "instances/assign/json/json.h"
#include "instances/layout/json/json.h"
#include "instances/order/instance.h"
#include "instances/scatter/json/json.h"
#include "instances/strategy/instance.h"
#include "tests/chunked_assign.h"
#include "tests/instances/random_assign.h"
#include "tests/instances/random_layout.h"
#include "tests/instances/random_scatter_plan.h"

namespace stowage::check_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> told(const Instance& instance) {
  std::vector<std::string> all;
  for (const InputError& error : check(instance)) all.push_back(error.code + ' ' + error.pointer);
  return all;
}

TEST(Check, PassesInstancesOfEveryFamily) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Draw draw(seed);
    EXPECT_THAT(check(random_scatter_instance(draw)), IsEmpty()) << seed;
    EXPECT_THAT(check(random_assign_instance(draw)), IsEmpty()) << seed;
    EXPECT_THAT(check(chunked_assign(draw)), IsEmpty()) << seed;
    EXPECT_THAT(check(random_layout(draw)), IsEmpty()) << seed;
  }
}

ScatterInstance two_devices() {
  return {.name = "two",
          .cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
          .model = {.activation_mib_per_token = 1},
          .cost = {.linear_ms = 0.5},
          .lengths = {64, 80}};
}

TEST(Check, NamesWhatIsWrongWithAScatterInstance) {
  const auto with = [](auto change) {
    ScatterInstance instance = two_devices();
    change(instance);
    return told(instance);
  };
  EXPECT_THAT(with([](auto&) {}), IsEmpty());
  EXPECT_THAT(with([](auto& i) { i.cluster.degrees = {}; }), ElementsAre("E301 /cluster/degrees"));
  EXPECT_THAT(with([](auto& i) {
                i.cluster.degrees = {2, 1};
              }),
              ElementsAre("E301 /cluster/degrees/1"));
  EXPECT_THAT(with([](auto& i) {
                i.cluster.degrees = {1, 4};
              }),
              ElementsAre("E301 /cluster/degrees/1"));
  EXPECT_THAT(with([](auto& i) { i.cluster.devices = 0; }),
              testing::Contains("E205 /cluster/devices"));
  EXPECT_THAT(with([](auto& i) {
                i.lengths = {0, -5};
              }),
              ElementsAre("E205 /lengths/0", "E205 /lengths/1"));
  EXPECT_THAT(with([](auto& i) { i.pad_multiple = 0; }), ElementsAre("E205 /pad_multiple"));
  const auto with_kinds = [&](auto change) {
    return with([&](auto& i) {
      i.cluster.devices = 4;
      i.cluster.devices_per_node = 1;
      i.cluster.degrees = {1, 2};
      i.cluster.kinds = {{"", 2, 2, 100}, {"", 2, 1, 100}};
      change(i);
    });
  };
  EXPECT_THAT(with_kinds([](auto&) {}), IsEmpty());
  EXPECT_THAT(with_kinds([](auto& i) { i.cluster.kinds[0].nodes = 1; }),
              ElementsAre("E309 /cluster/kinds"));
  EXPECT_THAT(with_kinds([](auto& i) { i.cluster.aligned = false; }),
              ElementsAre("E309 /cluster/kinds"));
  EXPECT_THAT(with_kinds([](auto& i) {
                i.cluster.kinds[0].nodes = 1;
                i.cluster.kinds[1].nodes = 3;
              }),
              ElementsAre("E309 /cluster/kinds/1"));
  EXPECT_THAT(with_kinds([](auto& i) { i.cluster.kinds[1].speed = 0; }),
              ElementsAre("E206 /cluster/kinds/1/speed"));
  EXPECT_THAT(with_kinds([](auto& i) {
                i.rules = {.no_idle_ranks = true, .sorted_groups = true, .equal_sequences = true};
              }),
              ElementsAre("E309 /rules/no_idle_ranks", "E309 /rules/sorted_groups",
                          "E309 /rules/equal_sequences"));
  EXPECT_THAT(with([](auto& i) { i.pipeline_stages = 1024; }), IsEmpty());
  EXPECT_THAT(with([](auto& i) { i.pipeline_stages = 0; }), ElementsAre("E205 /pipeline_stages"));
  EXPECT_THAT(with([](auto& i) {
                i.model.recomputation = {{"none", 1}, {"none", 1}, {"", 1}};
              }),
              ElementsAre("E308 /model/recomputation/1/name", "E308 /model/recomputation/2/name"));
  EXPECT_THAT(with([](auto& i) {
                i.model.recomputation = {{"none", 0, 0, -1, 1}};
              }),
              ElementsAre("E206 /model/recomputation/0/activation_mib_per_token",
                          "E206 /model/recomputation/0/quadratic_factor",
                          "E206 /model/recomputation/0/linear_factor"));
  EXPECT_THAT(with([](auto& i) {
                for (char name = 'a'; name < 'j'; ++name) {
                  i.model.recomputation.push_back({std::string(1, name), 1});
                }
              }),
              ElementsAre("E308 /model/recomputation"));
  EXPECT_THAT(with([](auto& i) { i.rules.min_degree = 2; }), IsEmpty());
  EXPECT_THAT(with([](auto& i) { i.rules.min_degree = 3; }), ElementsAre("E301 /rules/min_degree"));
  EXPECT_THAT(
      with([](auto& i) {
        i.rules.micro_batches_multiple_of = 0;
        i.rules.max_tokens_per_rank = 0;
        i.rules.max_sequences_per_group = -1;
      }),
      ElementsAre("E205 /rules/micro_batches_multiple_of", "E205 /rules/max_tokens_per_rank",
                  "E205 /rules/max_sequences_per_group"));
  EXPECT_THAT(with([](auto& i) { i.cost.all_to_all.mib_per_token = 1; }),
              ElementsAre("E303 /cost/all_to_all/mib_per_ms"));
  EXPECT_THAT(with([](auto& i) { i.cost.linear_ms = std::numeric_limits<double>::quiet_NaN(); }),
              ElementsAre("E203 /cost/linear_ms"));
  const auto with_kinds_of_exchange = [&](std::vector<ExchangeKind> kinds) {
    return with([&](auto& i) {
      i.cost.exchange = Exchange{.kinds = {{2, kinds}},
                                 .all_to_all_mib_per_token = 1,
                                 .keys_values_mib_per_token = 1,
                                 .inside_mib_per_ms = 1,
                                 .across_mib_per_ms = 1};
    });
  };
  EXPECT_THAT(with_kinds_of_exchange({ExchangeKind::all_to_all, ExchangeKind::ring}), IsEmpty());
  EXPECT_THAT(with_kinds_of_exchange({ExchangeKind::ring, ExchangeKind::all_to_all}),
              ElementsAre("E305 /cost/exchange/kinds/2"));
  EXPECT_THAT(with_kinds_of_exchange({ExchangeKind::ring, ExchangeKind::ring}),
              ElementsAre("E305 /cost/exchange/kinds/2"));
}

TEST(Check, NamesWhatIsWrongWithAnAssignInstance) {
  const AssignInstance instance{.devices = 2,
                                .schemes = {{.name = "a", .linear_ms = 1, .max_tokens = 8}},
                                .strategies = {{.name = "s", .replicas = {1}}},
                                .lengths = {4}};
  EXPECT_THAT(told(instance), IsEmpty());
  AssignInstance none = instance;
  none.strategies.clear();
  EXPECT_THAT(told(none), testing::SizeIs(1));
  for (const std::vector<int>& replicas : {std::vector<int>{}, {1, 1}, {-1}}) {
    AssignInstance other = instance;
    other.strategies[0].replicas = replicas;
    EXPECT_THAT(told(other), ElementsAre("E205 /strategies/s"));
  }
}

TEST(Check, NamesWhatIsWrongWithALayoutInstance) {
  const LayoutInstance instance{.buffers = {{.id = "a", .lower = 0, .upper = 1, .size = 8}}};
  EXPECT_THAT(told(instance), IsEmpty());
  LayoutInstance other = instance;
  other.buffers[0].upper = 0;
  EXPECT_THAT(told(other), ElementsAre("E331 /buffers/0/upper"));
  other = instance;
  other.buffers[0].size = -1;
  EXPECT_THAT(told(other), ElementsAre("E205 /buffers/0/size_bytes"));
  other = instance;
  other.alignment = 0;
  EXPECT_THAT(told(other), ElementsAre("E205 /alignment"));
}

// A document with a table has no other terms, so a check of the document alone would not see them.
TEST(Check, SeesWhatATableHides) {
  const auto with = [](auto change) {
    ScatterInstance instance = two_devices();
    instance.cost = {};
    instance.cost.table[1] = {{0, 100}, {0, 10000}, {1, 2, 3, 4}};
    instance.cost.table[2] = {{0, 200}, {0, 40000}, {1, 2, 3, 4}};
    change(instance.cost);
    EXPECT_FALSE(write_scatter_instance(instance).empty());
    return told(instance);
  };
  EXPECT_THAT(with([](auto&) {}), IsEmpty());
  EXPECT_THAT(with([](auto& c) { c.quadratic_ms = 1; }), ElementsAre("E310 /cost/quadratic_ms"));
  EXPECT_THAT(with([](auto& c) { c.linear_ms = -1; }), ElementsAre("E310 /cost/linear_ms"));
  EXPECT_THAT(with([](auto& c) { c.fixed_ms = std::numeric_limits<double>::quiet_NaN(); }),
              ElementsAre("E310 /cost/fixed_ms"));
  EXPECT_THAT(with([](auto& c) { c.all_to_all.mib_per_token = 1; }),
              ElementsAre("E310 /cost/all_to_all"));
  EXPECT_THAT(with([](auto& c) { c.all_to_all.latency_ms[2] = 1; }),
              ElementsAre("E310 /cost/all_to_all"));
  EXPECT_THAT(with([](auto& c) { c.sequence_fixed_ms = 1; }),
              ElementsAre("E310 /cost/sequence_fixed_ms"));
  EXPECT_THAT(with([](auto& c) { c.split_ms = 1; }), ElementsAre("E310 /cost/split_ms"));
  for (const Tokens tile : {0, 1000}) {
    EXPECT_THAT(with([&](auto& c) { c.tile_tokens = tile; }),
                ElementsAre("E310 /cost/tile_tokens"));
  }
  EXPECT_THAT(with([](auto& c) { c.window.tokens = 5; }), ElementsAre("E310 /cost/window"));
  EXPECT_THAT(with([](auto& c) { c.exchange = Exchange{}; }), ElementsAre("E310 /cost/exchange"));
  for (const std::size_t times : {0, 1, 3, 5, 8}) {
    EXPECT_THAT(with([&](auto& c) { c.table[2].ms.assign(times, 1); }),
                ElementsAre("E310 /cost/table/2/ms"))
        << times;
  }
  EXPECT_THAT(with([](auto& c) { c.table[1].tokens = {}; }), ElementsAre("E310 /cost/table/1/ms"));
  EXPECT_THAT(with([](auto& c) {
                c.table[1].squares = {};
                c.table[1].ms = {};
              }),
              testing::Not(IsEmpty()));
  EXPECT_THAT(with([](auto& c) { c.table[1] = {}; }), testing::Not(IsEmpty()));
}

TEST(Check, SeesWhatAnExchangeOrAWindowHides) {
  ScatterInstance instance = two_devices();
  instance.cost.window.tokens = -1;
  EXPECT_THAT(told(instance), ElementsAre("E205 /cost/window/tokens"));
  instance.cost.window.tokens = 100;
  EXPECT_THAT(told(instance), IsEmpty());
  instance.cost.exchange = Exchange{.kinds = {{2, {ExchangeKind::all_to_all}}},
                                    .all_to_all_mib_per_token = 1,
                                    .inside_mib_per_ms = 1};
  EXPECT_THAT(told(instance), IsEmpty());
  instance.cost.all_to_all.mib_per_token = -1;
  EXPECT_THAT(told(instance), ElementsAre("E305 /cost/all_to_all"));
}

// Writers replace bytes that are not UTF-8 by question marks. So two names could become equal, and
// the document would describe another instance.
TEST(Check, NamesAreUtf8) {
  for (const std::string name : {"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\xaf", "x\x9b"}) {
    ScatterInstance scatter = two_devices();
    scatter.name = name;
    scatter.model.recomputation = {{name, 1}};
    EXPECT_THAT(told(scatter), ElementsAre("E102 /name", "E102 /model/recomputation/0/name"));
    ScatterInstance kinds = two_devices();
    kinds.cluster.devices_per_node = 1;
    kinds.cluster.kinds = {{name, 2, 1, 100}};
    EXPECT_THAT(told(kinds), ElementsAre("E102 /cluster/kinds/0/name"));
    const AssignInstance assign{.name = name,
                                .devices = 2,
                                .schemes = {{.name = name, .linear_ms = 1, .max_tokens = 8}},
                                .strategies = {{.name = name, .replicas = {1}}},
                                .lengths = {4}};
    EXPECT_THAT(told(assign), ElementsAre(testing::StartsWith("E102 /name"),
                                          testing::StartsWith("E102 /schemes/"),
                                          testing::StartsWith("E102 /strategies/")));
    const LayoutInstance layout{.name = name,
                                .buffers = {{.id = name, .lower = 0, .upper = 1, .size = 8}},
                                .layers = {{.name = name}}};
    EXPECT_THAT(told(layout),
                ElementsAre("E102 /name", "E102 /buffers/0/id", "E102 /layers/0/name"));
    const OrderInstance order{.name = name,
                              .tensors = {{.id = name, .size = 1}},
                              .operators = {{.id = name, .writes = {0}}}};
    EXPECT_THAT(told(order),
                ElementsAre("E102 /name", "E102 /tensors/0/id", "E102 /operators/0/id"));
    StrategyInstance strategy{.name = name, .lengths = {64}};
    strategy.model.blocks = {{.name = name}};
    EXPECT_THAT(told(strategy), ElementsAre("E102 /name", "E102 /model/blocks/0/name"));
  }
}

// Every name in valid UTF-8 is accepted, including control characters.
TEST(Check, NamesMayHoldAnyCharacter) {
  for (const std::string& name : {std::string("\0", 1), std::string("\x1b[1m\n"),
                                  std::string("\xe2\x80\xae\xef\xbb\xbf\xf3\xa0\x81\x81")}) {
    LayoutInstance layout{.name = name,
                          .buffers = {{.id = name, .lower = 0, .upper = 1, .size = 8}}};
    EXPECT_THAT(told(layout), IsEmpty());
    EXPECT_EQ(*read_layout_instance(write_layout_instance(layout)), layout);
  }
}

// A reader skips members with such names, so the document would describe another step.
TEST(Check, NoSchemeOrStrategyHasTheNameOfARemark) {
  AssignInstance instance{.devices = 2,
                          .schemes = {{.name = "a", .linear_ms = 1, .max_tokens = 8},
                                      {.name = "x-b", .linear_ms = 1, .max_tokens = 8}},
                          .strategies = {{.name = "s", .replicas = {1, 1}}},
                          .lengths = {4}};
  EXPECT_THAT(told(instance), ElementsAre("E202 /schemes/x-b"));
  instance.schemes[1].name = "b";
  instance.strategies.push_back({.name = "x-s", .replicas = {1, 0}});
  EXPECT_THAT(told(instance), ElementsAre("E202 /strategies/x-s"));
  // the writer must not read a scheme that does not exist
  instance.strategies[1].replicas = {1, 1, 1};
  EXPECT_FALSE(write_assign_instance(instance).empty());
}

}  // namespace
}  // namespace stowage::check_test
