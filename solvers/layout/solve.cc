#include "solvers/layout/solve.h"

#include <optional>
#include <string>

#include "formulations/layout/bounds.h"
#include "heuristics/layout/registry.h"
#include "instances/layout/load.h"
#include "solvers/family_solve.h"
#include "solvers/layout/stage_context.h"
#include "solvers/layout/stage_implementations.h"
#include "solvers/layout/stages.h"
#include "solvers/parameters.h"

namespace stowage {
namespace {

using Reason = LayoutInfeasibility::Reason;

const Method kAuto{"auto", MethodKind::ours, "heuristics, then search and improvement in turn", ""};
const Method kExact{"exact", MethodKind::ours, "canonical search of layouts until proof or limit",
                    "MiniMalloc (ASPLOS 2023); tree/tree.h"};
const Method kMemo{"memo", MethodKind::baseline,
                   "two levels: each repeated block once, then the step with pseudo buffers",
                   "MEMO section 4.2, with our search in place of its MIP"};
const Method kMip{"mip", MethodKind::ours, "the strengthened MIP, for small graphs", ""};
const Method kPublishedMip{"mip-published", MethodKind::baseline, "the MIP as published",
                           "MEMO section 4.2"};

InfeasibilityProof proof_of(const LayoutInfeasibility& why) {
  return {.by = why.reason == Reason::pins_clash           ? "pins"
                : why.reason == Reason::pin_above_capacity ? "capacity"
                                                           : "load",
          .witnesses = why.buffers,
          .step = why.step};
}

std::string remedy_of(const LayoutInstance& instance, const LayoutInfeasibility& why) {
  if (why.reason == Reason::pins_clash) return "move one of the two pins, or pin one buffer only";
  if (why.reason == Reason::load_above_capacity) {
    return "raise capacity to at least " + std::to_string(peak_load(instance).load) +
           ", or need less memory at the step";
  }
  const Buffer& buffer = instance.buffers[static_cast<std::size_t>(why.buffers.front())];
  return "raise capacity to at least " + std::to_string(*buffer.offset + buffer.size) +
         ", or pin the buffer lower";
}

class LayoutSolve : public FamilySolve<LayoutInstance> {
 public:
  using FamilySolve::FamilySolve;

 private:
  std::optional<Refutation> refute() override {
    const auto why = layout_infeasibility(instance_);
    if (!why) return std::nullopt;
    return Refutation{why->text, remedy_of(instance_, *why), {}, proof_of(*why)};
  }

  std::vector<NamedBound> bounds() override {
    if (context_.too_many_for(layout_fixed::kSecondsToPlan)) {
      return {{"load", static_cast<double>(peak_load(instance_).load)}};
    }
    context_.table.emplace(instance_);
    return layout_bounds(instance_, *context_.table);
  }

  StoppedBy search() override {
    const StoppedBy ended =
        StageLoop(layout_stages(), context_, stages_).run(layout_course(options_.method));
    const bool gap =
        context_.searches() && ended == StoppedBy::heuristic_end && incumbent_.within(options_.gap);
    return gap ? StoppedBy::gap : ended;
  }

  // If a limit ends the solve before its first plan, the two quickest plans are still made.
  void fall_back() override { layout_stage::offer_quick_plans(context_); }

  LayoutContext context_{{instance_, options_, budget_, incumbent_},
                         time_ended_it_,
                         refuted_,
                         with_values<LayoutParams>(options_.params),
                         solve_family};
};

}  // namespace

std::vector<Method> methods_of(const LayoutInstance& instance) {
  std::vector<Method> more{kMemo};
  if (!built_backends().empty()) more.insert(more.end(), {kPublishedMip, kMip});
  more.push_back(kExact);
  return method_list(kAuto, heuristics(instance), more);
}

std::vector<StageInfo> stages_of(const LayoutInstance&) { return stage_list(layout_stages()); }

std::vector<ParameterInfo> parameters_of(const LayoutInstance&) {
  return parameter_list<LayoutParams>();
}

Outcome solve_family(const LayoutInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress) {
  return LayoutSolve(instance, options, budget, progress).run();
}

}  // namespace stowage
