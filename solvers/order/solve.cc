#include "solvers/order/solve.h"

#include <algorithm>
#include <optional>

#include "formulations/order/bounds.h"
#include "heuristics/order/registry.h"
#include "solvers/family_solve.h"
#include "solvers/order/length/length_solve.h"
#include "solvers/order/refutation.h"
#include "solvers/order/rerun/rerun_solve.h"
#include "solvers/order/stage_context.h"
#include "solvers/order/stages.h"
#include "solvers/parameters.h"

namespace stowage {
namespace {

const Method kAuto{"auto", MethodKind::ours,
                   "heuristics and cuts, then search of stretches and of the whole in turn", ""};
const Method kExact{"exact", MethodKind::ours,
                    "search over sets of operators with commits, until proof or limit",
                    "commit_search.h"};

class OrderSolve : public FamilySolve<OrderInstance> {
 public:
  using FamilySolve::FamilySolve;

 private:
  std::optional<Refutation> refute() override {
    simple_ = operator_bound(context_.table);
    if (!instance_.capacity || simple_.bytes <= *instance_.capacity) return std::nullopt;
    return refuted_by(simple_, simple_.bytes);
  }

  std::vector<NamedBound> bounds() override {
    return {{"operator", static_cast<double>(simple_.bytes)}};
  }

  void complete(Outcome& outcome) const override {
    if (context_.certificate) outcome.certificate.emplace(*context_.certificate);
  }

  StoppedBy search() override {
    if (context_.searches() && options_.start && incumbent_.plan()) {
      context_.best.assign(incumbent_.plan()->order.begin(), incumbent_.plan()->order.end());
      context_.peak = incumbent_.plan()->peak_bytes;
      context_.learn_needs(context_.best);
    }
    const StoppedBy ended = StageLoop(order_stages(), context_, stages_)
                                .run(order_course(options_.method, context_.params));
    if (!context_.searches()) return ended;
    if (refuted_ || incumbent_.proven()) return StoppedBy::proof;
    if (incumbent_.within(options_.gap)) return StoppedBy::gap;
    if (!context_.done()) incumbent_.remark(kOutOfStates);
    return ended;
  }

  void fall_back() override { context_.take(context_.table.program_order(), 'H', "program"); }

  OrderContext context_{{instance_, options_, budget_, incumbent_},
                        refuted_,
                        with_values<OrderParams>(options_.params),
                        OrderTable(instance_)};
  OperatorBound simple_;
};

Outcome solve_fixed(const OrderInstance& instance, const SolveOptions& options, Budget& budget,
                    const Progress& progress) {
  if (is_for_reruns(instance)) return solve_with_reruns(instance, options, budget, progress);
  return OrderSolve(instance, options, budget, progress).run();
}

}  // namespace

std::vector<Method> methods_of(const OrderInstance& instance) {
  if (is_for_reruns(instance)) return rerun_methods_of(instance);
  return method_list(kAuto, heuristics(instance), {kExact});
}

// Returns all stages of the family. A graph with a range of lengths is solved length by length.
std::vector<StageInfo> stages_of(const OrderInstance&) {
  std::vector<StageInfo> all = stage_list(order_stages());
  for (const auto& more : {stage_list(rerun_stages()), stage_list(length_stages())}) {
    for (const StageInfo& stage : more) {
      const bool known = std::ranges::find(all, stage.name, &StageInfo::name) != all.end();
      if (!known) all.push_back(stage);
    }
  }
  return all;
}

std::vector<ParameterInfo> parameters_of(const OrderInstance&) {
  return parameter_list<OrderParams>();
}

Outcome solve_family(const OrderInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress) {
  if (!instance.tokens) return solve_fixed(instance, options, budget, progress);
  return solve_lengths(instance, options, budget, progress, solve_fixed);
}

}  // namespace stowage
