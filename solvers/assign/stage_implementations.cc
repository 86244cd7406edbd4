#include "solvers/assign/stage_implementations.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "heuristics/assign/construct/multistart.h"
#include "heuristics/assign/registry.h"
#include "instances/numeric/numbers.h"
#include "solvers/assign/bounds/band_bound.h"
#include "solvers/assign/bounds/completion_bound.h"
#include "solvers/assign/bounds/configuration_bound.h"
#include "solvers/assign/bounds/grouped_bound.h"
#include "solvers/assign/bounds/pattern_bound.h"
#include "solvers/assign/exact/strategy_milp.h"
#include "solvers/assign/exact/subset_dp.h"
#include "solvers/assign/explain/remedy.h"
#include "solvers/assign/published/hydraulis.h"

namespace stowage::assign_stage {
namespace {

constexpr std::int64_t kAnySteps = std::numeric_limits<std::int64_t>::max();
// Divisors of the effort of `auto` for the bounds of `fast`, each of which then takes about ten
// milliseconds.
constexpr int kQuickBandsPart = 4;
constexpr int kQuickCompletionPart = 10;
constexpr int kQuickConfigurationsPart = 10;
// Relative gap at which `auto` stops generating configurations.
constexpr double kConfigurationsNear = 1e-4;

std::optional<MilpBackend> lp_backend(const AssignContext& context) {
  return built_backends().empty() ? std::nullopt : std::optional(backend_of(context.options));
}

// Composes the plans of the drafts until `part` is exhausted, and submits the first plan. Plans of
// the other strategies may end earlier under 1F1B at nearly the same objective.
void offer_drafts(AssignContext& context, const char* name, const Budget& part) {
  context.plans.clear();
  for (const AssignWorkingPlan& draft : context.drafts) {
    if (!context.plans.empty() && part.exhausted()) return;
    context.plans.push_back(to_plan(context.instance, context.table, draft, part));
    const AssignPlan& plan = context.plans.back();
    if (context.plans.size() == 1 || context.incumbent.is_candidate(plan.objective_ms)) {
      context.incumbent.offer(plan, 'H', name);
    }
  }
}

// Plans every strategy at the first call. Later calls plan the strategies within reach again.
void plan(AssignContext& context, const char* name, const AssignEffort& effort) {
  const Budget part = context.part_for_plans();
  std::vector<AssignWorkingPlan>& drafts = context.drafts;
  if (!drafts.empty() && part.exhausted()) return;
  if (drafts.empty()) {
    drafts = plan_strategies(context.table, context.params.plans, context.options.seed, part,
                             !context.incumbent.plan());
  } else {
    plan_best_again(context.table, context.params.plans, effort, context.options.seed, part,
                    drafts);
  }
  if (drafts.empty() && !part.exhausted()) {
    context.incumbent.remark(std::string(name) + " found no rows that meet the constraints");
  }
  offer_drafts(context, name, part);
}

// Tries all subsets of the sequences. Returns true if this proved an optimum or infeasibility.
bool settle_few(AssignContext& context, std::int64_t steps) {
  Incumbent<AssignInstance>& incumbent = context.incumbent;
  const Ms limit = incumbent.plan() ? incumbent.plan()->objective_ms : kInfinity;
  FewResult found =
      solve_few(context.instance, incumbent.bound(), limit, context.part_for_plans(), steps);
  if (!found.complete) return false;
  if (found.plan) incumbent.offer(std::move(*found.plan), 'M', "subsets");
  if (incumbent.plan()) {
    incumbent.raise_bound({"subsets", incumbent.plan()->objective_ms});
  } else {
    context.refuted = {"no packing meets the row constraints", remedy_for_rows(context.instance)};
  }
  return true;
}

// Returns true if the checker accepts the certificate. Raises the bound if the certificate's bound
// is higher.
bool confirm(AssignContext& context, const std::string& name,
             const AssignCertificate& certificate) {
  Incumbent<AssignInstance>& incumbent = context.incumbent;
  const AssignCertificateCheck check = check_certificate(context.instance, certificate);
  if (!check.violations.empty()) {
    incumbent.remark("a certificate fails its check: " + to_string(check.violations.front()));
    return false;
  }
  if (check.bound_ms > incumbent.bound() && incumbent.raise_bound({name, check.bound_ms})) {
    context.certificate = certificate;
  }
  return true;
}

bool bound_is_open(const AssignContext& context) {
  const Incumbent<AssignInstance>& incumbent = context.incumbent;
  return incumbent.plan() && !incumbent.proven() && !incumbent.within(context.options.gap);
}

// Raises the bound to the pattern bound that the checker confirms.
Ended raise_patterns(AssignContext& context, PatternDetail detail, double near) {
  if (!bound_is_open(context)) return std::nullopt;
  const AssignPatternParams& params = context.params.pattern_bound;
  const PatternBoundOptions options{.backend = lp_backend(context),
                                    .rounds = params.rounds,
                                    .patience = params.patience,
                                    .detail = detail,
                                    .near = near};
  const PatternBound found =
      pattern_bound(context.instance, context.table, context.incumbent.plan()->objective_ms,
                    options, context.budget);
  if (!found.certificate || !confirm(context, "patterns", *found.certificate)) return std::nullopt;
  context.known = {found.certificate->strategies, found.strategies};
  return std::nullopt;
}

Ended raise_configurations(AssignContext& context, ConfigurationBoundOptions options) {
  if (!bound_is_open(context)) return std::nullopt;
  options.backend = lp_backend(context);
  ConfigurationBound found =
      configuration_bound(context.instance, context.table, context.incumbent.plan()->objective_ms,
                          context.known, options, context.budget);
  if (!found.certificate || !confirm(context, "configurations", *found.certificate)) {
    return std::nullopt;
  }
  context.known = std::move(found.known);
  return std::nullopt;
}

Ended raise_bands(AssignContext& context, const BandBoundOptions& options) {
  if (!bound_is_open(context)) return std::nullopt;
  BandBound found =
      band_bound(context.instance, context.table, context.incumbent.plan()->objective_ms,
                 context.known, options, context.budget);
  if (!found.certificate || !confirm(context, "bands", *found.certificate)) return std::nullopt;
  context.known = std::move(found.known);
  return std::nullopt;
}

Ended complete_shares(AssignContext& context, std::int64_t nodes) {
  Incumbent<AssignInstance>& incumbent = context.incumbent;
  if (!incumbent.plan() || context.instance.constraints.equal_rows) return std::nullopt;
  const Budget part = context.part_for_plans();
  const auto found = completion_bound(
      context.table, incumbent.plan()->objective_ms, incumbent.bound(), context.known.times,
      {.nodes = nodes, .times = context.params.completion.times}, part);
  std::optional<AssignPlan> better;
  if (found.draft) better = to_plan(context.instance, context.table, *found.draft, part);
  if (better) incumbent.offer(std::move(*better), 'M', "completion");
  incumbent.raise_bound({"completion", found.bound});
  return std::nullopt;
}

Ended run_hydraulis(AssignContext& context, Budget& budget, HydraulisScore score) {
  Incumbent<AssignInstance>& incumbent = context.incumbent;
  const SolveOptions& options = context.options;
  HydraulisResult result =
      hydraulis_by_milp(context.instance,
                        {.backend = backend_of(options),
                         .score = score,
                         .seed = options.seed,
                         .milp_seconds = options.milp_seconds.value_or(kMilpSeconds)},
                        budget);
  if (result.plan) {
    incumbent.offer(std::move(*result.plan), 'M', options.method);
  } else {
    incumbent.remark(options.method + " cannot plan this step");
  }
  if (!result.detail.empty()) incumbent.remark("an ILP failed: " + result.detail);
  if (result.too_large > 0) {
    incumbent.remark(std::to_string(result.too_large) + " ILPs are too large to be tried");
  }
  if (result.milps_stopped == 0) return std::nullopt;
  incumbent.remark(std::to_string(result.milps_stopped) + " of " + std::to_string(result.milps) +
                   " ILPs stopped at a limit");
  context.ended = StoppedBy::time_limit;
  return std::nullopt;
}

}  // namespace

Ended first_plan(AssignContext& context, Budget&) {
  plan(context, "fast", quick_effort(context.params.plans));
  return std::nullopt;
}

Ended subsets(AssignContext& context, Budget&) {
  if (!settle_few(context, kAnySteps)) return std::nullopt;
  return StoppedBy::proof;
}

Ended multistart(AssignContext& context, Budget&) {
  const AssignPlanParams& params = context.params.plans;
  plan(context, "joint", thorough_effort(params, params.multistart.ruins));
  return std::nullopt;
}

Ended pattern_bound_stage(AssignContext& context, Budget&) {
  return raise_patterns(context, PatternDetail::usual, context.params.pattern_bound.near);
}

Ended band_bound_stage(AssignContext& context, Budget&) {
  const AssignBandParams& params = context.params.band_bound;
  return raise_bands(context, {.operations = params.operations, .rounds = params.rounds});
}

Ended completion(AssignContext& context, Budget&) {
  return complete_shares(context, context.params.completion.nodes);
}

Ended configuration_bound_stage(AssignContext& context, Budget&) {
  return raise_configurations(context, {.most_lps = context.params.configuration_bound.lps,
                                        .near = kConfigurationsNear,
                                        .apart = kConfigurationsNear});
}

Ended fine_pattern_bound(AssignContext& context, Budget&) {
  return raise_patterns(context, PatternDetail::fine, context.params.pattern_bound.near);
}

Ended long_multistart(AssignContext& context, Budget&) {
  const AssignPlanParams& params = context.params.plans;
  plan(context, "joint", thorough_effort(params, params.multistart.long_ruins));
  return std::nullopt;
}

Ended grouped_bound_stage(AssignContext& context, Budget& budget) {
  Incumbent<AssignInstance>& incumbent = context.incumbent;
  const AssignGroupedParams& params = context.params.grouped_bound;
  const GroupedBound grouped = grouped_bound(
      context.instance, context.table, context.plans, incumbent.plan()->objective_ms,
      incumbent.bound(), context.known.times,
      {.backend = backend_of(context.options), .nodes = params.nodes, .most_apart = params.apart},
      budget);
  if (!grouped.detail.empty()) incumbent.remark(grouped.detail);
  if (grouped.bound) incumbent.raise_bound(*grouped.bound);
  return std::nullopt;
}

Ended strategy_milps(AssignContext& context, Budget& budget) {
  const SolveOptions& options = context.options;
  AssignExactOptions exact{
      .backend = backend_of(options), .gap = options.gap, .seed = options.seed};
  // `auto` solves only the MILPs of strategies that it can expect to close.
  const AssignMilpParams& params = context.params.strategy_milps;
  if (!context.exact()) exact.most_variables = static_cast<std::size_t>(params.variables);
  Budget part =
      budget.part(budget.seconds_left(), context.exact() ? budget.nodes_left() : params.nodes);
  context.ended = solve_assign_milps(context.instance, context.table, context.plans, exact,
                                     context.incumbent, part);
  return std::nullopt;
}

// The search runs until a limit, so the stage does nothing if the solve has no limit.
Ended lns(AssignContext& context, Budget& budget) {
  Incumbent<AssignInstance>& incumbent = context.incumbent;
  const bool limited = std::isfinite(budget.limits().time_limit_s) ||
                       budget.limits().node_limit < std::numeric_limits<std::int64_t>::max();
  for (std::uint64_t round = 1; limited && !context.done(); ++round) {
    const Budget part = context.part_for_plans();
    const int ruins = ruin_best(context.table, context.params.plans, context.params.lns.ruins,
                                context.options.seed + round, part, context.drafts);
    if (ruins == 0) break;
    budget.count_nodes(ruins);
    if (incumbent.plan() && objective(context.drafts.front()) < incumbent.plan()->objective_ms) {
      offer_drafts(context, "joint", part);
    }
  }
  if (context.done()) return StoppedBy::heuristic_end;
  return std::nullopt;
}

Ended method_heuristic(AssignContext& context, Budget& budget) {
  Incumbent<AssignInstance>& incumbent = context.incumbent;
  for (const AssignHeuristic& heuristic : heuristics(context.instance, context.params.plans)) {
    if (heuristic.name != context.options.method) continue;
    const Budget part = budget.part(budget.seconds_left() - context.reserve_s, budget.nodes_left());
    if (auto found = heuristic.run(context.instance, context.table, context.options.seed, part)) {
      incumbent.offer(std::move(*found), 'H', heuristic.name);
    } else if (!part.exhausted()) {
      incumbent.remark(heuristic.name + " cannot plan this step");
    }
    context.time_ended_it = part.stop_reason() == StopReason::time_limit;
  }
  return std::nullopt;
}

Ended quick_subsets(AssignContext& context, Budget&) {
  settle_few(context, kAnySteps);
  if (context.refuted) return StoppedBy::heuristic_end;
  return std::nullopt;
}

Ended quick_pattern_bound(AssignContext& context, Budget&) {
  return raise_patterns(context, PatternDetail::usual, context.params.pattern_bound.quick_near);
}

Ended quick_band_bound(AssignContext& context, Budget&) {
  const AssignBandParams& params = context.params.band_bound;
  return raise_bands(context, {.operations = params.operations / kQuickBandsPart,
                               .rounds = params.rounds,
                               .near = context.params.pattern_bound.quick_near});
}

Ended quick_completion(AssignContext& context, Budget&) {
  return complete_shares(context, context.params.completion.nodes / kQuickCompletionPart);
}

Ended quick_configuration_bound(AssignContext& context, Budget&) {
  const double wide = context.params.gaps.wide;
  return raise_configurations(
      context, {.most_lps = context.params.configuration_bound.lps / kQuickConfigurationsPart,
                .near = wide,
                .apart = wide / 10,
                .first = 1 - 0.9 * wide});
}

Ended quick_fine_pattern_bound(AssignContext& context, Budget&) {
  return raise_patterns(context, PatternDetail::fine, context.params.pattern_bound.quick_near);
}

Ended late_subsets(AssignContext& context, Budget&) {
  settle_few(context, context.params.subsets.late_steps);
  return std::nullopt;
}

Ended hydraulis_published(AssignContext& context, Budget& budget) {
  return run_hydraulis(context, budget, HydraulisScore::published);
}

Ended hydraulis_modelled(AssignContext& context, Budget& budget) {
  return run_hydraulis(context, budget, HydraulisScore::modelled);
}

Ended plan_at_once(AssignContext& context, Budget&) {
  const Budget none({.time_limit_s = 0});
  context.drafts = plan_strategies(context.table, context.params.plans, context.options.seed, none);
  offer_drafts(context, "fast", none);
  return std::nullopt;
}

}  // namespace stowage::assign_stage
