// Transfers to a host and back: their documents, and each of their rules kept and broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "instances/check.h"
#include "instances/order/generate/generate.h"
#include "instances/order/json/json.h"
#include "instances/order/memory/lifetimes.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/memory/transfer_times.h"
#include "instances/order/plan_builder.h"
#include "instances/order/validate.h"
#include "instances/order/verify/verify.h"

namespace stowage::order_transfers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// f makes a, which g and y read; between them m and n need much memory. 20 bytes take 2 ms out and
// 4 ms back.
OrderInstance graph() {
  return {.name = "away",
          .capacity = 40,
          .objective = OrderObjective::time,
          .tensors = {{.id = "x", .size = 5, .input = true},
                      {.id = "a", .size = 20},
                      {.id = "b", .size = 2},
                      {.id = "c", .size = 30},
                      {.id = "d", .size = 1},
                      {.id = "y", .size = 1, .output = true}},
          .operators = {{.id = "f", .reads = {0}, .writes = {1}, .ms = 2},
                        {.id = "g", .reads = {1}, .writes = {2}, .ms = 3},
                        {.id = "m", .reads = {2}, .writes = {3}, .ms = 1},
                        {.id = "n", .reads = {3}, .writes = {4}, .ms = 1},
                        {.id = "h", .reads = {1, 4, 0}, .writes = {5}, .ms = 1}},
          .host = HostLink{.out_bytes_per_ms = 10, .in_bytes_per_ms = 5, .capacity = 20}};
}

// a is transferred out while g runs, and back after n: h waits for it from 7 to 11.
OrderPlan plan() {
  return {.name = "away",
          .instance_hash = instance_hash(graph()),
          .peak_bytes = 37,
          .time_ms = 12,
          .bound_ms = 8,
          .bound_by = "work",
          .order = {0, 1, 2, 3, 4},
          .transfers = {{.tensor = 1, .out = 1, .freed = 2, .in = 4}}};
}

using Rules = std::vector<std::string>;

template <class Change>
Rules broken(Change change) {
  OrderInstance instance = graph();
  OrderPlan its = plan();
  change(instance, its);
  Rules rules;
  for (const Violation& violation : verify(instance, its)) rules.push_back(violation.rule);
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

TEST(OrderTransfers, DocumentsHoldThemAndHashesSeeTheHost) {
  const auto read = read_order_instance(write_order_instance(graph()));
  ASSERT_TRUE(read) << to_string(read.errors()[0]);
  EXPECT_EQ(*read, graph());
  EXPECT_TRUE(is_well_formed(graph()));
  EXPECT_EQ(*read_order_plan(write_order_plan(plan())), plan());
  OrderPlan copy = plan();
  copy.transfers.push_back({.tensor = 0, .freed = 1, .in = 4});
  EXPECT_EQ(*read_order_plan(write_order_plan(copy)), copy);
  const auto expect_other = [](auto change) {
    OrderInstance other = graph();
    change(other);
    EXPECT_NE(instance_hash(other), instance_hash(graph()));
  };
  expect_other([](auto& g) { g.host.reset(); });
  expect_other([](auto& g) { g.host->out_bytes_per_ms = 11; });
  expect_other([](auto& g) { g.host->in_bytes_per_ms = 6; });
  expect_other([](auto& g) { g.host->capacity.reset(); });
  expect_other([](auto& g) { g.host->capacity = 0; });
}

// The hash of graphs without a host must not change.
TEST(OrderTransfers, WithoutAHostTheHashIsWhatItWas) {
  OrderInstance alone = graph();
  alone.host.reset();
  alone.capacity = 400;
  EXPECT_EQ(instance_hash(alone), "fnv1a64:624d7633eaa3423e");
  EXPECT_THAT(write_order_instance(alone), ::testing::Not(HasSubstr("host")));
}

TEST(OrderTransfers, WrongHostsAreRefused) {
  const std::string text = write_order_instance(graph());
  const auto error = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    const auto read = read_order_instance(changed);
    return read ? std::string("none") : to_string(read.errors()[0]);
  };
  EXPECT_THAT(error("\"out_bytes_per_ms\": 10", "\"out_bytes_per_ms\": 0"),
              HasSubstr("E206 /host/out_bytes_per_ms"));
  EXPECT_THAT(error("\"in_bytes_per_ms\": 5", "\"in_bytes_per_ms\": -5"),
              HasSubstr("E206 /host/in_bytes_per_ms"));
  EXPECT_THAT(error("\"in_bytes_per_ms\": 5, ", ""), HasSubstr("/host/in_bytes_per_ms"));
  EXPECT_THAT(error("\"capacity_bytes\": 20", "\"capacity_bytes\": 0.5"),
              HasSubstr("/host/capacity_bytes"));
  EXPECT_THAT(error("\"capacity_bytes\": 20", "\"room\": 20"), HasSubstr("/host/room"));
  OrderInstance growing = graph();
  growing.objective = OrderObjective::peak;
  growing.tokens = {1, 4};
  EXPECT_FALSE(is_well_formed(growing));
  const auto refused = read_order_instance(write_order_instance(growing));
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.errors()[0]), HasSubstr("E378 /host"));
  OrderInstance still = graph();
  still.host->in_bytes_per_ms = 0;
  EXPECT_FALSE(is_well_formed(still));
}

TEST(OrderTransfers, AValidPlanBreaksNoRuleAndIsTimedByHand) {
  EXPECT_THAT(verify(graph(), plan()), IsEmpty());
  const OrderTable table(graph());
  const std::vector<int> steps = {0, 1, 2, 3, 4};
  const TransferTimes times = transfer_times(table, steps, plan().transfers);
  EXPECT_EQ(times.outs[0].begin, 2);
  EXPECT_EQ(times.outs[0].end, 4);
  EXPECT_EQ(times.ins[0].begin, 7);
  EXPECT_EQ(times.ins[0].end, 11);
  EXPECT_EQ(times.runs[4].begin, 11);
  EXPECT_EQ(times.time_ms, 12);
  EXPECT_EQ(times.stall_ms, 4);
  EXPECT_THAT(needs_of(table, steps, plan().transfers), ElementsAre(25, 27, 37, 36, 27));
  const HostUse use = host_use(table, steps, plan().transfers);
  EXPECT_EQ(use.out_bytes, 20);
  EXPECT_EQ(use.in_bytes, 20);
  EXPECT_EQ(use.peak_bytes, 20);
  const std::vector<TensorLife> lives = lifetimes(table, plan().order, plan().transfers);
  EXPECT_THAT(lives, ElementsAre(TensorLife{0, 0, 4}, TensorLife{1, 0, 1}, TensorLife{1, 4, 4},
                                 TensorLife{2, 1, 2}, TensorLife{3, 2, 3}, TensorLife{4, 3, 4},
                                 TensorLife{5, 4, 4}));
}

TEST(OrderTransfers, EachRuleIsBrokenAlone) {
  const auto moved = [](OrderTransfer transfer) {
    return broken([&](auto&, auto& p) { p.transfers = {transfer}; });
  };
  const Rules transfers = {"transfers"};
  EXPECT_EQ(broken([](auto& i, auto&) { i.host.reset(); }), transfers);
  EXPECT_EQ(moved({.tensor = 6, .out = 1, .freed = 2, .in = 4}), transfers);
  EXPECT_EQ(moved({.tensor = -1, .out = 1, .freed = 2, .in = 4}), transfers);
  EXPECT_EQ(moved({.tensor = 1, .out = -1, .freed = 2, .in = 4}), transfers);
  EXPECT_EQ(moved({.tensor = 1, .out = 3, .freed = 2, .in = 4}), transfers);
  EXPECT_EQ(moved({.tensor = 1, .out = 1, .freed = 4, .in = 4}), transfers);
  EXPECT_EQ(moved({.tensor = 0, .out = 0, .freed = 0, .in = 4}), transfers);
  EXPECT_EQ(moved({.tensor = 1, .out = 1, .freed = 2, .in = 5}), transfers);
  // Transfers of a tensor that is not yet written, is used while it is away, is never copied, or
  // comes back without a reader.
  EXPECT_EQ(moved({.tensor = 1, .out = 0, .freed = 2, .in = 4}), transfers);
  EXPECT_EQ(moved({.tensor = 1, .out = 1, .freed = 1, .in = 4}), transfers);
  EXPECT_EQ(moved({.tensor = 1, .freed = 2, .in = 4}), transfers);
  EXPECT_EQ(moved({.tensor = 2, .out = 3, .freed = 3, .in = 4}), transfers);
  EXPECT_EQ(broken([](auto&, auto& p) { p.transfers.push_back(p.transfers[0]); }), transfers);
  EXPECT_EQ(broken([](auto&, auto& p) { p.transfers.clear(); }),
            (Rules{"capacity", "peak", "time_ms"}));
  EXPECT_EQ(broken([](auto& i, auto&) { i.capacity = 36; }), Rules{"capacity"});
  EXPECT_EQ(broken([](auto& i, auto&) { i.host->capacity = 19; }), Rules{"host"});
  EXPECT_EQ(broken([](auto& i, auto&) { i.host->capacity.reset(); }), Rules{});
  EXPECT_EQ(broken([](auto&, auto& p) { p.peak_bytes = 36; }), Rules{"peak"});
  EXPECT_EQ(broken([](auto&, auto& p) { p.time_ms = 11.9; }), Rules{"time_ms"});
  EXPECT_EQ(broken([](auto&, auto& p) { p.time_ms = 8; }), Rules{"time_ms"});
  EXPECT_EQ(broken([](auto& i, auto&) { i.host->in_bytes_per_ms = 4; }), Rules{"time_ms"});
  const auto peak = [](auto& i, auto& p) {
    i.objective = OrderObjective::peak;
    p.time_ms.reset();
    p.bound_ms = 0;
    p.bound_bytes = 37;
  };
  EXPECT_EQ(broken(peak), Rules{"stalls"});
  EXPECT_EQ(broken([&](auto& i, auto& p) {
              peak(i, p);
              i.host->in_bytes_per_ms = 20;  // 1 ms, while n runs
              p.transfers[0].in = 3;
              p.peak_bytes = p.bound_bytes = 56;
              i.capacity.reset();
            }),
            Rules{});
  // An output without readers is back after the last run.
  EXPECT_EQ(broken([&](auto& i, auto& p) {
              peak(i, p);
              i.tensors[1].output = true;
              i.operators[4].reads = {4, 0};
            }),
            Rules{"stalls"});
  // The same wait, for every unit of time.
  for (const double times : {1e-9, 1e9}) {
    EXPECT_EQ(broken([&](auto& i, auto& p) {
                peak(i, p);
                for (OrderOperator& op : i.operators) op.ms *= times;
                i.host->out_bytes_per_ms /= times;
                i.host->in_bytes_per_ms /= times;
              }),
              Rules{"stalls"})
        << times;
  }
}

// A copy is valid until the tensor is updated or recomputed; a tensor that stays may come back
// unused.
TEST(OrderTransfers, CopiesServeWhileTheyAreTrue) {
  OrderInstance one{.objective = OrderObjective::time,
                    .tensors = {{.size = 8, .input = true, .output = true}, {.size = 1}},
                    .operators = {{.reads = {0}, .writes = {1}, .ms = 1},
                                  {.ms = 1},
                                  {.reads = {0}, .ms = 1},
                                  {.reads = {1}, .ms = 1},
                                  {.ms = 1}},
                    .host = HostLink{.out_bytes_per_ms = 8, .in_bytes_per_ms = 8}};
  const auto rules = [&](std::vector<OrderTransfer> transfers) {
    const OrderTable table(one);
    const OrderPlan its = compose_order(one, table, std::vector<int>{0, 1, 2, 3, 4}, transfers);
    Rules found;
    for (const Violation& violation : verify(one, its)) found.push_back(violation.rule);
    return found;
  };
  const OrderTransfer first{.tensor = 0, .out = 0, .freed = 1, .in = 2};
  const OrderTransfer second{.tensor = 0, .freed = 3, .in = 4};
  EXPECT_EQ(rules({first}), Rules{});
  EXPECT_EQ(rules({first, second}), Rules{});
  EXPECT_EQ(rules({second}), Rules{"transfers"});
  EXPECT_EQ(rules({first, {.tensor = 0, .out = 3, .freed = 3, .in = 4}}), Rules{"transfers"});
  one.operators[2].reads.clear();
  one.operators[2].updates = {0};
  EXPECT_EQ(rules({first, second}), Rules{"transfers"});
  EXPECT_EQ(rules({first, {.tensor = 0, .out = 3, .freed = 3, .in = 4}}), Rules{});
  // The host held the copies one after the other.
  EXPECT_EQ(
      host_use(OrderTable(one), std::vector<int>{0, 1, 2, 3, 4},
               std::vector<OrderTransfer>{first, {.tensor = 0, .out = 3, .freed = 3, .in = 4}})
          .peak_bytes,
      8);
}

// A tensor that came back is touched before it is made again.
TEST(OrderTransfers, NothingComesBackToBeOverwritten) {
  const OrderInstance one{.objective = OrderObjective::time,
                          .tensors = {{.size = 8}, {.size = 1}},
                          .operators = {{.writes = {0}, .ms = 1, .recompute = true},
                                        {.reads = {0}, .ms = 1},
                                        {.ms = 1},
                                        {.reads = {0}, .writes = {1}, .ms = 1}},
                          .host = HostLink{.out_bytes_per_ms = 8, .in_bytes_per_ms = 8}};
  const auto rules = [&](const std::vector<int>& runs) {
    const OrderTable table(one);
    const OrderTransfer away{.tensor = 0, .out = 1, .freed = 2, .in = 3};
    Rules found;
    for (const Violation& violation :
         verify(one, compose_order(one, table, runs, std::vector<OrderTransfer>{away}))) {
      found.push_back(violation.rule);
    }
    return found;
  };
  EXPECT_EQ(rules({0, 1, 2, 3}), Rules{});
  EXPECT_EQ(rules({0, 1, 2, 0, 3}), Rules{"transfers"});
}

TEST(OrderTransfers, NetworksMayHaveAHost) {
  const OrderInstance made = *generate_order({.kind = OrderGenerator::Kind::vgg,
                                              .operators = 1,
                                              .capacity_share = 0.5,
                                              .host_bytes_per_ms = 1e7,
                                              .host_capacity = 1 << 30});
  EXPECT_EQ(made.name, "vgg-44-0.5-host1e+07");
  EXPECT_EQ(made.host, (HostLink{1e7, 1e7, 1 << 30}));
  EXPECT_THAT(check(made), IsEmpty());
  for (const OrderGenerator& wrong :
       {OrderGenerator{.host_bytes_per_ms = 1e7},
        OrderGenerator{.kind = OrderGenerator::Kind::vgg, .host_bytes_per_ms = -1},
        OrderGenerator{.kind = OrderGenerator::Kind::vgg, .host_capacity = 1},
        OrderGenerator{
            .kind = OrderGenerator::Kind::vgg, .host_bytes_per_ms = 1, .host_capacity = -1}}) {
    const auto refused = generate_order(wrong);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.errors()[0].code, "E504");
  }
}

}  // namespace
}  // namespace stowage::order_transfers_test
