#include "solvers/scatter/solve.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "formulations/scatter/bounds.h"
#include "heuristics/scatter/registry.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/table/planning_table.h"
#include "solvers/family_solve.h"
#include "solvers/scatter/explain/remedy.h"
#include "solvers/scatter/stage_context.h"
#include "solvers/scatter/stages.h"

namespace stowage {
namespace {

const Method kAuto{"auto", MethodKind::ours, "heuristics, then exact methods while the limits last",
                   ""};
const Method kExact{"exact", MethodKind::ours,
                    "whole-step MILP, then replanning and MILP regrouping until proof or limit",
                    ""};
const Method kFlexsp{"flexsp", MethodKind::baseline,
                     "FlexSP: token chunks, 16 buckets, the published MILP per micro-batch",
                     "FlexSP sections 4.2 to 4.4"};
const Method kFlexspChunks{"flexsp-chunks", MethodKind::baseline,
                           "FlexSP's chunks grouped by our search; method_bound: by any solver",
                           "FlexSP section 4.3"};

class ScatterSolve : public FamilySolve<ScatterInstance> {
 public:
  using FamilySolve::FamilySolve;

 private:
  std::optional<Refutation> refute() override {
    std::vector<std::int64_t> ids = unplaceable_sequences(instance_);
    if (!ids.empty()) {
      std::string remedy = remedy_for_long(instance_, ids);
      return Refutation{.detail = "", .remedy = std::move(remedy), .unplaceable = std::move(ids)};
    }
    if (instance_.lengths.empty()) return std::nullopt;
    return refute_by_count();
  }

  // Refutes steps with fewer sequences than the groups that the rules require.
  std::optional<Refutation> refute_by_count() const {
    const std::optional<std::int64_t> groups = least_groups(context_.table);
    const auto batches = std::int64_t{least_micro_batches(context_.table)};
    const std::int64_t needed = checked_mul(batches, groups.value_or(1)).value_or(kMaxExact);
    if (groups && needed <= context_.table.size()) return std::nullopt;
    std::string detail = groups ? "a plan has at least " + std::to_string(needed) +
                                      " groups, each with a sequence, and there are " +
                                      std::to_string(context_.table.size()) + " sequences"
                                : "no groups of the allowed degrees make up all ranks";
    return Refutation{
        .detail = std::move(detail),
        .remedy = remedy_for_few(instance_, groups ? std::optional(needed) : std::nullopt),
        .proof = {.by = "micro_batches"}};
  }

  std::vector<NamedBound> bounds() override { return scatter_bounds(context_.table); }

  void complete(Outcome& outcome) const override {
    if (const auto& proof = context_.bounding.certificate()) outcome.certificate.emplace(*proof);
    outcome.method_bound = context_.method_bound;
    if (outcome.plan && std::get<ScatterPlan>(*outcome.plan).simulated_1f1b_ms > 0) {
      outcome.simulated_bound = simulated_bound(instance_);
    }
  }

  void set_criterion() override {
    if (instance_.pipeline_stages == 1) return;
    const auto end = [this](ScatterPlan& plan) {
      plan = in_pipeline_order(instance_, std::move(plan));
      return plan.simulated_1f1b_ms;
    };
    // The method `exact` is asked for a proof of the objective.
    const double tolerance = context_.exact() ? 0 : context_.params.pipeline.tolerance;
    incumbent_.choose_by({tolerance, end});
  }

  StoppedBy search() override {
    context_.solve_other = solve_family;
    return StageLoop(scatter_stages(), context_, stages_)
        .run(scatter_course(options_.method, context_.params, instance_.mixed.has_value()));
  }

  ScatterContext context_{instance_, options_, budget_, incumbent_, gap_ended_it_, refuted_};
};

}  // namespace

std::vector<Method> methods_of(const ScatterInstance& instance) {
  std::vector<Method> more;
  if (!built_backends().empty()) more = {kFlexsp, kFlexspChunks, kExact};
  // The published MILPs only handle costs that are sums over sequences, and FlexSP only one device
  // type.
  if (!instance.cost.table.empty() || !instance.cluster.kinds.empty())
    std::erase_if(more, [](const Method& method) { return method.kind == MethodKind::baseline; });
  std::vector<Method> all = method_list(kAuto, heuristics(instance), more);
  baselines_before_ours(all);
  return all;
}

std::vector<StageInfo> stages_of(const ScatterInstance&) { return stage_list(scatter_stages()); }

std::vector<ParameterInfo> parameters_of(const ScatterInstance&) {
  return parameter_list<ScatterParams>();
}

Outcome solve_family(const ScatterInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress) {
  return ScatterSolve(instance, options, budget, progress).run();
}

}  // namespace stowage
