#include "solvers/layout/stage_implementations.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "heuristics/layout/construct/size_class_layout.h"
#include "heuristics/layout/construct/stack_all.h"
#include "heuristics/layout/improve/improvement_rounds.h"
#include "heuristics/layout/improve/window_lowering.h"
#include "heuristics/layout/registry.h"
#include "instances/layout/load.h"
#include "instances/layout/plan_builder.h"
#include "instances/layout/verify/verify.h"
#include "solvers/layout/busiest_first.h"
#include "solvers/layout/exact/mip_solve.h"
#include "solvers/layout/published/memo_paper.h"

namespace stowage {
namespace {

// Returns the node limit of the search in this round.
std::int64_t round_nodes(const LayoutContext& context, double factor) {
  const LayoutRoundParams& rounds = context.params.rounds;
  const double grown = static_cast<double>(rounds.nodes) *
                       std::pow(rounds.growth, static_cast<double>(context.round));
  return static_cast<std::int64_t>(factor * std::min(grown, layout_fixed::kMaxRoundNodes));
}

void offer_quick(LayoutContext& context, const char* name,
                 std::optional<std::vector<Bytes>> offsets) {
  if (!offsets) return;
  LayoutPlan plan = compose_layout(context.instance, *std::move(offsets));
  if (context.fits(plan.peak_bytes) && context.better(plan.peak_bytes)) {
    context.incumbent.offer(std::move(plan), 'H', name);
  }
}

// Runs a heuristic of the registry. A layout above the capacity is kept, because its peak may be
// lowered.
void run_heuristic(LayoutContext& context, const std::string& name) {
  // The time left after a heuristic is reserved for the verifier.
  const Budget part = context.budget.part(
      context.budget.seconds_left() - context.seconds_to_verify(), context.budget.nodes_left());
  LayoutInstance unlimited;
  if (context.instance.capacity) {
    unlimited = context.instance;
    unlimited.capacity.reset();
  }
  const LayoutInstance& asked = context.instance.capacity ? unlimited : context.instance;
  for (const LayoutHeuristic& heuristic : heuristics(asked, context.params.heuristics)) {
    if (heuristic.name != name) continue;
    std::optional<LayoutPlan> plan =
        heuristic.run(asked, *context.table, context.options.seed, part);
    if (plan && context.fits(plan->peak_bytes)) {
      context.incumbent.offer(compose_layout(context.instance, std::move(plan->offsets)), 'H',
                              name);
    } else {
      if (plan) context.too_high = std::move(plan->offsets);
      if (part.exhausted()) {
        if (!context.incumbent.plan()) layout_stage::offer_quick_plans(context);
      } else if (context.options.method == name) {
        context.incumbent.remark(name + " has no layout for this instance");
      }
    }
    context.time_ended_it = part.stop_reason() == StopReason::time_limit;
  }
}

void take(LayoutContext& context, const LayoutMinimum& known) {
  if (known.offsets && context.better(known.peak)) {
    context.incumbent.offer(compose_layout(context.instance, *known.offsets), 'L', "search");
  }
  context.incumbent.raise_bound({"search", static_cast<double>(known.bound)});
}

StoppedBy run_search(LayoutContext& context, Budget& budget) {
  const LayoutMinimum minimum = minimise_layout(
      *context.table, context.known(), budget,
      [&](const LayoutMinimum& better) { take(context, better); }, context.params.search);
  take(context, minimum);
  switch (minimum.end) {
    case LayoutEnd::layout:
      return StoppedBy::proof;
    case LayoutEnd::exhausted:
      if (!context.incumbent.plan()) {
        context.refuted = {"the search has no layout within the capacity left to try",
                           "raise capacity, or take pins away"};
      }
      return StoppedBy::proof;
    case LayoutEnd::gap:
      return StoppedBy::gap;
    case LayoutEnd::too_large:
      context.incumbent.remark("too many buffers live together for the exact search");
      return StoppedBy::heuristic_end;
    case LayoutEnd::budget:
      break;
  }
  return StoppedBy::time_limit;  // or the limit that ended the budget
}

// Solves the MIP from the known bound and plan. Returns the reason why it ended.
StoppedBy solve_mip(LayoutContext& context, bool strengthened, Budget& budget) {
  Incumbent<LayoutInstance>& incumbent = context.incumbent;
  if (built_backends().empty()) {
    incumbent.remark("no MILP backend is built in");
    return StoppedBy::error;
  }
  const MilpBackend backend = backend_of(context.options);
  const LayoutMipSolve options{.backend = backend,
                               .strengthened = strengthened,
                               .gap = context.options.gap,
                               .seed = context.options.seed,
                               .pairs = context.params.mip_pairs};
  const LayoutMipResult result = solve_layout_mip(*context.table, options, context.known(), budget);
  const std::string by = "mip-" + std::string(name(backend));
  if (!result.offsets.empty() && context.better(result.peak)) {
    incumbent.offer(compose_layout(context.instance, result.offsets), 'M', by);
  }
  incumbent.raise_bound({by, static_cast<double>(result.bound)});
  if (!result.detail.empty()) incumbent.remark(result.detail);
  if (result.status == MilpStatus::optimal) return StoppedBy::proof;
  return budget.exhausted() ? StoppedBy::time_limit : StoppedBy::heuristic_end;
}

// Calls lower(offsets, tell) for the best layout, which is a plan or lies above the capacity.
// Returns true if the peak is lower now.
template <class Lower>
bool lower_best(LayoutContext& context, const Lower& lower) {
  const LayoutTable& table = *context.table;
  const std::optional<std::vector<Bytes>> start =
      context.incumbent.plan() ? std::optional(context.incumbent.plan()->offsets)
                               : context.too_high;
  if (!start) return false;
  const double reported = context.params.rounds.reported;
  const Bytes before = table.peak(*start);
  Bytes told = before;
  const auto offer = [&](const std::vector<Bytes>& offsets) {
    told = table.peak(offsets);
    if (!context.fits(told)) return;
    context.incumbent.offer(compose_layout(context.instance, offsets), 'H', "improvement");
  };
  const std::vector<Bytes> best = lower(*start, [&](const std::vector<Bytes>& offsets) {
    const Bytes peak = table.peak(offsets);
    const Bytes above = told - table.max_load();
    const bool worth = reported * static_cast<double>(above) <= static_cast<double>(told - peak);
    if (worth || (context.fits(peak) && !context.fits(told))) offer(offsets);
  });
  if (table.peak(best) < told) offer(best);
  if (told < before && !context.fits(told)) context.too_high = best;
  return told < before;
}

// Begins the rounds of lowering. Layouts of very many buffers cannot be searched, so the rounds get
// all remaining time. With a few thousand buffers, the rounds and the search get half each.
void begin_lowering(LayoutContext& context) {
  LoweringRounds& rounds = context.lowering;
  rounds.begun = true;
  if (context.few()) return;
  Budget& budget = context.budget;
  rounds.alone = context.table->buffers() > context.params.heuristics.fast.many ||
                 !can_be_searched(*context.table, context.params.search);
  rounds.no_time = context.too_many_for(layout_fixed::kSecondsToLower);
  const double seconds = budget.seconds_left() - context.seconds_to_verify();
  rounds.part.reset(new Budget(budget.part((rounds.alone ? 1 : 0.5) * seconds,
                                           budget.nodes_left() / (rounds.alone ? 1 : 2))));
}

// Returns the budget of the rounds, or null if the rounds are over.
Budget* lowering_budget(LayoutContext& context) {
  LoweringRounds& rounds = context.lowering;
  if (!rounds.begun) begin_lowering(context);
  Budget& budget = rounds.part ? *rounds.part : context.budget;
  return rounds.no_time || context.done() || budget.exhausted() ? nullptr : &budget;
}

}  // namespace

bool LayoutContext::end_round() {
  if (!repeats) return false;
  LoweringRounds& rounds = lowering;
  const bool helped = rounds.whole_helped || rounds.core_helped || rounds.windows_helped;
  rounds.in_vain = helped ? 0 : rounds.in_vain + 1;
  rounds.skip_core = rounds.core_ran && rounds.whole_helped && !rounds.core_helped;
  rounds.skip_whole = rounds.whole_ran && rounds.core_helped && !rounds.whole_helped;
  rounds.whole_ran = rounds.core_ran = rounds.whole_helped = rounds.core_helped = false;
  rounds.windows_helped = false;
  rounds.nodes = 0;
  const bool in_vain = rounds.in_vain >= params.rounds.in_vain;
  if (!rounds.part) return in_vain;
  // Without a search behind them, the rounds go on until the time limit, if there is one.
  const bool goes_on = rounds.alone && std::isfinite(rounds.part->seconds_left());
  const bool over = rounds.no_time || rounds.part->exhausted() || good_enough() ||
                    (!goes_on && (in_vain || !has_core()));
  if (over) {
    const bool late = rounds.no_time || rounds.part->stop_reason() == StopReason::time_limit;
    time_ended_it = rounds.alone && late;
  }
  return over;
}

namespace layout_stage {

Ended height_refutation(LayoutContext& context, Budget&) {
  const LayoutInstance& instance = context.instance;
  const double bound = context.incumbent.bound();
  if (!instance.capacity || bound <= static_cast<double>(*instance.capacity)) return std::nullopt;
  const std::int64_t step = peak_load(instance).step;
  InfeasibilityProof proof{
      .by = "heights", .witnesses = needing_memory_at(instance, step), .step = step};
  if (!check_infeasibility(instance, proof).empty()) return std::nullopt;
  context.refuted =
      Refutation{"no stack of buffers ends between the load of step " + std::to_string(step) +
                     " and the capacity",
                 "raise capacity to at least " + std::to_string(static_cast<std::int64_t>(bound)),
                 {},
                 std::move(proof)};
  return StoppedBy::proof;
}

void offer_quick_plans(LayoutContext& context) {
  offer_quick(context, "slots", size_class_layout(context.instance));
  offer_quick(context, "pile", pile(context.instance));
}

Ended quick_plan(LayoutContext& context, Budget&) {
  if (!context.incumbent.plan()) offer_quick_plans(context);
  if (!context.table) return StoppedBy::time_limit;
  context.incumbent.remark(
      "all buffers on one stack would exceed 2^53 bytes: they are not searched");
  return StoppedBy::heuristic_end;
}

Ended first_plan(LayoutContext& context, Budget&) {
  run_heuristic(context, "fast");
  return std::nullopt;
}

Ended method_heuristic(LayoutContext& context, Budget&) {
  run_heuristic(context, context.options.method);
  return std::nullopt;
}

Ended busiest_first(LayoutContext& context, Budget& budget) {
  if (context.too_many_for(layout_fixed::kSecondsToLower)) return std::nullopt;
  const bool many = context.table->buffers() > context.params.heuristics.fast.many;
  const double share = many ? layout_fixed::kBusyTimeOfMany : layout_fixed::kBusyTime;
  const Budget part = budget.part(share * budget.seconds_left(), budget.nodes_left());
  const auto lay_out = [&](const LayoutInstance& asked,
                           const LayoutTable& table) -> std::optional<std::vector<Bytes>> {
    for (const LayoutHeuristic& heuristic : heuristics(asked, context.params.heuristics)) {
      if (heuristic.name != "fast") continue;
      auto plan = heuristic.run(asked, table, context.options.seed, part);
      if (plan) return std::move(plan->offsets);
    }
    return std::nullopt;
  };
  const auto offer = [&](const std::vector<Bytes>& offsets) {
    if (context.fits(context.table->peak(offsets))) {
      context.incumbent.offer(compose_layout(context.instance, offsets), 'H', "busiest");
    }
  };
  lay_busiest_first(context.instance, *context.table, lay_out, context.incumbent.plan()->peak_bytes,
                    budget, offer);
  return std::nullopt;
}

Ended short_search(LayoutContext& context, Budget& budget) {
  Budget part =
      budget.part(budget.seconds_left(), std::min(round_nodes(context, 1), budget.nodes_left()));
  const StoppedBy ended = run_search(context, part);
  if (ended != StoppedBy::time_limit || budget.exhausted()) return ended;
  return std::nullopt;
}

Ended lower_whole(LayoutContext& context, Budget&) {
  LoweringRounds& rounds = context.lowering;
  Budget* budget = lowering_budget(context);
  if (budget == nullptr || rounds.skip_whole) return std::nullopt;
  const bool core = context.has_core();
  const bool limited = !rounds.part || core;
  const std::int64_t left = budget->nodes_left();
  const std::int64_t nodes =
      limited ? std::min(round_nodes(context, context.params.rounds.lowering), left) : left;
  Budget part = budget->part(budget->seconds_left(), nodes / (core && !rounds.skip_core ? 2 : 1));
  rounds.whole_ran = true;
  rounds.whole_helped =
      lower_best(context, [&](std::vector<Bytes> offsets, const BetterLayout& tell) {
        const ImproveOptions options{.enough = context.enough(),
                                     .seed = context.options.seed + rounds.tries++,
                                     .params = context.params.heuristics};
        return improve_layout(*context.table, std::move(offsets), options, part, tell);
      });
  rounds.nodes = part.nodes();
  return std::nullopt;
}

// Runs only under a time limit: plans of a node limit depend on nothing else.
Ended lower_by_windows(LayoutContext& context, Budget&) {
  LoweringRounds& rounds = context.lowering;
  Budget* budget = lowering_budget(context);
  if (budget == nullptr || !std::isfinite(budget->seconds_left())) return std::nullopt;
  Budget part = budget->part(budget->seconds_left() / 2, budget->nodes_left());
  rounds.windows_helped =
      lower_best(context, [&](std::vector<Bytes> offsets, const BetterLayout& tell) {
        const ImproveOptions options{.enough = context.enough(),
                                     .seed = context.options.seed + rounds.tries++,
                                     .params = context.params.heuristics};
        return lower_windows(*context.table, std::move(offsets), options, part, tell);
      });
  return std::nullopt;
}

Ended lower_core(LayoutContext& context, Budget&) {
  LoweringRounds& rounds = context.lowering;
  Budget* budget = lowering_budget(context);
  if (budget == nullptr || rounds.skip_core || !context.has_core()) return std::nullopt;
  const std::int64_t nodes = round_nodes(context, context.params.rounds.lowering) - rounds.nodes;
  Budget part = budget->part(budget->seconds_left(), std::min(nodes, budget->nodes_left()));
  rounds.core_ran = true;
  rounds.core_helped =
      lower_best(context, [&](std::vector<Bytes> offsets, const BetterLayout& tell) {
        return context.core->lower(std::move(offsets), context.enough(), part, tell);
      });
  return std::nullopt;
}

Ended search(LayoutContext& context, Budget& budget) { return run_search(context, budget); }

Ended memo(LayoutContext& context, Budget& budget) {
  const SolveOptions& options = context.options;
  const auto planner = [&](const LayoutInstance& part, Budget& left) {
    // A MIP of the paper has this time limit, and the search replaces the MIP.
    Budget own = left.part(options.milp_seconds.value_or(kMilpSeconds), left.nodes_left());
    const Outcome outcome =
        context.solve_part(part, {.seed = options.seed, .params = options.params}, own, {});
    return outcome.plan ? std::optional(std::get<LayoutPlan>(*outcome.plan)) : std::nullopt;
  };
  if (const auto found = plan_memo(context.instance, planner, budget)) {
    context.incumbent.offer(found->plan, 'H', "memo");
  } else {
    context.incumbent.remark("a block or the step of pseudo buffers has no layout");
  }
  return std::nullopt;
}

Ended mip(LayoutContext& context, Budget& budget) { return solve_mip(context, true, budget); }

Ended published_mip(LayoutContext& context, Budget& budget) {
  const double left = budget.seconds_left();
  Budget part = budget.part(context.options.milp_seconds.value_or(left), budget.nodes_left());
  return solve_mip(context, false, part);
}

}  // namespace layout_stage
}  // namespace stowage
