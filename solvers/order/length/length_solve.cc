#include "solvers/order/length/length_solve.h"

#include <algorithm>
#include <optional>

#include "formulations/order/bounds.h"
#include "instances/order/planning_table.h"
#include "solvers/family_solve.h"
#include "solvers/order/length/length_context.h"
#include "solvers/order/refutation.h"
#include "solvers/order/stages.h"
#include "solvers/parameters.h"

namespace stowage {
namespace {

class LengthSolve : public FamilySolve<OrderInstance> {
 public:
  LengthSolve(const OrderInstance& instance, const SolveOptions& options, Budget& budget,
              const Progress& progress, const FixedSolve& fixed)
      : FamilySolve(instance, options, budget, progress),
        context_{{instance_, options_, budget_, incumbent_},
                 refuted_,
                 with_values<OrderParams>(options.params),
                 fixed,
                 LengthRows(instance)} {}

 private:
  // Sizes grow with the length: if the longest length has no plan, the range has no plan.
  std::optional<Refutation> refute() override {
    const OrderTable table(instance_);
    const OperatorBound simple = operator_bound(table);
    context_.program = table.program_order();
    const LengthParams& params = context_.params.lengths;
    const std::int64_t nodes = std::max(1, table.operators() + table.tensors());
    context_.cuts = static_cast<int>(
        std::max<std::int64_t>(1, std::min(params.cut_nodes / nodes, params.cuts)));
    simple_ = static_cast<double>(simple.bytes);
    if (!instance_.capacity || simple.bytes <= *instance_.capacity) return std::nullopt;
    return refuted_by(simple, simple.bytes);
  }

  std::vector<NamedBound> bounds() override { return {{"operator", simple_}}; }

  void complete(Outcome& outcome) const override {
    if (context_.certificate) outcome.certificate.emplace(*context_.certificate);
  }

  StoppedBy search() override {
    if (options_.start && incumbent_.plan()) {
      for (const OrderRow& row : std::get<OrderPlan>(*options_.start).rows) {
        context_.rows.add({row.order.begin(), row.order.end()}, "start");
      }
    }
    // A baseline may use only its own orders.
    if (context_.searches()) context_.rows.add(context_.program, "program");
    const StoppedBy ended =
        StageLoop(length_stages(), context_, stages_).run(length_course(options_.method));
    return refuted_ || incumbent_.proven() ? StoppedBy::proof : ended;
  }

  void fall_back() override {
    if (context_.rows.empty()) context_.rows.add(context_.program, "program");
    context_.offer();
  }

  LengthContext context_;
  double simple_ = 0;
};

}  // namespace

Outcome solve_lengths(const OrderInstance& instance, const SolveOptions& options, Budget& budget,
                      const Progress& progress, const FixedSolve& fixed) {
  return LengthSolve(instance, options, budget, progress, fixed).run();
}

}  // namespace stowage
