// Finds the reason why a graph has no order within its capacity: one operator that needs more, or
// all operators together.
#include <string>
#include <utility>

#include "formulations/order/bounds.h"
#include "instances/numeric/numbers.h"
#include "instances/order/planning_table.h"
#include "solvers/explain/family_explain.h"
#include "solvers/order/explain/explain.h"

namespace stowage {
namespace {

std::string bytes(Bytes count) { return plain_count(count, "byte"); }

}  // namespace

Conflict conflict_in(const OrderInstance& instance, const Trial& trial) {
  Conflict conflict;
  if (!instance.capacity) return conflict;
  const OrderTable table(instance);
  const OperatorBound simple = operator_bound(table);
  if (simple.bytes <= *instance.capacity) {
    conflict.causes.push_back({"/operators", "no order of the operators needs as little"});
    conflict.irreducible = false;  // fewer operators may have no order either
  } else if (simple.op == OperatorBound::kEnds) {
    conflict.causes.push_back(
        {"/tensors", "the inputs, or what is left at the end, need " + bytes(simple.bytes)});
  } else {
    const std::string& id = instance.operators[at(simple.op)].id;
    conflict.causes.push_back({"/operators/" + std::to_string(simple.op),
                               "operator " + (id.empty() ? std::to_string(simple.op) : id) +
                                   " needs " + bytes(simple.bytes) + " whenever it runs"});
  }
  conflict.causes.push_back({"/capacity_bytes", "the capacity is " + bytes(*instance.capacity)});
  // The change raises the capacity to the smallest peak that is found without a capacity.
  OrderInstance changed = instance;
  changed.capacity.reset();
  changed.objective = OrderObjective::peak;
  const Outcome outcome = trial(Instance(changed));
  if (!outcome.plan) return conflict;
  const Bytes peak = std::get<OrderPlan>(*outcome.plan).peak_bytes;
  changed.capacity = peak;
  changed.objective = instance.objective;
  std::string text = "raise capacity_bytes from " + std::to_string(*instance.capacity) + " to " +
                     std::to_string(peak) + " (+" + bytes(peak - *instance.capacity);
  text += outcome.status == Status::optimal ? ", the least that goes)" : ")";
  conflict.changes.push_back(
      {"/capacity_bytes", std::move(text), std::move(changed), std::nullopt});
  return conflict;
}

}  // namespace stowage
