#include "cli/families/order.h"

#include "cli/families/method_names.h"
#include "cli/flags/suggest.h"
#include "instances/numbers.h"
#include "instances/order/lifetimes.h"
#include "instances/order/memory.h"
#include "instances/order/optimum.h"
#include "instances/order/table.h"

namespace stowage {

std::string size_of(const OrderInstance& instance) {
  std::string text = counted(std::ssize(instance.operators), "operator") + ", " +
                     counted(std::ssize(instance.tensors), "tensor");
  if (instance.capacity) text += ", capacity " + counted(*instance.capacity, "byte");
  return text;
}

std::vector<std::pair<std::string, std::string>> facts_of(const OrderInstance& instance,
                                                          const OrderPlan& plan) {
  const OrderTable table(instance);
  const Bytes program = peak_of(table, table.program_order());
  std::vector<std::pair<std::string, std::string>> facts;
  if (!plan.order.empty()) {
    const std::int64_t step = peak_step(table, plan.order);
    const std::int64_t op = plan.order[at(step)];
    const std::string& id = instance.operators[at(op)].id;
    facts.emplace_back("most in use at",
                       "step " + grouped(step) + ", operator " + (id.empty() ? grouped(op) : id));
  }
  facts.emplace_back("program order", grouped(program) + " bytes");
  if (instance.capacity) {
    facts.emplace_back("capacity", grouped(*instance.capacity) + " bytes, " +
                                       grouped(*instance.capacity - plan.peak_bytes) +
                                       " bytes above the peak");
  }
  return facts;
}

std::string method_list_of(Order) { return comma_list(method_names(OrderInstance())); }

std::vector<NamedBound> closed_form_bounds_of(const OrderInstance& instance) {
  const Bytes bytes = operator_bound(OrderTable(instance)).bytes;
  if (instance.capacity && bytes > *instance.capacity) return {};
  return {{"operator", static_cast<double>(bytes)}};
}

std::optional<NamedBound> tried_again_of(const OrderInstance& instance, double) {
  const std::optional<Bytes> least = least_peak(instance);
  if (!least) return std::nullopt;
  return NamedBound{"search", static_cast<double>(*least)};
}

std::vector<std::string> infeasibility_of(const OrderInstance& instance,
                                          const std::vector<std::int64_t>&) {
  if (!instance.capacity) return {};
  const OperatorBound bound = operator_bound(OrderTable(instance));
  if (bound.bytes <= *instance.capacity) return {};
  if (bound.op == OperatorBound::kEnds) {
    return {"the inputs, or what is left at the end, need " + grouped(bound.bytes) + " bytes"};
  }
  const std::string& id = instance.operators[at(bound.op)].id;
  return {"operator " + (id.empty() ? grouped(bound.op) : id) + " alone needs " +
          grouped(bound.bytes) + " bytes"};
}

}  // namespace stowage
