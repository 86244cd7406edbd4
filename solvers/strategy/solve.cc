#include "solvers/strategy/solve.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formulations/strategy/bounds.h"
#include "heuristics/strategy/configurations.h"
#include "heuristics/strategy/registry.h"
#include "instances/numeric/numbers.h"
#include "solvers/family_solve.h"
#include "solvers/milp/backends.h"
#include "solvers/parameters.h"
#include "solvers/strategy/explain/explain.h"
#include "solvers/strategy/params.h"
#include "solvers/strategy/stage_context.h"
#include "solvers/strategy/stages.h"

namespace stowage {
namespace {

const Method kAuto{"auto", MethodKind::ours,
                   "fast, cases or prices for every class, then a search of those that are left",
                   ""};
const Method kExact{"exact", MethodKind::ours,
                    "the same with equal prices alone: class by class, until proof or limit",
                    "stage_search.h"};
const Method kMip{"mip", MethodKind::ours, "class by class by a MILP backend, for small instances",
                  "docs/theory/strategy.md"};

const Method kUniap{"uniap", MethodKind::baseline,
                    "layers and choices of each class without chunks by a MILP, with one layout",
                    "UniAP (arXiv 2307.16375)"};

class StrategySolve : public FamilySolve<StrategyInstance> {
 public:
  using FamilySolve::FamilySolve;

 private:
  std::optional<Refutation> refute() override {
    if (context_.table.classes().empty()) return nothing_combines(instance_);
    return std::nullopt;
  }

  static Refutation nothing_combines(const StrategyInstance& instance) {
    if (std::optional<UnplacedLayers> undealt = why_unplaced(instance)) {
      return {std::move(undealt->rule), std::move(undealt->remedy), {}, {.by = "configurations"}};
    }
    const std::string of_ep = rule_of_ep(instance);
    return {
        std::string("no values of the options combine: pp tp cp must divide the devices, tp cp the "
                    "heads, and micro_batches dp the sequences") +
            of_ep,
        std::string("add degrees that divide the devices, or 1, to options.pp, options.tp and "
                    "options.cp, ") +
            (of_ep.empty() ? "" : "add 1 to options.ep, ") +
            "or give a multiple of the devices as sequences",
        {},
        {.by = "configurations"}};
  }

  std::vector<NamedBound> bounds() override { return {{"work", work_bound(context_.table)}}; }

  void complete(Outcome& outcome) const override {
    if (context_.certificate && outcome.plan) outcome.certificate.emplace(*context_.certificate);
    if (!outcome.plan) return;
    const std::int64_t tp = std::get<StrategyPlan>(*outcome.plan).tp;
    const std::int64_t pairs = instance_.model.key_value_heads();
    if (pairs == 0 || tp <= pairs) return;
    outcome.detail += (outcome.detail.empty() ? "" : "; ") + std::string("tp ") +
                      std::to_string(tp) + " is more than the " + plain_count(pairs, "head") +
                      " of keys and values, which ranks repeat: a trainer that only divides them "
                      "refuses this plan";
  }

  StoppedBy search() override {
    const StoppedBy ended =
        StageLoop(strategy_stages(), context_, stages_).run(strategy_course(options_.method));
    if (ended != StoppedBy::heuristic_end) return ended;
    if (incumbent_.proven()) return StoppedBy::proof;
    return incumbent_.within(options_.gap) ? StoppedBy::gap : StoppedBy::heuristic_end;
  }

  void fall_back() override {
    if (auto plan = best_homogeneous(context_.table, budget_)) {
      incumbent_.offer(std::move(*plan), 'H', "homogeneous");
    }
  }

  StrategyContext context_{{instance_, options_, budget_, incumbent_},
                           StrategyTable(instance_),
                           with_values<StrategyParams>(options_.params),
                           refuted_};
};

}  // namespace

std::vector<Method> methods_of(const StrategyInstance& instance) {
  std::vector<Method> more{kExact};
  if (!built_backends().empty()) more.insert(more.end(), {kUniap, kMip});
  std::vector<Method> all = method_list(kAuto, heuristics(instance), more);
  baselines_before_ours(all);
  return all;
}

std::vector<StageInfo> stages_of(const StrategyInstance&) { return stage_list(strategy_stages()); }

std::vector<ParameterInfo> parameters_of(const StrategyInstance&) {
  return parameter_list<StrategyParams>();
}

Outcome solve_family(const StrategyInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress) {
  return StrategySolve(instance, options, budget, progress).run();
}

}  // namespace stowage
