// The planners' accounting of transfers against the verifier's, on random plans and on plans with
// one change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "instances/order/memory/lifetimes.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/memory/transfer_times.h"
#include "instances/order/plan_builder.h"
#include "instances/order/verify/verify.h"
#include "tests/instances/draw.h"
#include "tests/tiny_host.h"

namespace stowage::order_transfer_counts_test {
namespace {

using ::testing::IsEmpty;

// Random transfers of random graphs: the planners' and the verifier's accounts are equal.
TEST(OrderTransferCounts, PlannersCountAsTheVerifierDoes) {
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const OrderInstance tiny = tiny_host(seed, 8);
    const OrderTable table(tiny);
    Draw draw(seed);
    OrderInstance free = tiny;
    free.capacity.reset();
    free.host->capacity.reset();
    const std::vector<int>& order = table.program_order();
    const std::vector<OrderTransfer> transfers = random_transfers(table, order, draw);
    OrderPlan its = compose_order(free, table, order, transfers);
    std::vector<Violation> found = verify(free, its);
    std::erase_if(found, [](const Violation& v) { return v.rule == "stalls"; });
    ASSERT_THAT(found, IsEmpty()) << seed;
    if (transfers.empty()) continue;
    ++moved;
    // The host's peak is the smallest capacity that the rule accepts.
    const Bytes most = host_use(table, order, transfers).peak_bytes;
    const auto host_rule = [&](Bytes capacity) {
      free.host->capacity = capacity;
      return std::ranges::any_of(verify(free, its),
                                 [](const Violation& v) { return v.rule == "host"; });
    };
    EXPECT_FALSE(host_rule(most)) << seed;
    if (most > 0) {
      EXPECT_TRUE(host_rule(most - 1)) << seed;
    }
    // Live bytes by lifetimes, step by step.
    std::vector<Bytes> alive(order.size(), 0);
    for (const TensorLife& life : lifetimes(table, its.order, transfers)) {
      for (std::int64_t k = life.first; k <= life.last; ++k) {
        alive[at(k)] += table.size(life.tensor);
      }
    }
    const std::vector<Bytes> needs = needs_of(table, order, transfers);
    for (std::size_t k = 0; k < order.size(); ++k) {
      Bytes workspace = table.need(order[k]);
      for (const int t : table.written(order[k])) workspace -= table.size(t);
      EXPECT_EQ(alive[k] + workspace, needs[k]) << seed << ' ' << k;
    }
  }
  EXPECT_GT(moved, 500);
}

// Valid plans with one changed number: the change is reported, or it does not affect any value.
TEST(OrderTransferCounts, MutationsAreSeen) {
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    OrderInstance tiny = tiny_host(seed, 8);
    tiny.capacity.reset();
    tiny.objective = OrderObjective::time;
    tiny.host->capacity.reset();
    const OrderTable table(tiny);
    Draw draw(seed);
    const std::vector<int>& order = table.program_order();
    const std::vector<OrderTransfer> transfers = random_transfers(table, order, draw);
    if (transfers.empty()) continue;
    const OrderPlan good = compose_order(tiny, table, order, transfers);
    ASSERT_THAT(verify(tiny, good), IsEmpty()) << seed;
    const auto expect_rule = [&](const char* rule, auto change) {
      OrderPlan bad = good;
      change(bad.transfers[draw.below(bad.transfers.size())]);
      const std::vector<Violation> found = verify(tiny, bad);
      EXPECT_TRUE(std::ranges::any_of(
          found, [&](const Violation& violation) { return violation.rule == rule; }))
          << seed << ' ' << rule;
      ++seen;
    };
    expect_rule("transfers", [&](OrderTransfer& t) { t.tensor = table.tensors(); });
    expect_rule("transfers", [&](OrderTransfer& t) { t.in = std::ssize(order); });
    expect_rule("transfers", [&](OrderTransfer& t) { t.freed = t.in; });
    expect_rule("transfers", [&](OrderTransfer& t) { t.out = t.freed + 1; });
    expect_rule("transfers", [&](OrderTransfer& t) { t.freed = 0; });
  }
  EXPECT_GT(seen, 1000);
}

}  // namespace
}  // namespace stowage::order_transfer_counts_test
