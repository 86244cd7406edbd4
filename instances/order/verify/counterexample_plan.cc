#include "instances/order/verify/counterexample_plan.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "instances/order/plan_builder.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/exhaustive_check.h"
#include "instances/order/verify/reference_model.h"
#include "instances/order/verify/verify.h"

namespace stowage {
namespace {

// Returns the graph at its longest length, at which an order needs the most memory.
OrderInstance at_longest(const OrderInstance& instance) {
  if (!instance.tokens) return instance;
  const OrderReferenceModel truth(instance);
  OrderInstance longest = instance;
  longest.tokens.reset();
  for (std::size_t t = 0; t < longest.tensors.size(); ++t) {
    longest.tensors[t].size = truth.size(static_cast<std::int64_t>(t));
    longest.tensors[t].size_per_token = 0;
  }
  for (OrderOperator& op : longest.operators) {
    op.workspace =
        truth.rounded(op.workspace) + instance.tokens->to * truth.rounded(op.workspace_per_token);
    op.workspace_per_token = 0;
  }
  return longest;
}

}  // namespace

bool has_counterexample_plan(const OrderInstance& instance) {
  if (const std::optional<Bytes> peak = least_peak(instance)) {
    return !instance.capacity || *peak <= *instance.capacity;
  }
  const OrderInstance longest = at_longest(instance);
  const OrderTable table(longest);
  return verify(longest, compose_order(longest, table, table.program_order())).empty();
}

}  // namespace stowage
