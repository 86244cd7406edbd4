#include "cli/families/order.h"

#include <algorithm>

#include "cli/families/method_names.h"
#include "cli/flags/suggest.h"
#include "cli/terminal/unit.h"
#include "formulations/order/length_bounds.h"
#include "instances/numeric/numbers.h"
#include "instances/order/memory/lifetimes.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/memory/transfer_times.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/exhaustive_check.h"
#include "solvers/order/length/length_rows.h"

namespace stowage {

std::string size_of(const OrderInstance& instance) {
  std::string text = counted(std::ssize(instance.operators), "operator") + ", " +
                     counted(std::ssize(instance.tensors), "tensor");
  if (instance.capacity) text += ", capacity " + counted(*instance.capacity, "byte");
  if (instance.host) text += ", a host";
  if (instance.tokens) {
    text +=
        ", " + grouped(instance.tokens->from) + " to " + grouped(instance.tokens->to) + " tokens";
  }
  return text;
}

std::string detail_of(const OrderPlan& plan) {
  if (plan.rows.empty()) return "";
  return counted(std::ssize(plan.rows), "row") + " of lengths, worst gap " +
         percent_text(worst_gap_of_all(plan.rows));
}

namespace {

// Returns a fact such as "3 runs, 1.250 ms of 40.000 ms".
std::pair<std::string, std::string> again_of(const OrderTable& table, const OrderPlan& plan) {
  Ms ms = 0;
  for (const std::int64_t op : plan.order) ms += table.ms(static_cast<int>(op));
  std::string text = counted(std::ssize(plan.order) - table.operators(), "run");
  if (table.work_ms() > 0) {
    text += ", " + with_unit(ms - table.work_ms(), kMs) + " more than " +
            with_unit(table.work_ms(), kMs);
  }
  return {"computed again", std::move(text)};
}

// Returns a fact such as "3 transfers, 96 bytes out and 128 in, at most 64 on the host, stalls of
// 1.250 ms".
std::pair<std::string, std::string> transfers_of(const OrderTable& table, const OrderPlan& plan) {
  const std::vector<int> steps(plan.order.begin(), plan.order.end());
  std::string text = counted(std::ssize(plan.transfers), "transfer");
  if (!plan.transfers.empty()) {
    const HostUse use = host_use(table, steps, plan.transfers);
    const TransferTimes times = transfer_times(table, steps, plan.transfers);
    text += ", " + grouped(use.out_bytes) + " bytes out and " + grouped(use.in_bytes) +
            " in, at most " + grouped(use.peak_bytes) + " on the host, " +
            (times.stall_ms > 0 ? "stalls of " + with_unit(times.stall_ms, kMs) : "no stall");
  }
  return {"on the host", std::move(text)};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> facts_of(const OrderInstance& instance,
                                                          const OrderPlan& plan) {
  const OrderTable table(instance);
  const Bytes program = peak_of(table, table.program_order());
  std::vector<std::pair<std::string, std::string>> facts;
  if (!plan.order.empty()) {
    const std::int64_t step = peak_step(table, plan.order, plan.transfers);
    const std::int64_t op = plan.order[at(step)];
    const std::string& id = instance.operators[at(op)].id;
    facts.emplace_back("most in use at",
                       "step " + grouped(step) + ", operator " + (id.empty() ? grouped(op) : id));
  }
  if (plan.time_ms) facts.emplace_back("peak", grouped(plan.peak_bytes) + " bytes");
  facts.emplace_back("program order", grouped(program) + " bytes");
  if (instance.tokens) {
    facts.emplace_back("lengths", grouped(instance.tokens->from) + " to " +
                                      grouped(instance.tokens->to) + " tokens in " +
                                      detail_of(plan));
  }
  if (has_reruns(instance)) facts.push_back(again_of(table, plan));
  if (instance.host) facts.push_back(transfers_of(table, plan));
  if (instance.capacity) {
    facts.emplace_back("capacity", grouped(*instance.capacity) + " bytes, " +
                                       grouped(*instance.capacity - plan.peak_bytes) +
                                       " bytes above the peak");
  }
  return facts;
}

// The list includes the methods for graphs with recomputation and for graphs with a host.
std::string method_list_of(Order) {
  std::vector<std::string> names = method_names(OrderInstance{.operators = {{.recompute = true}}});
  for (std::string& name : method_names(OrderInstance{.host = HostLink{}})) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return comma_list(names);
}

std::vector<NamedBound> closed_form_bounds_of(const OrderInstance& instance) {
  const OrderTable table(instance);
  const Bytes bytes = operator_bound(table).bytes;
  if (instance.capacity && bytes > *instance.capacity) return {};
  if (has_reruns(instance) || instance.host || instance.objective == OrderObjective::time) {
    const RerunBounds bounds = rerun_bounds(table, instance.capacity);
    if (instance.capacity && bounds.kept > *instance.capacity) return {};
    if (instance.objective == OrderObjective::time) {
      if (instance.host) return {{"work", bounds.work_ms}, {"moved", bounds.moved_ms}};
      return {{"work", bounds.work_ms}, {"dropped", bounds.dropped_ms}};
    }
    return {{"operator", static_cast<double>(bytes)}, {"kept", static_cast<double>(bounds.kept)}};
  }
  return {{"operator", static_cast<double>(bytes)}};
}

std::optional<NamedBound> tried_again_of(const OrderInstance& instance, double) {
  if (instance.objective == OrderObjective::time || instance.host) return std::nullopt;
  const std::optional<Bytes> least = least_peak(instance);
  if (!least) return std::nullopt;
  return NamedBound{"search", static_cast<double>(*least)};
}

std::vector<Violation> parts_claimed_of(const OrderInstance& instance, const OrderPlan& plan) {
  std::vector<Violation> violations;
  if (!instance.tokens) return violations;
  LengthBounds bounds(instance);
  for (std::size_t k = 0; k < plan.rows.size(); ++k) {
    const OrderRow& row = plan.rows[k];
    const auto compare = [&](const char* end, Tokens length, Bytes claimed) {
      const Bytes proven = bounds.of(row.bound_operator, length);
      if (claimed <= proven) return;
      violations.push_back({"claimed_bound",
                            "/rows/" + std::to_string(k) + "/bound_bytes_at_" + end,
                            std::to_string(claimed) + " bytes",
                            "at most " + std::to_string(proven) + ", which operator " +
                                std::to_string(row.bound_operator) + " proves"});
    };
    compare("from", row.from, row.bound_at_from);
    compare("to", row.to, row.bound_at_to);
  }
  return violations;
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
