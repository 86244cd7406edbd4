// Order documents: what is written is read back, and every error has its code and place.
#include "instances/order/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/check.h"
#include "instances/order/generate/generate.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"
#include "tests/instances/json_fixture.h"
#include "tests/tiny_order.h"

namespace stowage::order_json_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The errors of the document after a replacement.
std::string error_of(std::string_view from, std::string_view to) {
  const auto read = read_order_instance(with(kValidOrder, from, to));
  std::string all;
  if (!read) {
    for (const InputError& error : read.errors()) all += to_string(error) + '\n';
  }
  return all;
}

TEST(OrderJson, ReadsNamesAsIndices) {
  const auto read = read_order_instance(kValidOrder);
  ASSERT_TRUE(read) << to_string(read.errors()[0]);
  const OrderInstance expected{
      .name = "three",
      .capacity = 4096,
      .alignment = 64,
      .tensors = {{.id = "x", .size = 100, .input = true},
                  {.id = "w", .size = 64, .input = true, .output = true},
                  {.size = 200},
                  {.id = "y", .size = 8, .output = true}},
      .operators = {{.id = "f", .reads = {0, 1}, .writes = {2}, .workspace = 10},
                    {.reads = {2}, .writes = {3}, .after = {0}},
                    {.id = "step", .reads = {2}, .updates = {1}}}};
  EXPECT_EQ(*read, expected);
  const auto again = read_order_instance(write_order_instance(expected));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, expected);
}

TEST(OrderJson, WhatIsWrittenIsReadBack) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const OrderInstance graph = tiny_order(seed);
    const std::string text = write_order_instance(graph);
    const auto read = read_order_instance(text);
    ASSERT_TRUE(read) << seed << to_string(read.errors()[0]);
    EXPECT_EQ(*read, graph) << seed;
    EXPECT_EQ(instance_hash(*read), instance_hash(graph));
    EXPECT_TRUE(is_well_formed(graph)) << seed;
  }
  const OrderPlan plan{
      .name = "p", .instance_hash = "h", .peak_bytes = 9, .bound_by = "cut", .order = {2, 0, 1}};
  const auto read = read_order_plan(write_order_plan(plan));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, plan);
}

TEST(OrderJson, EveryErrorHasItsCodeAndPlace) {
  EXPECT_THAT(error_of("\"id\": \"w\"", "\"id\": \"x\""), HasSubstr("E371 /tensors/1/id"));
  EXPECT_THAT(error_of("\"id\": \"w\"", "\"id\": \"2\""), HasSubstr("E371 /tensors/2/id"));
  EXPECT_THAT(error_of("\"id\": \"step\"", "\"id\": \"1\""), HasSubstr("E371 /operators/2/id"));
  EXPECT_THAT(error_of("[\"x\", \"w\"]", "[\"x\", \"v\"]"), HasSubstr("E372 /operators/0/reads/1"));
  EXPECT_THAT(error_of("\"after\": [\"f\"]", "\"after\": [\"g\"]"),
              HasSubstr("E372 /operators/1/after/0: must be the id of an operator"));
  EXPECT_THAT(error_of("\"writes\": [\"y\"]", "\"writes\": [\"2\"]"),
              HasSubstr("E373 /operators/1/writes/0"));
  EXPECT_THAT(error_of("\"writes\": [\"y\"]", "\"writes\": [\"x\"]"), HasSubstr("E373"));
  EXPECT_THAT(error_of("\"writes\": [\"y\"], ", ""), HasSubstr("E374 /tensors/3"));
  EXPECT_THAT(error_of("[\"x\", \"w\"]", "[\"x\", \"y\"]"),
              HasSubstr("E375 /operators/0: must not wait for itself, is in a cycle: \"f\" after "
                        "\"1\" after \"f\""));
  EXPECT_THAT(error_of("\"size_bytes\": 200", "\"size_bytes\": 9007199254740900"),
              HasSubstr("E376 /tensors/2/size_bytes"));
  EXPECT_THAT(error_of("\"workspace_bytes\": 10", "\"workspace_bytes\": 9007199254740900"),
              HasSubstr("E376 /operators/0/workspace_bytes"));
  EXPECT_THAT(error_of("\"size_bytes\": 8", "\"size_bytes\": -8"), HasSubstr("E205"));
  EXPECT_THAT(error_of("\"reads\": [\"x\", \"w\"]", "\"reads\": \"x\""), HasSubstr("E203"));
  EXPECT_THAT(error_of("\"reads\": [\"x\", \"w\"]", "\"reads\": [0]"), HasSubstr("E203"));
  EXPECT_THAT(error_of("\"input\": true}", "\"inputs\": true}"), HasSubstr("E202"));
  EXPECT_THAT(error_of("\"tensors\"", "\"x-tensors\""), HasSubstr("E201 /tensors"));
}

TEST(OrderJson, TimesAndRunsAgainAreRead) {
  OrderInstance graph = *read_order_instance(kValidOrder);
  graph.objective = OrderObjective::time;
  graph.operators[0].ms = 1.5;
  graph.operators[1].recompute = true;
  const std::string text = write_order_instance(graph);
  EXPECT_THAT(text, HasSubstr("\"objective\": \"time\""));
  const auto read = read_order_instance(text);
  ASSERT_TRUE(read) << to_string(read.errors()[0]);
  EXPECT_EQ(*read, graph);
  EXPECT_TRUE(is_well_formed(graph));
  const OrderPlan plan{.name = "p",
                       .instance_hash = "h",
                       .peak_bytes = 9,
                       .time_ms = 2.5,
                       .bound_ms = 2,
                       .bound_by = "work",
                       .order = {2, 0, 0}};
  EXPECT_EQ(*read_order_plan(write_order_plan(plan)), plan);
  graph.operators[2].recompute = true;
  EXPECT_FALSE(is_well_formed(graph));
  const auto refused = read_order_instance(write_order_instance(graph));
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.errors()[0]), HasSubstr("E377 /operators/2/recompute"));
  EXPECT_THAT(error_of("\"workspace_bytes\": 10", "\"ms\": -1"), HasSubstr("E206"));
  EXPECT_THAT(error_of("\"alignment\"", "\"objective\": \"speed\", \"alignment\""),
              HasSubstr("/objective"));
}

// An operator that reads its own output waits for itself.
TEST(OrderJson, ACycleOfOneIsNamed) {
  const OrderInstance graph{.tensors = {{.size = 1}},
                            .operators = {{.id = "loop", .reads = {0}, .writes = {0}}}};
  const auto read = read_order_instance(write_order_instance(graph));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.errors()[0].code, "E375");
  EXPECT_THAT(read.errors()[0].message, HasSubstr("\"loop\" after \"loop\""));
}

TEST(OrderJson, IndicesInMemoryAreCheckedBeforeAnythingElse) {
  const OrderInstance valid = *read_order_instance(kValidOrder);
  EXPECT_THAT(check(valid), IsEmpty());
  const auto expect_hidden = [&](auto change, const std::string& pointer) {
    OrderInstance graph = valid;
    change(graph);
    const std::vector<InputError> errors = check(graph);
    ASSERT_FALSE(errors.empty());
    EXPECT_EQ(errors[0].code, "E372");
    EXPECT_EQ(errors[0].pointer, pointer);
  };
  expect_hidden([](auto& g) { g.operators[0].reads[1] = 4; }, "/operators/0/reads/1");
  expect_hidden([](auto& g) { g.operators[0].writes[0] = -1; }, "/operators/0/writes/0");
  expect_hidden([](auto& g) { g.operators[2].updates[0] = 9; }, "/operators/2/updates/0");
  expect_hidden([](auto& g) { g.operators[1].after[0] = 3; }, "/operators/1/after/0");
}

TEST(OrderJson, TheHashForgetsNamesAndNothingElse) {
  const OrderInstance valid = *read_order_instance(kValidOrder);
  OrderInstance named = valid;
  named.name = "other";
  named.tensors[0].id = "z";
  named.operators[1].id = "g";
  EXPECT_EQ(instance_hash(named), instance_hash(valid));
  const auto expect_other = [&](auto change) {
    OrderInstance graph = valid;
    change(graph);
    EXPECT_NE(instance_hash(graph), instance_hash(valid));
  };
  expect_other([](auto& g) { g.capacity.reset(); });
  expect_other([](auto& g) { g.alignment = 1; });
  expect_other([](auto& g) { ++g.tensors[0].size; });
  expect_other([](auto& g) { g.tensors[0].output = true; });
  expect_other([](auto& g) { ++g.operators[0].workspace; });
  expect_other([](auto& g) { g.operators[1].after.clear(); });
  expect_other([](auto& g) { g.operators[1].ms = 1; });
  expect_other([](auto& g) { g.operators[1].recompute = true; });
  expect_other([](auto& g) { g.objective = OrderObjective::time; });
  expect_other([](auto& g) { std::swap(g.operators[2].reads, g.operators[2].updates); });
}

TEST(OrderGenerate, EveryKindIsSoundAndTheSameAgain) {
  using Kind = OrderGenerator::Kind;
  for (const Kind kind :
       {Kind::transformer, Kind::recompute, Kind::accumulate, Kind::experts, Kind::chunked,
        Kind::randwire, Kind::layered, Kind::layered_local, Kind::vgg, Kind::unet}) {
    for (const std::int64_t operators : {1, 100, 1000}) {
      const OrderGenerator wanted{.kind = kind, .operators = operators, .seed = 5};
      const auto made = generate_order(wanted);
      const bool random =
          kind == Kind::randwire || kind == Kind::layered || kind == Kind::layered_local;
      ASSERT_TRUE(made) << to_string(made.errors()[0]);
      EXPECT_THAT(check(*made), IsEmpty()) << made->name;
      EXPECT_EQ(*made, *generate_order(wanted));
      const auto read = read_order_instance(write_order_instance(*made));
      ASSERT_TRUE(read) << to_string(read.errors()[0]);
      EXPECT_EQ(*read, *made);
      const auto other = generate_order({.kind = kind, .operators = operators, .seed = 6});
      if (random && operators > 1) {
        EXPECT_NE(other->operators, made->operators);
      }
      if (operators < 1000) continue;
      EXPECT_NEAR(static_cast<double>(made->operators.size()), 1000, 60) << made->name;
    }
  }
}

// A share of the peak of the list's order is the capacity of the least time.
TEST(OrderGenerate, NetworksHaveTimesAndRunAgain) {
  const OrderInstance peak = *generate_order({.kind = OrderGenerator::Kind::vgg});
  const OrderInstance time =
      *generate_order({.kind = OrderGenerator::Kind::vgg, .operators = 1, .capacity_share = 0.5});
  EXPECT_EQ(peak.objective, OrderObjective::peak);
  EXPECT_EQ(time.objective, OrderObjective::time);
  const OrderTable table(time);
  const double whole = static_cast<double>(peak_of(table, table.program_order()));
  EXPECT_EQ(*time.capacity, static_cast<Bytes>(0.5 * whole));
  EXPECT_EQ(time.operators.size(), 44U);  // 13 convolutions, 5 pools, 3 full layers, the loss
  for (std::size_t k = 0; k < time.operators.size(); ++k) {
    EXPECT_GT(time.operators[k].ms, 0);
    EXPECT_EQ(time.operators[k].recompute, k < 22);
  }
  for (const double share : {-1.0, 1.5}) {
    EXPECT_EQ(generate_order({.kind = OrderGenerator::Kind::unet, .capacity_share = share})
                  .errors()[0]
                  .code,
              "E504");
  }
  EXPECT_FALSE(generate_order({.capacity_share = 0.5}));
}

TEST(OrderGenerate, OptionsOutOfRangeAreNamed) {
  const auto made = generate_order({.operators = 0, .tokens = 0, .alignment = 0});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.errors().size(), 3U);
  for (const InputError& error : made.errors()) EXPECT_EQ(error.code, "E504");
}

}  // namespace
}  // namespace stowage::order_json_test
