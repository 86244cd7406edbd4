#include "solvers/scatter/stage_implementations.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "heuristics/scatter/improve/improvement_rounds.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "heuristics/scatter/mixed/mixed_search.h"
#include "heuristics/scatter/published/skrull.h"
#include "heuristics/scatter/registry.h"
#include "instances/json/limits.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/table/group_form.h"
#include "solvers/scatter/exact/scatter_milp.h"
#include "solvers/scatter/exact/subset_dp.h"
#include "solvers/scatter/explain/remedy.h"
#include "solvers/scatter/published/flexsp.h"
#include "solvers/scatter/published/flexsp_ideal_grouping.h"

namespace stowage::scatter_stage {
namespace {

constexpr double kLargeMilpShare = 0.1;  // share of the remaining time, if a proof is unlikely
constexpr std::int64_t kMaxRegroupNodes = 1000000;
constexpr double kSecondsToFinish = 2.5e-7;  // per sequence: composing and verifying a plan

ScatterExactOptions exact_options(const ScatterContext& context, std::uint64_t round) {
  return {.backend = context.backend(),
          .gap = context.options.gap,
          .seed = context.options.seed + round};
}

// Submits steps of a race that a plan of a pipeline is chosen from.
void offer_others(ScatterContext& context, std::vector<WorkingStep> others, const char* name) {
  for (WorkingStep& step : others) {
    const auto made = repaired_in_best_forms(context.table, std::move(step));
    if (made) context.incumbent.offer(to_plan(context.instance, context.table, *made), 'H', name);
  }
}

// Runs a heuristic of the registry. Ends the solve if the time limit stops the heuristic after a
// plan.
Ended run_heuristic(ScatterContext& context, const std::string& name) {
  // Reserves time after the heuristic for composing and verifying its plan.
  Budget& budget = context.budget;
  const double to_finish = kSecondsToFinish * static_cast<double>(context.instance.lengths.size());
  const Budget part = budget.part(budget.seconds_left() - to_finish, budget.nodes_left());
  std::vector<WorkingStep> others;
  const bool choosing = context.instance.pipeline_stages > 1;
  for (const ScatterHeuristic& heuristic :
       heuristics(context.instance, context.params.multistart, choosing ? &others : nullptr)) {
    if (heuristic.name != name) continue;
    if (auto plan = heuristic.run(context.instance, context.table, context.options.seed, part)) {
      context.incumbent.offer(std::move(*plan), 'H', name);
    } else {
      context.incumbent.remark(name + " cannot plan this step");
    }
  }
  offer_others(context, std::move(others), name.c_str());
  const bool cut = part.stop_reason() == StopReason::time_limit;
  context.ended = cut ? StoppedBy::time_limit : StoppedBy::heuristic_end;
  if (cut && context.incumbent.plan()) return StoppedBy::time_limit;
  return std::nullopt;
}

// Returns the groups of a plan with the padding of `instance`.
ScatterPlan padded_anew(const ScatterInstance& instance, const ScatterPlan& plan) {
  std::vector<MicroBatchChoice> choices;
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    MicroBatchChoice& choice = choices.emplace_back();
    for (const ScatterGroup& group : batch.groups) {
      const std::optional<GroupForm> form = form_of(instance, batch, group);
      choice.push_back(
          {group.degree, group.sequences, group.exchange, form->recomputation, form->place});
    }
  }
  return compose_plan(instance, std::move(choices));
}

// Plans the step as if each group padded its sequences for all forms. No group of such a plan takes
// longer with its own padding, so that padding by form does not lose to one multiple for all.
void plan_for_common_padding(ScatterContext& context) {
  ScatterInstance same = context.instance;
  same.padding.reset();
  for (const GroupForm form : group_forms(context.instance)) {
    const Tokens own =
        std::lcm(sequence_multiple(context.instance, form), row_multiple(context.instance, form));
    same.pad_multiple = std::lcm(same.pad_multiple, own);
    if (same.pad_multiple > kMaxPadMultiple) return;
  }
  if (!unplaceable_sequences(same).empty()) return;
  const ScatterTable table(same);
  for (const ScatterHeuristic& heuristic : heuristics(same, context.params.multistart)) {
    if (heuristic.name != "fast") continue;
    const auto plan = heuristic.run(same, table, context.options.seed, context.budget);
    if (plan) context.incumbent.offer(padded_anew(context.instance, *plan), 'H', "fast");
  }
}

// Returns the step whose groups share no device, as published planners know it.
ScatterInstance without_mixed(ScatterInstance instance) {
  instance.mixed.reset();
  return instance;
}

// Offers the plan of the step without mixed micro-batches by the method.
void solve_unmixed(ScatterContext& context, const std::string& method, Budget& budget) {
  SolveOptions options = context.options;
  options.start.reset();
  options.method = method;
  const Outcome made = context.solve_other(without_mixed(context.instance), options, budget, {});
  if (!made.plan) return;
  const auto& plan = std::get<ScatterPlan>(*made.plan);
  context.incumbent.offer(padded_anew(context.instance, plan), 'H', made.found_by);
}

}  // namespace

Ended first_plan(ScatterContext& context, Budget&) {
  return run_heuristic(context, context.table.several_kinds() ? "first-fit" : "batch-ada");
}

Ended multistart(ScatterContext& context, Budget&) {
  const double before = context.budget.seconds();
  const Ended ended = run_heuristic(context, "fast");
  context.multistart_s = context.budget.seconds() - before;
  const bool more = !ended && !context.done() && context.options.method != "fast";
  if (more && context.instance.padding) plan_for_common_padding(context);
  return ended;
}

// Plans made for half and for twice the stages weigh the longest micro-batch otherwise, as the
// schedule does in some orders.
Ended other_depths(ScatterContext& context, Budget& part) {
  const int stages = context.instance.pipeline_stages;
  for (const int other : {stages / 2, std::min(2 * stages, kMaxStages)}) {
    if (part.exhausted()) break;
    ScatterInstance same = context.instance;
    same.pipeline_stages = other;
    const ScatterTable table(same);
    for (const ScatterHeuristic& heuristic : heuristics(same, context.params.multistart)) {
      if (heuristic.name != "fast") continue;
      const auto plan = heuristic.run(same, table, context.options.seed, part);
      if (plan) context.incumbent.offer(padded_anew(context.instance, *plan), 'H', "fast");
    }
  }
  return std::nullopt;
}

Ended long_multistart(ScatterContext& context, Budget&) { return run_heuristic(context, "joint"); }

Ended method_heuristic(ScatterContext& context, Budget&) {
  return run_heuristic(context, context.options.method);
}

Ended quick_dive(ScatterContext& context, Budget&) {
  context.replan.alone(true);
  return std::nullopt;
}

Ended quick_profile_bound(ScatterContext& context, Budget&) {
  context.bounding.quick_by_makespans();
  return std::nullopt;
}

Ended quick_bound(ScatterContext& context, Budget&) {
  context.bounding.quick();
  return std::nullopt;
}

Ended subset_dp(ScatterContext& context, Budget& part) {
  const Ms upper = context.incumbent.plan()->objective_ms;
  const auto step = best_of_subsets(context.table, upper, part);
  if (!step) return std::nullopt;
  context.incumbent.offer(to_plan(context.instance, context.table, *step), 'L', "subsets");
  context.incumbent.raise_bound({"subsets", step_ms(context.table, *step)});
  return std::nullopt;
}

Ended first_milp(ScatterContext& context, Budget& part) {
  Incumbent<ScatterInstance>& incumbent = context.incumbent;
  const bool free = context.instance.rules == ScatterRules{} && !context.table.several_kinds();
  // Each plan failed verification, see Outcome::violations.
  if (free || built_backends().empty()) return StoppedBy::error;
  if (context.table.measured()) {
    incumbent.remark(
        "no heuristic finds a plan that keeps the rules, and measured times have no MILP");
    return StoppedBy::heuristic_end;
  }
  if (most_step_variables(context.instance) > kLargestScatterMilp) {
    incumbent.remark(
        "no heuristic finds a plan that keeps the rules, and the step is too large "
        "for a MILP");
    return StoppedBy::heuristic_end;
  }
  const StoppedBy ended =
      solve_step_milp(context.instance, exact_options(context, 0), incumbent, part);
  context.ended = StoppedBy::heuristic_end;
  if (incumbent.plan()) return std::nullopt;
  if (ended == StoppedBy::proof) {
    context.refuted =
        Refutation{.detail = "no plan keeps all the rules, as the MILP of the step says",
                   .remedy = remedy_for_rules(context.instance)};
  }
  return ended;
}

Ended pattern_dive(ScatterContext& context, Budget&) {
  context.replan.alone(false);
  return std::nullopt;
}

Ended profile_search(ScatterContext& context, Budget&) {
  context.replan.reshape();
  return std::nullopt;
}

Ended best_bound(ScatterContext& context, Budget&) {
  context.bounding.best_first(context.limited());
  return std::nullopt;
}

Ended dive_at_bound(ScatterContext& context, Budget&) {
  context.replan.towards(context.bounding.weakest());
  return std::nullopt;
}

Ended other_bound(ScatterContext& context, Budget&) {
  context.bounding.other_search();
  return std::nullopt;
}

Ended step_milp(ScatterContext& context, Budget& budget) {
  const bool exact = context.exact();
  const WholeStepMilpParams& params = context.params.step_milp;
  const auto most = static_cast<std::size_t>(params.variables);
  const std::size_t variables = step_milp_variables(context.instance, context.incumbent);
  if (variables > (exact ? kLargestScatterMilp : most)) return std::nullopt;
  const double share = variables > most ? kLargeMilpShare : params.share;
  Budget part = exact ? budget.part(share * budget.seconds_left(), budget.nodes_left() / 2)
                      : budget.part(budget.seconds_left(), params.nodes);
  const StoppedBy ended =
      solve_step_milp(context.instance, exact_options(context, 0), context.incumbent, part);
  const bool limit = ended == StoppedBy::node_limit || ended == StoppedBy::time_limit;
  if (context.done() || !limit) return ended;
  return std::nullopt;
}

Ended lns(ScatterContext& context, Budget& budget) {
  WorkingStep step = to_draft(context.instance, context.table, *context.incumbent.plan());
  improve(context.table, step, context.round, context.options.seed, budget, context.params.lns,
          context.params.multistart);
  budget.count_nodes(1);
  context.improved_batches = step.size();
  context.incumbent.offer(to_plan(context.instance, context.table, step), 'L', "improve");
  return std::nullopt;
}

Ended unmixed_start(ScatterContext& context, Budget& part) {
  solve_unmixed(context, "fast", part);
  return std::nullopt;
}

Ended unmixed(ScatterContext& context, Budget& part) {
  Budget own = part.part(part.seconds_left(), part.nodes_left() / 4);
  solve_unmixed(context, context.options.method, own);
  return std::nullopt;
}

Ended mixed_starts(ScatterContext& context, Budget& part) {
  const ScatterTable& table = context.table;
  const MultistartParams& race = context.params.multistart;
  std::vector<WorkingStep> others;
  if (const auto& plan = context.incumbent.plan()) {
    others.push_back(to_draft(context.instance, table, *plan));
  }
  if (auto published = mixed_skrull(table)) others.push_back(*std::move(published));
  const WorkingStep step = best_mixed(table, others, race.moves, race, context.options.seed, part);
  context.incumbent.offer(to_plan(context.instance, table, step), 'H', "mixed");
  return std::nullopt;
}

Ended mixed_annealing(ScatterContext& context, Budget& budget) {
  const MultistartParams& race = context.params.multistart;
  const WorkingStep step = to_draft(context.instance, context.table, *context.incumbent.plan());
  const double hot =
      race.hot * std::pow(race.cooling,
                          static_cast<double>(context.round % context.params.mixed.temperatures));
  const WorkingStep made = annealed_mixed(context.table, step, context.params.lns.moves, hot,
                                          context.options.seed + context.round + 1, budget);
  budget.count_nodes(1);
  context.incumbent.offer(to_plan(context.instance, context.table, made), 'L', "mixed");
  return std::nullopt;
}

Ended partial_reopt(ScatterContext& context, Budget&) {
  context.replan.some(context.round);
  return std::nullopt;
}

Ended more_bounds(ScatterContext& context, Budget&) {
  context.bounding.resume();
  return std::nullopt;
}

Ended regroup_milp(ScatterContext& context, Budget& budget) {
  std::int64_t& nodes = context.regroup_nodes;
  nodes = nodes == 0 ? context.params.rounds.regroup_nodes : std::min(2 * nodes, kMaxRegroupNodes);
  regroup_by_milp(context.instance, exact_options(context, context.round), nodes, context.incumbent,
                  budget);
  return std::nullopt;
}

Ended flexsp_milps(ScatterContext& context, Budget& budget) {
  Incumbent<ScatterInstance>& incumbent = context.incumbent;
  FlexspResult result =
      flexsp(without_mixed(context.instance),
             {.backend = context.backend(),
              .milp_seconds = context.options.milp_seconds.value_or(kMilpSeconds)},
             budget);
  if (result.plan) {
    incumbent.offer(std::move(*result.plan), 'M', "flexsp");
  } else {
    incumbent.remark("every chunking tried has a chunk without a grouping");
  }
  if (!result.detail.empty()) incumbent.remark("a MILP failed: " + result.detail);
  if (result.milps_stopped == 0) return std::nullopt;
  incumbent.remark(std::to_string(result.milps_stopped) + " of " + std::to_string(result.milps) +
                   " MILPs stopped at a limit");
  context.ended = StoppedBy::time_limit;
  return std::nullopt;
}

Ended flexsp_grouping(ScatterContext& context, Budget& budget) {
  Incumbent<ScatterInstance>& incumbent = context.incumbent;
  FlexspIdealGrouping result =
      plan_flexsp_chunks(without_mixed(context.instance), context.backend(), budget);
  if (result.plan) {
    incumbent.offer(std::move(*result.plan), 'H', "flexsp-chunks");
  } else {
    incumbent.remark("every chunking tried has a chunk without a grouping");
  }
  if (!result.failure.empty()) incumbent.remark("a class bound failed: " + result.failure);
  if (result.bound > 0) {
    incumbent.remark("no solver groups FlexSP's chunks in less than " + ms_text(result.bound) +
                     " ms");
    context.method_bound = result.bound;
  }
  return std::nullopt;
}

}  // namespace stowage::scatter_stage
