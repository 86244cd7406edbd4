#include <functional>
#include <map>
#include <vector>

#include "cli/models/exported_model.h"
#include "cli/terminal/unit.h"
#include "formulations/scatter/milp.h"
#include "instances/scatter/plan_builder.h"
#include "solvers/scatter/assign_sequence_ids.h"

namespace stowage {
namespace {

// Returns ids by padded length, the longest first: the classes that exact_classes() counts.
std::vector<std::vector<std::int64_t>> ids_of_classes(const ScatterInstance& instance) {
  std::map<Tokens, std::vector<std::int64_t>, std::greater<>> by_length;
  for (std::size_t id = 0; id < instance.lengths.size(); ++id) {
    by_length[padded_length(instance, instance.lengths[id])].push_back(
        static_cast<std::int64_t>(id));
  }
  std::vector<std::vector<std::int64_t>> classes;
  for (auto& [length, ids] : by_length) classes.push_back(std::move(ids));
  return classes;
}

}  // namespace

ModelAnswer exported_model_of(const ScatterInstance& instance, const ScatterPlan* known,
                              const ModelFlags& flags) {
  if (instance.lengths.empty())
    return refused("INSTANCE", "must have a sequence to make a model of");
  if (!instance.cost.table.empty()) {
    return refused("INSTANCE",
                   "must have a cost by formula: measured times of groups are no sums over "
                   "sequences, and have no MILP");
  }
  const std::vector<LengthClass> classes = exact_classes(ScatterTable(instance));
  const int slots = flags.slots        ? static_cast<int>(*flags.slots)
                    : known != nullptr ? static_cast<int>(known->micro_batches.size())
                                       : 1;
  const std::size_t variables = scatter_milp_variables(instance, classes, slots);
  if (variables > kMaxVariables) {
    return refused("--slots", "must leave at most " + std::to_string(kMaxVariables) +
                                  " variables, " + std::to_string(slots) + " make " +
                                  std::to_string(variables));
  }
  const bool strengthened = !flags.published;
  ScatterMilp milp = build_scatter_milp(
      instance, classes,
      {.slots = slots, .strengthened = strengthened, .stages = instance.pipeline_stages});
  ExportedModel exported{
      .what = "at most " + counted(slots, "micro-batch", "micro-batches"),
      .legend =
          {"columns: T_bB ms of micro-batch B; y_bB 1 if it is used; m_bB_dD_G 1 if it uses its",
           "group G of D devices; A_bB_dD_G_qQ how many sequences of length Q that group has,",
           "where the longest length is 0 and equal lengths are one",
           "k_bB_dD_G how many multiples the padded row of that group fills",
           "rows: C1 to C9, S1 to S6, U1 to U10 of formulations/README.md"},
      .facts = [slots, strengthened](JsonWriter& json) {
        json.integer("micro_batches_at_most", slots);
        json.boolean("strengthened", strengthened);
      }};
  exported.model = milp.model;
  exported.plan = [&instance, milp = std::move(milp)](const std::vector<double>& values) -> Plan {
    return compose_plan(instance, deal(decode(milp, values), ids_of_classes(instance)));
  };
  return exported;
}

}  // namespace stowage
