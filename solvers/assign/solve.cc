// Longer than 300 lines: the stages of one search, which share drafts, plans and what is proven.
#include "solvers/assign/solve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "formulations/assign/bounds.h"
#include "heuristics/assign/joint.h"
#include "heuristics/assign/registry.h"
#include "instances/numbers.h"
#include "solvers/assign/band_bound.h"
#include "solvers/assign/chunked_solve.h"
#include "solvers/assign/completion_bound.h"
#include "solvers/assign/configuration_bound.h"
#include "solvers/assign/exact.h"
#include "solvers/assign/few_sequences.h"
#include "solvers/assign/grouped_bound.h"
#include "solvers/assign/hydraulis.h"
#include "solvers/assign/pattern_bound.h"
#include "solvers/assign/remedy.h"
#include "solvers/assign/starvation.h"
#include "solvers/family_solve.h"

namespace stowage {
namespace {

// `auto` gives a MILP only to strategies it can expect to close.
constexpr std::size_t kSmallMilp = 3000;            // variables
constexpr std::int64_t kSmallMilpNodes = 2000;      // then it has had its chance
constexpr std::size_t kFewForFast = 14;             // sequences: some hundredths of a second
constexpr std::int64_t kStepsForFast = 20'000'000;  // some sixty milliseconds
constexpr std::int64_t kNodesForFast = 100'000;     // of completion.h: about ten milliseconds
constexpr std::int64_t kNodesForMore = 1'000'000;
constexpr std::int64_t kAnySteps = std::numeric_limits<std::int64_t>::max();
constexpr double kNearForFast = 1e-3;  // a gap that is not worth another LP
constexpr double kWide = 0.02;         // gap above which its bound may take longer than its plan
constexpr ConfigurationBoundOptions kConfigurationsForFast{
    .most_lps = 400, .near = kWide, .apart = kWide / 10, .first = 1 - 0.9 * kWide};
constexpr ConfigurationBoundOptions kMoreConfigurations{
    .most_lps = 4000, .near = 1e-4, .apart = 1e-4};
constexpr std::int64_t kBandsForFast = 1'000'000;  // operations: some five milliseconds
constexpr int kRuins = 1000;                       // between two looks at what is proven
constexpr double kWorthPatience = 1e-3;            // gap above which more search is worth its time

// Writing down and verifying a plan takes at most so many times what the table and the bounds took.
constexpr double kPlanPerSetup = 3;

constexpr char kCompletion[] = "completion";
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
    if (!starves(table_)) return std::nullopt;
    return Refutation{"the row constraints need more sequences than there are",
                      remedy_for_rows(instance_),
                      {},
                      {.by = "rows"}};
  }

  std::vector<NamedBound> bounds() override {
    std::vector<NamedBound> found = assign_bounds(table_, budget_);
    reserve_s_ = kPlanPerSetup * budget_.seconds();
    return found;
  }

  void complete(Outcome& outcome) const override {
    if (certificate_) outcome.certificate.emplace(*certificate_);
  }

  StoppedBy search() override {
    if (options_.method == kAuto.name || options_.method == kExact.name) return run_exact();
    const StoppedBy ended = run_method();
    // What a limit cut must not be worse than what a limit of nothing leaves.
    if (out_of_time()) offer_at_once();
    return ended;
  }

  StoppedBy run_method() {
    if (options_.method == kHydraulis.name) return run_hydraulis(HydraulisScore::published);
    if (options_.method == kHydraulisModelled.name) return run_hydraulis(HydraulisScore::modelled);
    for (const AssignHeuristic& heuristic : heuristics(instance_)) {
      if (heuristic.name != options_.method) continue;
      const Budget part = budget_.part(budget_.seconds_left() - reserve_s_, budget_.nodes_left());
      if (auto plan = heuristic.run(instance_, table_, options_.seed, part)) {
        incumbent_.offer(std::move(*plan), 'H', heuristic.name);
      } else if (!part.exhausted()) {
        incumbent_.remark(heuristic.name + " cannot plan this step");
      }
      time_ended_it_ = part.stop_reason() == StopReason::time_limit;
      if (!heuristic.source.empty() || done()) continue;
      const bool few = may_have_few_sequences(instance_);
      const bool cheap = few && instance_.lengths.size() <= kFewForFast;
      if (cheap && settle_few(kAnySteps)) continue;
      raise_pattern_bound({.near = kNearForFast});
      if (!done()) raise_band_bound({.operations = kBandsForFast, .near = kNearForFast});
      if (!done()) complete_shares(kNodesForFast);
      if (!done() && !incumbent_.within(kWide)) raise_configuration_bound(kConfigurationsForFast);
      if (!done() && !incumbent_.within(kWide)) {
        raise_pattern_bound({.detail = PatternDetail::fine, .near = kNearForFast});
      }
      if (few && !cheap && !done()) settle_few(kStepsForFast);
    }
    return StoppedBy::heuristic_end;
  }

  StoppedBy run_hydraulis(HydraulisScore score) {
    HydraulisResult result =
        hydraulis_by_milp(instance_,
                          {.backend = backend(),
                           .score = score,
                           .seed = options_.seed,
                           .milp_seconds = options_.milp_seconds.value_or(kMilpSeconds)},
                          budget_);
    if (result.plan) {
      incumbent_.offer(std::move(*result.plan), 'M', options_.method);
    } else {
      incumbent_.remark(options_.method + " cannot plan this step");
    }
    if (!result.detail.empty()) incumbent_.remark("an ILP failed: " + result.detail);
    if (result.too_large > 0) {
      incumbent_.remark(std::to_string(result.too_large) + " ILPs are too large to be tried");
    }
    if (result.milps_stopped == 0) return StoppedBy::heuristic_end;
    incumbent_.remark(std::to_string(result.milps_stopped) + " of " + std::to_string(result.milps) +
                      " ILPs stopped at a limit");
    return StoppedBy::time_limit;
  }

  StoppedBy run_exact() {
    plan("fast");
    if (done()) return StoppedBy::heuristic_end;
    if (has_few_sequences(instance_) && settle_few(kAnySteps)) return StoppedBy::proof;
    plan("joint", kThoroughAssign);
    if (done()) return StoppedBy::heuristic_end;
    raise_pattern_bound();
    if (!done()) raise_band_bound();
    if (!done()) complete_shares(kNodesForMore);
    if (!done()) raise_configuration_bound(kMoreConfigurations);
    if (!done() && !incumbent_.within(kWorthPatience))
      raise_pattern_bound({.detail = PatternDetail::fine});
    if (done()) return StoppedBy::heuristic_end;
    if (!incumbent_.plan() || !incumbent_.within(kWorthPatience)) {
      plan("joint", kPatientAssign);
      if (done()) return StoppedBy::heuristic_end;
    }
    if (built_backends().empty()) {
      improve();
      return StoppedBy::heuristic_end;
    }
    const bool endless = options_.method == kExact.name;
    if (incumbent_.plan() && (endless || !incumbent_.within(kWorthPatience))) tighten_bound();
    if (done()) return StoppedBy::heuristic_end;
    AssignExactOptions exact{.backend = backend(), .gap = options_.gap, .seed = options_.seed};
    if (!endless) exact.most_variables = kSmallMilp;
    Budget part =
        budget_.part(budget_.seconds_left(), endless ? budget_.nodes_left() : kSmallMilpNodes);
    const StoppedBy ended = solve_assign_milps(instance_, table_, plans_, exact, incumbent_, part);
    if (!done()) improve();
    return done() ? StoppedBy::heuristic_end : ended;
  }

  Budget part_for_plans() {
    return budget_.part(budget_.seconds_left() - reserve_s_, budget_.nodes_left());
  }

  // A plan of every strategy, then better ones of those within reach.
  void plan(const char* name, const AssignEffort& effort = kQuickAssign) {
    const Budget part = part_for_plans();
    if (!drafts_.empty() && part.exhausted()) return;
    if (drafts_.empty()) {
      drafts_ = plan_strategies(table_, options_.seed, part, !incumbent_.plan());
    } else {
      plan_best_again(table_, effort, options_.seed, part, drafts_);
    }
    if (drafts_.empty() && !part.exhausted()) {
      incumbent_.remark(std::string(name) + " found no rows that meet the constraints");
    }
    offer_drafts(name, part);
  }

  void offer_at_once() {
    const Budget none({.time_limit_s = 0});
    drafts_ = plan_strategies(table_, options_.seed, none);
    offer_drafts("fast", none);
  }

  // The fastest is offered, all are starts for what follows.
  void offer_drafts(const char* name, const Budget& part) {
    plans_.clear();
    for (const AssignDraft& draft : drafts_) {
      if (!plans_.empty() && part.exhausted()) return;
      plans_.push_back(to_plan(instance_, table_, draft, part));
      if (plans_.size() == 1) incumbent_.offer(plans_.front(), 'H', name);
    }
  }

  // Ruins and recreates until a limit or the proof: what improves for ever needs a limit.
  void improve() {
    const bool limited = std::isfinite(budget_.limits().time_limit_s) ||
                         budget_.limits().node_limit < std::numeric_limits<std::int64_t>::max();
    for (std::uint64_t round = 1; limited && !done(); ++round) {
      const Budget part = part_for_plans();
      const int ruins = ruin_best(table_, kRuins, options_.seed + round, part, drafts_);
      if (ruins == 0) return;
      budget_.count_nodes(ruins);
      if (incumbent_.plan() && objective(drafts_.front()) < incumbent_.plan()->objective_ms) {
        offer_drafts("joint", part);
      }
    }
  }

  // Whether that settled it.
  bool settle_few(std::int64_t steps) {
    const Ms limit = incumbent_.plan() ? incumbent_.plan()->objective_ms : kInfinity;
    FewResult found = solve_few(instance_, incumbent_.bound(), limit, part_for_plans(), steps);
    if (!found.complete) return false;
    if (found.plan) incumbent_.offer(std::move(*found.plan), 'M', "subsets");
    if (incumbent_.plan()) {
      incumbent_.raise_bound({"subsets", incumbent_.plan()->objective_ms});
    } else {
      refuted_ = {"no packing meets the row constraints", remedy_for_rows(instance_)};
    }
    return true;
  }

  // Only what the checker confirms becomes a bound.
  void raise_pattern_bound(PatternBoundOptions options = {}) {
    if (!incumbent_.plan() || incumbent_.proven() || incumbent_.within(options_.gap)) return;
    options.backend = lp_backend();
    const PatternBound found =
        pattern_bound(instance_, table_, incumbent_.plan()->objective_ms, options, budget_);
    if (!found.certificate || !confirm("patterns", *found.certificate)) return;
    known_ = {found.certificate->strategies, found.strategies};
  }

  // Whether the checker agrees; a bound that says more than what is known is then raised.
  bool confirm(const std::string& name, const AssignCertificate& certificate) {
    const AssignCertificateCheck check = check_certificate(instance_, certificate);
    if (!check.violations.empty()) {
      incumbent_.remark("a certificate fails its check: " + to_string(check.violations.front()));
      return false;
    }
    if (check.bound_ms > incumbent_.bound() && incumbent_.raise_bound({name, check.bound_ms})) {
      certificate_ = certificate;
    }
    return true;
  }

  void raise_configuration_bound(ConfigurationBoundOptions options) {
    if (!incumbent_.plan() || incumbent_.proven() || incumbent_.within(options_.gap)) return;
    options.backend = lp_backend();
    ConfigurationBound found = configuration_bound(
        instance_, table_, incumbent_.plan()->objective_ms, known_, options, budget_);
    if (!found.certificate || !confirm("configurations", *found.certificate)) return;
    known_ = std::move(found.known);
  }

  void raise_band_bound(const BandBoundOptions& options = {}) {
    if (!incumbent_.plan() || incumbent_.proven() || incumbent_.within(options_.gap)) return;
    BandBound found =
        band_bound(instance_, table_, incumbent_.plan()->objective_ms, known_, options, budget_);
    if (!found.certificate || !confirm("bands", *found.certificate)) return;
    known_ = std::move(found.known);
  }

  void complete_shares(std::int64_t nodes) {
    if (!incumbent_.plan() || instance_.constraints.equal_rows) return;
    const Budget part = part_for_plans();
    const auto found = completion_bound(table_, incumbent_.plan()->objective_ms, incumbent_.bound(),
                                        known_.times, nodes, part);
    std::optional<AssignPlan> plan;
    if (found.draft) plan = to_plan(instance_, table_, *found.draft, part);
    if (plan) incumbent_.offer(std::move(*plan), 'M', kCompletion);
    incumbent_.raise_bound({kCompletion, found.bound});
  }

  void tighten_bound() {
    const GroupedBound grouped =
        grouped_bound(instance_, table_, plans_, incumbent_.plan()->objective_ms,
                      incumbent_.bound(), known_.times, {.backend = backend()}, budget_);
    if (!grouped.detail.empty()) incumbent_.remark(grouped.detail);
    if (grouped.bound) incumbent_.raise_bound(*grouped.bound);
  }

  // Whether to stop before the next stage of work.
  bool done() {
    if (!incumbent_.plan()) return budget_.exhausted();
    gap_ended_it_ = incumbent_.within(options_.gap);
    return gap_ended_it_ || incumbent_.proven() || out_of_time();
  }

  // What is left would not do for writing down and verifying another plan.
  bool out_of_time() {
    if (budget_.seconds_left() <= reserve_s_) time_ended_it_ = true;
    return time_ended_it_ || budget_.exhausted();
  }

  MilpBackend backend() const { return backend_of(options_); }
  std::optional<MilpBackend> lp_backend() const {
    return built_backends().empty() ? std::nullopt : std::optional(backend());
  }

  const AssignTable table_{instance_};
  std::vector<AssignDraft> drafts_;               // the best known of each strategy, fastest first
  std::vector<AssignPlan> plans_;                 // these, as far as there was time
  std::optional<AssignCertificate> certificate_;  // confirmed
  KnownProofs known_;                             // of each strategy
  // For writing down and verifying a plan.
  double reserve_s_ = 0;
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

Outcome solve_family(const AssignInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress) {
  if (instance.constraints.chunks) return solve_chunked(instance, options, budget, progress);
  return AssignSolve(instance, options, budget, progress).run();
}

}  // namespace stowage
