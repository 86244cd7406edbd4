// Bounds of random orders keep their values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "formulations/order/bounds.h"
#include "instances/order/memory/running_memory.h"
#include "tests/pinned_values.h"
#include "tests/tiny_host.h"
#include "tests/tiny_order.h"
#include "tests/tiny_rerun.h"

namespace stowage::order_bound_values_test {
namespace {

TEST(OrderBoundValues, AreThoseOfTheFile) {
  PinnedValues values("tests/formulations/values/order.txt");
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const OrderInstance graph = tiny_order(seed, 9, seed % 2 == 0);
    const OrderTable table(graph);
    const OperatorBound simple = operator_bound(table);
    values.add(seed, "operator", static_cast<double>(simple.bytes));
    values.add(seed, "operator-place", simple.op);
    LeastLive least(table);
    for (int op = 0; op < table.operators(); ++op) {
      values.add(seed, "cut", static_cast<double>(cut_bound(table, least, op).bound_bytes));
    }
  }
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const OrderInstance graph = seed % 2 == 0 ? tiny_rerun(seed) : tiny_host(seed);
    const OrderTable table(graph);
    for (int op = 0; op < table.operators(); ++op) {
      values.add(seed, "kept-at", static_cast<double>(kept_bound(table, op)));
    }
    const Bytes simple = operator_bound(table).bytes;
    for (const Bytes capacity : {simple, simple * 5 / 4, simple * 2}) {
      const RerunBounds bounds = rerun_bounds(table, capacity);
      values.add(seed, "kept", static_cast<double>(bounds.kept));
      values.add(seed, "work", bounds.work_ms);
      values.add(seed, "dropped", bounds.dropped_ms);
      values.add(seed, "moved", bounds.moved_ms);
    }
  }
  values.compare();
}

}  // namespace
}  // namespace stowage::order_bound_values_test
