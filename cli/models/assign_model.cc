#include <utility>

#include "cli/models/exported_model.h"
#include "cli/terminal/console.h"
#include "formulations/assign/grouped.h"
#include "formulations/assign/milp.h"
#include "instances/assign/plan_builder.h"

namespace stowage {
namespace {

// Builds the exact model, whose solutions are plans.
ModelAnswer exact_model(const AssignInstance& instance, const AssignTable& table, int strategy,
                        const AssignPlan* known) {
  // The model omits rows that occur only in plans of this strategy slower than the known plan.
  const std::string& name = instance.strategies[static_cast<std::size_t>(strategy)].name;
  const Ms upper =
      known != nullptr && known->strategy == name ? known->objective_ms : milp::kInfinity;
  if (const std::size_t variables = assign_milp_variables(table, strategy, upper);
      variables > kMaxVariables) {
    return refused("--exact", "must make at most " + std::to_string(kMaxVariables) +
                                  " variables, makes " + std::to_string(variables));
  }
  AssignMilp milp = build_assign_milp(table, strategy, upper);
  ExportedModel exported{
      .what = "strategy " + name + ", exact",
      .legend =
          {"columns: Z ms of the step; M_r ms of the longest row of replica r; y_r_j 1 if its",
           "row j is used; x_r_j_k how many sequences of the k-th length that row holds",
           "rows: A1 to A10 of formulations/README.md"},
      .facts = [name, upper](JsonWriter& json) {
        json.text("strategy", name);
        json.boolean("exact", true);
        json.key("no_slower_than_ms");
        upper < milp::kInfinity ? json.number(upper) : json.null();
      }};
  exported.model = milp.model;
  exported.plan = [&instance, strategy,
                   milp = std::move(milp)](const std::vector<double>& values) -> Plan {
    return compose_assign(instance, strategy, decode(milp, AssignTable(instance), values));
  };
  return exported;
}

// Builds the relaxation that groups equal replicas.
ModelAnswer grouped_model(const AssignInstance& instance, const AssignTable& table, int strategy,
                          const AssignPlan* known, bool apart) {
  const std::string& name = instance.strategies[static_cast<std::size_t>(strategy)].name;
  const std::size_t groups =
      apart ? static_cast<std::size_t>(table.replicas(strategy)) : table.groups(strategy).size();
  if (table.kinds().size() * groups > kMaxVariables) {
    return refused(apart ? "--apart" : "INSTANCE",
                   "must leave at most " + std::to_string(kMaxVariables) + " shares, " +
                       std::to_string(table.kinds().size()) + " lengths and " +
                       std::to_string(groups) + " groups make more");
  }
  // Plans of any strategy that are slower than the known plan are excluded.
  const Ms upper = known != nullptr ? known->objective_ms : milp::kInfinity;
  AssignGrouped grouped = build_assign_grouped(table, strategy, {.upper = upper, .apart = apart});
  return ExportedModel{
      .model = std::move(grouped.model),
      .what = "strategy " + name + (apart ? ", replicas apart" : ""),
      .legend = {"a relaxation: groups of equal replicas, and what share of each length they take",
                 "rows: G1 to G12 of formulations/README.md"},
      .facts = [name, apart, upper](JsonWriter& json) {
        json.text("strategy", name);
        json.boolean("apart", apart);
        json.key("no_slower_than_ms");
        upper < milp::kInfinity ? json.number(upper) : json.null();
      }};
}

}  // namespace

ModelAnswer exported_model_of(const AssignInstance& instance, const AssignPlan* known,
                              const ModelFlags& flags) {
  if (instance.lengths.empty())
    return refused("INSTANCE", "must have a sequence to make a model of");
  if (instance.constraints.chunks) {
    return refused("INSTANCE", "must be without chunks: the models state whole rows");
  }
  const AssignTable table(instance);
  std::string name = flags.strategy;
  if (name.empty() && known != nullptr) name = known->strategy;
  int strategy = 0;
  while (strategy < table.strategies() &&
         (name.empty() ? !table.usable(strategy)
                       : instance.strategies[static_cast<std::size_t>(strategy)].name != name)) {
    ++strategy;
  }
  if (strategy == table.strategies()) {
    return refused("--strategy", "must be a strategy of the instance, is '" + name + '\'');
  }
  if (!table.usable(strategy)) {
    return refused("--strategy", "must admit the longest sequence, '" + name + "' does not",
                   ExitCode::refused);
  }
  return flags.exact ? exact_model(instance, table, strategy, known)
                     : grouped_model(instance, table, strategy, known, flags.apart);
}

}  // namespace stowage
