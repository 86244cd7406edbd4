#include "solvers/assign/solve.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "formulations/assign/bounds.h"
#include "heuristics/assign/registry.h"
#include "solvers/assign/chunked_solve.h"
#include "solvers/assign/explain/remedy.h"
#include "solvers/assign/explain/starvation.h"
#include "solvers/assign/params.h"
#include "solvers/assign/stage_context.h"
#include "solvers/assign/stages.h"
#include "solvers/family_solve.h"
#include "solvers/parameters.h"

namespace stowage {
namespace {

// Composing and verifying a plan takes at most this multiple of the time of the table and the
// bounds.
constexpr double kPlanPerSetup = 3;

const Method kAuto{"auto", MethodKind::ours, "heuristics, then bounds and exact methods", ""};
const Method kExact{"exact", MethodKind::ours,
                    "subsets of few sequences or one MILP per strategy, until proof or limit", ""};
const Method kHydraulis{"hydraulis", MethodKind::baseline,
                        "50 random orders, row ILPs, the published score", "Hydraulis section 4.2"};
const Method kHydraulisModelled{"hydraulis-modelled", MethodKind::baseline,
                                "as hydraulis, chosen by the modelled time",
                                "Hydraulis section 4.2"};

class AssignSolve : public FamilySolve<AssignInstance> {
 public:
  using FamilySolve::FamilySolve;

 private:
  std::optional<Refutation> refute() override {
    if (std::vector<std::int64_t> ids = unplaceable_sequences(instance_); !ids.empty()) {
      std::string remedy = remedy_for_long(instance_, ids);
      return Refutation{"a sequence is longer than every row may be", std::move(remedy),
                        std::move(ids)};
    }
    if (!starves(context_.table)) return std::nullopt;
    return Refutation{"the row constraints need more sequences than there are",
                      remedy_for_rows(instance_),
                      {},
                      {.by = "rows"}};
  }

  std::vector<NamedBound> bounds() override {
    std::vector<NamedBound> found = assign_bounds(context_.table, budget_);
    context_.reserve_s = kPlanPerSetup * budget_.seconds();
    return found;
  }

  void set_criterion() override {
    if (!has_pipelines()) return;
    // The method `exact` is asked for a proof of the objective.
    const double tolerance = context_.exact() ? 0 : context_.params.pipeline.tolerance;
    incumbent_.choose_by(
        {tolerance, [](AssignPlan& plan) { return plan.simulated_1f1b_ms; }, false});
  }

  bool has_pipelines() const {
    return std::ranges::any_of(instance_.schemes, [](const Scheme& each) { return each.pp > 1; });
  }

  void complete(Outcome& outcome) const override {
    if (context_.certificate) outcome.certificate.emplace(*context_.certificate);
    if (outcome.plan && has_pipelines() &&
        std::get<AssignPlan>(*outcome.plan).simulated_1f1b_ms > 0) {
      outcome.simulated_bound = simulated_bound(instance_);
    }
  }

  StoppedBy search() override {
    return StageLoop(assign_stages(), context_, stages_).run(assign_course(options_.method));
  }

  AssignContext context_{{instance_, options_, budget_, incumbent_},
                         AssignTable(instance_),
                         with_values<AssignParams>(options_.params),
                         refuted_,
                         gap_ended_it_,
                         time_ended_it_};
};

}  // namespace

std::vector<Method> methods_of(const AssignInstance& instance) {
  if (instance.constraints.chunks) return chunked_methods(instance);
  std::vector<Method> more;
  if (!built_backends().empty()) more = {kHydraulis, kHydraulisModelled};
  more.push_back(kExact);
  std::vector<Method> all = method_list(kAuto, heuristics(instance), more);
  baselines_before_ours(all);
  return all;
}

std::vector<StageInfo> stages_of(const AssignInstance&) {
  std::vector<StageInfo> all = stage_list(assign_stages());
  for (StageInfo& stage : chunked_stages()) all.push_back(std::move(stage));
  return all;
}

std::vector<ParameterInfo> parameters_of(const AssignInstance&) {
  return parameter_list<AssignParams>();
}

Outcome solve_family(const AssignInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress) {
  if (instance.constraints.chunks) return solve_chunked(instance, options, budget, progress);
  return AssignSolve(instance, options, budget, progress).run();
}

}  // namespace stowage
