#include "solvers/order/rerun/rerun_solve.h"

#include <algorithm>
#include <optional>

#include "formulations/order/bounds.h"
#include "heuristics/order/registry.h"
#include "solvers/family_solve.h"
#include "solvers/order/refutation.h"
#include "solvers/order/stages.h"
#include "solvers/parameters.h"

namespace stowage {
namespace {

const Method kRerunAuto{
    "auto", MethodKind::ours,
    "evictions from several orders, then a walk and a search of all runs in turn", ""};
const Method kRerunExact{"exact", MethodKind::ours,
                         "search over sets of operators and tensors, until proof or limit",
                         "rerun_search.h"};
const Method kCheckmate{"checkmate", MethodKind::baseline,
                        "the MILP of runs again between the first runs in program order",
                        "Checkmate (arXiv 1910.02653), section 4"};

class RerunSolve : public FamilySolve<OrderInstance> {
 public:
  using FamilySolve::FamilySolve;

 private:
  std::optional<Refutation> refute() override {
    simple_ = operator_bound(context_.table);
    context_.known = rerun_bounds(context_.table, instance_.capacity);
    const RerunBounds& known = context_.known;
    if (simple_.bytes > context_.capacity()) return refuted_by(simple_, known.kept);
    if (known.kept > context_.capacity()) return refuted_below("plan", known.kept);
    return std::nullopt;
  }

  std::vector<NamedBound> bounds() override {
    const RerunBounds& known = context_.known;
    if (context_.timed()) {
      if (instance_.host) return {{"work", known.work_ms}, {"moved", known.moved_ms}};
      return {{"work", known.work_ms}, {"dropped", known.dropped_ms}};
    }
    return {{"operator", static_cast<double>(simple_.bytes)},
            {"kept", static_cast<double>(known.kept)}};
  }

  StoppedBy search() override {
    const StoppedBy ended = StageLoop(rerun_stages(), context_, stages_)
                                .run(rerun_course(options_.method, context_.params));
    if (!context_.searches()) return ended;
    if (refuted_ || incumbent_.proven()) return StoppedBy::proof;
    if (incumbent_.within(options_.gap)) return StoppedBy::gap;
    if (!context_.done()) incumbent_.remark(kOutOfStates);
    return ended;
  }

  void fall_back() override { context_.take(context_.table.program_order(), 'H', "program"); }

  RerunContext context_{{instance_, options_, budget_, incumbent_},
                        refuted_,
                        with_values<OrderParams>(options_.params),
                        OrderTable(instance_)};
  OperatorBound simple_;
};

}  // namespace

bool is_for_reruns(const OrderInstance& instance) {
  return instance.objective == OrderObjective::time || instance.host.has_value() ||
         std::ranges::any_of(instance.operators, &OrderOperator::recompute);
}

std::vector<Method> rerun_methods_of(const OrderInstance& instance) {
  std::vector<Method> more;
  if (!built_backends().empty()) more.push_back(kCheckmate);
  if (instance.host && !built_backends().empty()) more.push_back(kMemoSwap);
  if (!instance.host) more.push_back(kRerunExact);
  return method_list(kRerunAuto, heuristics(instance), more);
}

Outcome solve_with_reruns(const OrderInstance& instance, const SolveOptions& options,
                          Budget& budget, const Progress& progress) {
  return RerunSolve(instance, options, budget, progress).run();
}

}  // namespace stowage
