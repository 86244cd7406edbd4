// Longer than 300 lines: all stages of one family, most of them a call of a search.
#include "solvers/assign/stage_runs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "heuristics/assign/joint.h"
#include "heuristics/assign/registry.h"
#include "instances/numbers.h"
#include "solvers/assign/band_bound.h"
#include "solvers/assign/completion_bound.h"
#include "solvers/assign/configuration_bound.h"
#include "solvers/assign/exact.h"
#include "solvers/assign/few_sequences.h"
#include "solvers/assign/grouped_bound.h"
#include "solvers/assign/hydraulis.h"
#include "solvers/assign/pattern_bound.h"
#include "solvers/assign/remedy.h"

namespace stowage::assign_stage {
namespace {

// `auto` gives a MILP only to strategies it can expect to close.
constexpr std::size_t kSmallMilp = 3000;  // variables
constexpr std::int64_t kSmallMilpNodes = 2000;
constexpr std::int64_t kStepsForFast = 20'000'000;  // some sixty milliseconds
constexpr std::int64_t kNodesForFast = 100'000;     // of completion.h: about ten milliseconds
constexpr std::int64_t kNodesForMore = 1'000'000;
constexpr std::int64_t kAnySteps = std::numeric_limits<std::int64_t>::max();
constexpr double kNearForFast = 1e-3;  // a gap that is not worth another LP
constexpr ConfigurationBoundOptions kConfigurationsForFast{
    .most_lps = 400, .near = kWideGap, .apart = kWideGap / 10, .first = 1 - 0.9 * kWideGap};
constexpr ConfigurationBoundOptions kMoreConfigurations{
    .most_lps = 4000, .near = 1e-4, .apart = 1e-4};
constexpr std::int64_t kBandsForFast = 1'000'000;  // operations: some five milliseconds
constexpr int kRuins = 1000;                       // between two looks at what is proven

std::optional<MilpBackend> lp_backend(const AssignContext& context) {
  return built_backends().empty() ? std::nullopt : std::optional(backend_of(context.options));
}

// The fastest is offered, all are starts for later stages.
void offer_drafts(AssignContext& context, const char* name, const Budget& part) {
  context.plans.clear();
  for (const AssignDraft& draft : context.drafts) {
    if (!context.plans.empty() && part.exhausted()) return;
    context.plans.push_back(to_plan(context.instance, context.table, draft, part));
    if (context.plans.size() == 1) context.incumbent.offer(context.plans.front(), 'H', name);
  }
}

// A plan of every strategy, then better ones of those within reach.
void plan(AssignContext& context, const char* name, const AssignEffort& effort = kQuickAssign) {
  const Budget part = context.part_for_plans();
  std::vector<AssignDraft>& drafts = context.drafts;
  if (!drafts.empty() && part.exhausted()) return;
  if (drafts.empty()) {
    drafts = plan_strategies(context.table, context.options.seed, part, !context.incumbent.plan());
  } else {
    plan_best_again(context.table, effort, context.options.seed, part, drafts);
  }
  if (drafts.empty() && !part.exhausted()) {
    context.incumbent.remark(std::string(name) + " found no rows that meet the constraints");
  }
  offer_drafts(context, name, part);
}

// Whether that settled it.
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

// Whether the checker agrees; a bound that says more than what is known is then raised.
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

// Only what the checker confirms becomes a bound.
Ended raise_patterns(AssignContext& context, PatternBoundOptions options) {
  if (!bound_is_open(context)) return std::nullopt;
  options.backend = lp_backend(context);
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
  const auto found = completion_bound(context.table, incumbent.plan()->objective_ms,
                                      incumbent.bound(), context.known.times, nodes, part);
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
  plan(context, "fast");
  return std::nullopt;
}

Ended subsets(AssignContext& context, Budget&) {
  if (!settle_few(context, kAnySteps)) return std::nullopt;
  return StoppedBy::proof;
}

Ended multistart(AssignContext& context, Budget&) {
  plan(context, "joint", kThoroughAssign);
  return std::nullopt;
}

Ended pattern_bound_stage(AssignContext& context, Budget&) { return raise_patterns(context, {}); }

Ended band_bound_stage(AssignContext& context, Budget&) { return raise_bands(context, {}); }

Ended completion(AssignContext& context, Budget&) {
  return complete_shares(context, kNodesForMore);
}

Ended configuration_bound_stage(AssignContext& context, Budget&) {
  return raise_configurations(context, kMoreConfigurations);
}

Ended fine_pattern_bound(AssignContext& context, Budget&) {
  return raise_patterns(context, {.detail = PatternDetail::fine});
}

Ended long_multistart(AssignContext& context, Budget&) {
  plan(context, "joint", kPatientAssign);
  return std::nullopt;
}

Ended grouped_bound_stage(AssignContext& context, Budget& budget) {
  Incumbent<AssignInstance>& incumbent = context.incumbent;
  const GroupedBound grouped = grouped_bound(
      context.instance, context.table, context.plans, incumbent.plan()->objective_ms,
      incumbent.bound(), context.known.times, {.backend = backend_of(context.options)}, budget);
  if (!grouped.detail.empty()) incumbent.remark(grouped.detail);
  if (grouped.bound) incumbent.raise_bound(*grouped.bound);
  return std::nullopt;
}

Ended strategy_milps(AssignContext& context, Budget& budget) {
  const SolveOptions& options = context.options;
  AssignExactOptions exact{
      .backend = backend_of(options), .gap = options.gap, .seed = options.seed};
  if (!context.exact()) exact.most_variables = kSmallMilp;
  Budget part =
      budget.part(budget.seconds_left(), context.exact() ? budget.nodes_left() : kSmallMilpNodes);
  context.ended = solve_assign_milps(context.instance, context.table, context.plans, exact,
                                     context.incumbent, part);
  return std::nullopt;
}

// A search that improves for ever needs a limit.
Ended lns(AssignContext& context, Budget& budget) {
  Incumbent<AssignInstance>& incumbent = context.incumbent;
  const bool limited = std::isfinite(budget.limits().time_limit_s) ||
                       budget.limits().node_limit < std::numeric_limits<std::int64_t>::max();
  for (std::uint64_t round = 1; limited && !context.done(); ++round) {
    const Budget part = context.part_for_plans();
    const int ruins =
        ruin_best(context.table, kRuins, context.options.seed + round, part, context.drafts);
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
  for (const AssignHeuristic& heuristic : heuristics(context.instance)) {
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
  return raise_patterns(context, {.near = kNearForFast});
}

Ended quick_band_bound(AssignContext& context, Budget&) {
  return raise_bands(context, {.operations = kBandsForFast, .near = kNearForFast});
}

Ended quick_completion(AssignContext& context, Budget&) {
  return complete_shares(context, kNodesForFast);
}

Ended quick_configuration_bound(AssignContext& context, Budget&) {
  return raise_configurations(context, kConfigurationsForFast);
}

Ended quick_fine_pattern_bound(AssignContext& context, Budget&) {
  return raise_patterns(context, {.detail = PatternDetail::fine, .near = kNearForFast});
}

Ended late_subsets(AssignContext& context, Budget&) {
  settle_few(context, kStepsForFast);
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
  context.drafts = plan_strategies(context.table, context.options.seed, none);
  offer_drafts(context, "fast", none);
  return std::nullopt;
}

}  // namespace stowage::assign_stage
