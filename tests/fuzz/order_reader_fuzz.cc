// Feeds arbitrary bytes to the order readers, and accepted documents to the verifier.
//
// An input is an instance, the line "---", and a plan. No call may crash, an accepted document must
// be equal after writing and reading it again, computations on an accepted instance must be safe at
// every length of its range, and the verifier must have an answer for every pair.
#include <algorithm>
#include <vector>

#include "instances/order/json/json.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/order/memory/lifetimes.h"
#include "instances/order/memory/peak_by_length.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/exhaustive_check.h"
#include "instances/order/verify/verify.h"
#include "tests/fuzz/promise.h"

namespace stowage {
namespace {

constexpr std::size_t kOperatorsTried = 10;  // of every order

void check_lengths(const OrderInstance& instance, const std::vector<int>& order) {
  const auto [from, to] = *instance.tokens;
  const PeakByLength curve(instance, order);
  for (const Tokens length : {from, from + (to - from) / 2, to}) {
    const Bytes peak = peak_of(OrderTable(instance, length), order);
    require(curve.at(length) == peak, "the curve is the peak at each length");
    const OrderInstance fixed = at_length(instance, length);
    require(!fixed.tokens && peak_of(OrderTable(fixed), order) == peak,
            "a graph of fixed sizes needs the same");
  }
}

void check_instance(const OrderInstance& instance) {
  check_rewritten(instance, read_order_instance, write_order_instance);
  const OrderTable table(instance);
  const std::vector<int>& order = table.program_order();
  require(order.size() == instance.operators.size(), "every graph has an order");
  const OrderPlan plan = compose_order(instance, table, order);
  require(plan.peak_bytes >= table.at_start() && plan.peak_bytes >= table.at_end(),
          "a peak holds both ends");
  const std::vector<TensorLife> lives = lifetimes(table, plan.order);
  require(
      std::ranges::all_of(lives, [](const TensorLife& life) { return life.first <= life.last; }),
      "lives end after they begin");
  for (const Violation& violation : verify(instance, plan)) {
    require(violation.rule == "capacity" || (violation.rule == "rows" && instance.tokens),
            "the list's order breaks nothing but the capacity");
  }
  if (instance.operators.size() <= kOperatorsTried) {
    const std::optional<Bytes> least = least_peak(instance);
    require(!least || *least <= plan.peak_bytes, "no order is below the least peak");
  }
  if (instance.tokens) check_lengths(instance, order);
}

// The rows of a plan that the verifier lets pass.
void check_rows(const OrderInstance& instance, const OrderPlan& plan) {
  if (!verify(instance, plan).empty()) return;
  require(instance.tokens.has_value() != plan.rows.empty(), "rows where there are lengths");
  for (const OrderRow& row : plan.rows) {
    require(row_at(plan, row.from) == &row && row_at(plan, row.to) == &row, "a row is found");
  }
  if (!instance.tokens) return;
  require(row_at(plan, instance.tokens->from - 1) == nullptr, "none holds what is shorter");
  require(row_at(plan, instance.tokens->to + 1) == nullptr, "nor what is longer");
}

}  // namespace
}  // namespace stowage

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;  // NOLINT(google-build-using-namespace): extern "C" stands outside
  const std::string text = text_of(data, size);
  const auto [first, second] = two_documents(text);
  const auto instance = read_order_instance(first);
  if (instance) {
    check_instance(*instance);
  } else {
    check_errors(instance);
  }
  const auto plan = read_order_plan(second);
  check_plan(instance, plan, read_order_plan, write_order_plan);
  if (instance && plan) check_rows(*instance, *plan);
  return 0;
}
