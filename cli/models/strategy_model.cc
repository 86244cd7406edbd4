#include <string>
#include <utility>
#include <vector>

#include "cli/models/exported_model.h"
#include "formulations/strategy/mip.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/planning_table.h"

namespace stowage {

// Builds the model of the known plan's class and layout. An instance has hundreds of classes, and
// each class has its own model.
ModelAnswer exported_model_of(const StrategyInstance& instance, const StrategyPlan* known,
                              const ModelFlags&) {
  if (known == nullptr) {
    return refused("INSTANCE", "must have a configuration that fits to make a model of, has none",
                   ExitCode::refused);
  }
  const StrategyClass its{known->pp, known->v, known->micro_batches};
  const StrategyLayout layout = layout_of(*known);
  const StrategyTable table(instance);
  const StageCosts costs(table, its, layout);
  const bool folded = table.equal_layers();
  const StrategyMipForm form = folded ? StrategyMipForm::folded : StrategyMipForm::path;
  if (const std::int64_t binaries = strategy_mip_binaries(costs, form);
      binaries > static_cast<std::int64_t>(kMaxVariables)) {
    return refused("INSTANCE", "must have a model of at most " + std::to_string(kMaxVariables) +
                                   " binary variables, has one of " + std::to_string(binaries));
  }
  StrategyMip mip = build_strategy_mip(costs, form);
  ExportedModel exported;
  exported.what = "the class and layout of method fast";
  exported.legend = {
      std::string("columns: f_s") + (folded ? "" : "_i") + "_l_zZrR 1 if stage s has l layers" +
          (folded ? "" : " from layer i on") + " at ZeRO level Z,",
      "with R (0 none, 1 selective, 2 full) computed again; T the step in ms but for Y, the",
      "exchange of states that computing does not hide; X the time of the slowest stage",
      std::string("rows: ") + (folded ? "SM2" : "SM1") + ", SM3 to SM7 of formulations/README.md"};
  exported.facts = [its, layout](JsonWriter& json) {
    json.integer("pp", its.pp);
    json.integer("v", its.v);
    json.integer("micro_batches", its.micro_batches);
    json.integer("tp", layout.tp);
    json.integer("cp", layout.cp);
    json.integer("dp", layout.dp);
    json.integer("ep", layout.ep);
    if (layout.shard != 0) json.integer("shard", layout.shard);
    if (layout.cp_exchange == StrategyExchange::ring) json.text("cp_exchange", "ring");
  };
  exported.model = mip.model;
  exported.plan = [&instance, its, layout,
                   mip = std::move(mip)](const std::vector<double>& values) -> Plan {
    const StrategyTable own(instance);
    return compose_strategy(StageCosts(own, its, layout), decode(mip, values));
  };
  return exported;
}

}  // namespace stowage
