#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/models/exported_model.h"
#include "formulations/order/checkmate.h"
#include "formulations/order/mip.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "solvers/memory/order_layout.h"
#include "solvers/solve.h"

namespace stowage {

namespace {

ModelAnswer too_many(std::int64_t binaries) {
  return refused("INSTANCE", "must have a model of at most " + std::to_string(kMaxVariables) +
                                 " binary variables, has one of " + std::to_string(binaries));
}

// Returns the common part of the models: a limit of `most` bytes, counted in units.
ExportedModel within(Bytes most, Bytes unit, std::vector<std::string> legend) {
  return {.what = "at most " + std::to_string(most) + " bytes",
          .legend = std::move(legend),
          .facts = [most, unit](JsonWriter& json) {
            json.integer("bytes_at_most", most);
            json.integer("unit_bytes", unit);
          }};
}

// Returns the peak of a layout of this order by method fast. It is an upper bound on the optimum
// over all orders and layouts.
Bytes laid_out(const OrderInstance& instance, const OrderPlan& plan) {
  LayoutInstance buffers = order_layout(instance, plan);
  buffers.capacity.reset();
  Budget budget;
  const Outcome outcome = solve(buffers, {.method = "fast"}, budget);
  return round_up(static_cast<Bytes>(outcome.objective.value_or(0)), instance.alignment);
}

// Builds Checkmate's model, with first runs in the order of the list.
ModelAnswer with_reruns(const OrderInstance& instance, const OrderTable& table,
                        const OrderPlan* known) {
  if (const std::int64_t binaries = checkmate_binaries(table);
      binaries > static_cast<std::int64_t>(kMaxVariables)) {
    return too_many(binaries);
  }
  const bool time = instance.objective == OrderObjective::time;
  Bytes most = peak_of(table, table.program_order());
  if (instance.capacity) most = std::min(most, *instance.capacity);
  Checkmate milp = build_checkmate(
      table, table.program_order(),
      {.time = time, .most = most, .least = known != nullptr && !time ? known->bound_bytes : 0});
  if (milp.empty || milp.model.variables().empty()) {
    return refused("INSTANCE",
                   "must have a plan of at most " + std::to_string(most) +
                       " bytes that runs an operator again, has none",
                   ExitCode::refused);
  }
  const Bytes unit = milp.unit;
  ExportedModel exported =
      within(most, unit,
             {"columns: P the peak in units of " + std::to_string(unit) + " bytes; R_t_k 1 if",
              "the operator of step k of the list's order runs again before that of step t;",
              "S_t_a 1 if tensor a is there before step t; U_t_k memory in units; F_t_k_a 1 if",
              "a goes after the run; steps, operators and tensors count from 0",
              "rows: OK1 to OK8 of formulations/README.md"});
  exported.model = milp.model;
  exported.plan = [&instance, milp = std::move(milp)](const std::vector<double>& values) -> Plan {
    return compose_order(instance, OrderTable(instance), decode(milp, values));
  };
  return exported;
}

}  // namespace

ModelAnswer exported_model_of(const OrderInstance& instance, const OrderPlan* known,
                              const ModelFlags& flags) {
  constexpr std::size_t kMostOperators = 2000;
  if (instance.operators.empty()) {
    return refused("INSTANCE", "must have an operator to make a model of");
  }
  if (instance.operators.size() > kMostOperators) {
    return refused("INSTANCE", "must have at most " + std::to_string(kMostOperators) +
                                   " operators, has " + std::to_string(instance.operators.size()));
  }
  if (instance.tokens) {
    return refused("INSTANCE",
                   "must have fixed sizes, has a range of lengths: a model is of one length; leave "
                   "`tokens` out and give the sizes at that length");
  }
  if (instance.host) {
    return refused("INSTANCE",
                   "must have no host, has one: no model knows of transfers; leave `host` out for "
                   "the plans without");
  }
  const OrderTable table(instance);
  if (table.recomputes() || instance.objective == OrderObjective::time) {
    if (flags.addresses) {
      return refused("--addresses", "has no effect where operators may run again");
    }
    return with_reruns(instance, table, known);
  }
  if (flags.addresses && table.reuses()) {
    return refused("--addresses", "must be left out for an instance with `in_place`");
  }
  if (const std::int64_t binaries = order_mip_binaries(table, flags.addresses);
      binaries > static_cast<std::int64_t>(kMaxVariables)) {
    return too_many(binaries);
  }
  Bytes most = known != nullptr ? known->peak_bytes : peak_of(table, table.program_order());
  if (flags.addresses) {
    most =
        laid_out(instance,
                 known != nullptr ? *known : compose_order(instance, table, table.program_order()));
  }
  if (instance.capacity) most = std::min(most, *instance.capacity);
  OrderMip mip = build_order_mip(table, {.most = most,
                                         .least = known != nullptr ? known->bound_bytes : 0,
                                         .addresses = flags.addresses});
  if (mip.empty) {
    return refused("INSTANCE",
                   "must have an order of at most " + std::to_string(most) + " bytes, has none",
                   ExitCode::refused);
  }
  const Bytes unit = mip.unit;
  std::vector<std::string> legend = {
      "columns: P the peak in units of " + std::to_string(unit) + " bytes; y_v_k 1 if",
      "operator v is among the first k; l_t_k 1 if tensor t needs memory at step k;",
      "operators and tensors count from 0 as in the instance, steps from 1",
      "rows: O1 to O5 of formulations/README.md"};
  if (table.reuses()) {
    legend.back() = "r_v_s_k the bytes of outputs of v, of s bytes each, that lie on tensors which";
    legend.emplace_back("end at step k, in units; rows: O1 to O5 and O7 of formulations/README.md");
  }
  if (flags.addresses) {
    legend.back() = "a_i the address of a part in units, first the tensors, then what operators";
    legend.emplace_back("need alone; z_i_j 1 if part i lies below part j, w_i_j if above");
    legend.emplace_back("rows: O1 to O6 of formulations/README.md; P is where the last part ends");
  }
  ExportedModel exported = within(most, unit, std::move(legend));
  exported.model = mip.model;
  exported.plan = [&instance, mip = std::move(mip)](const std::vector<double>& values) -> Plan {
    const OrderTable its(instance);
    return compose_order(instance, its, decode(mip, its, values));
  };
  return exported;
}

}  // namespace stowage
