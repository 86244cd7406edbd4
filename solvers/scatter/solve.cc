// Longer than 300 lines: one list of stages, in the order in which a solve takes them.
#include "solvers/scatter/solve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "formulations/scatter/bounds.h"
#include "heuristics/scatter/improve.h"
#include "heuristics/scatter/registry.h"
#include "instances/numbers.h"
#include "solvers/family_solve.h"
#include "solvers/scatter/bounding.h"
#include "solvers/scatter/exact.h"
#include "solvers/scatter/flexsp.h"
#include "solvers/scatter/flexsp_chunks.h"
#include "solvers/scatter/remedy.h"
#include "solvers/scatter/replan.h"
#include "solvers/scatter/run.h"
#include "solvers/scatter/subsets.h"

namespace stowage {
namespace {

// `auto` gives a whole-step MILP only to steps it can expect to close.
constexpr std::size_t kSmallMilp = 3000;        // variables
constexpr std::int64_t kSmallMilpNodes = 2000;  // then it has had its chance
constexpr double kSmallMilpShare = 0.5;         // of the time left, of `exact`
constexpr double kLargeMilpShare = 0.1;         // where a proof is as good as out of reach
constexpr double kSubsetShare = 0.75;           // of the time left, for all sets of few sequences
constexpr std::int64_t kRegroupNodes = 500;     // per micro-batch and round, doubled each round
constexpr std::int64_t kMostRegroupNodes = 1000000;
constexpr std::uint64_t kRoundsPerRepack = 2;
constexpr std::uint64_t kRoundsPerRegroup = 8;
constexpr std::uint64_t kRoundsBeforeMilp = 8;
constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();
constexpr double kFewSequences = 4;    // per device, for `fast` to plan a micro-batch anew
constexpr double kFewerSequences = 2;  // and for several
constexpr std::size_t kFewLengths = 60;
constexpr double kSecondsToFinish = 2.5e-7;  // per sequence: composing and verifying a plan

constexpr char kSubsets[] = "subsets";

const Method kAuto{"auto", MethodKind::ours, "heuristics, then exact methods while the limits last",
                   ""};
const Method kExact{"exact", MethodKind::ours,
                    "whole-step MILP, then replanning and MILP regrouping until proof or limit",
                    ""};
const Method kFlexsp{"flexsp", MethodKind::baseline,
                     "FlexSP: token chunks, 16 buckets, the published MILP per micro-batch",
                     "FlexSP sections 4.2 to 4.4"};
const Method kFlexspChunks{"flexsp-chunks", MethodKind::baseline,
                           "FlexSP's chunks grouped by our search; method_bound: by any solver",
                           "FlexSP section 4.3"};

class ScatterSolve : public FamilySolve<ScatterInstance> {
 public:
  using FamilySolve::FamilySolve;

 private:
  std::optional<Refutation> refute() override {
    std::vector<std::int64_t> ids = unplaceable_sequences(instance_);
    if (!ids.empty()) {
      std::string remedy = remedy_for_long(instance_, ids);
      return Refutation{.detail = "", .remedy = std::move(remedy), .unplaceable = std::move(ids)};
    }
    if (instance_.lengths.empty()) return std::nullopt;
    return refute_by_count();
  }

  // Each group has a sequence; the rules may ask for more groups than there are sequences.
  std::optional<Refutation> refute_by_count() const {
    const std::optional<std::int64_t> groups = least_groups(run_.table);
    const auto batches = std::int64_t{least_micro_batches(run_.table)};
    const std::int64_t needed = checked_mul(batches, groups.value_or(1)).value_or(kMaxExact);
    if (groups && needed <= run_.table.size()) return std::nullopt;
    std::string detail = groups ? "a plan has at least " + std::to_string(needed) +
                                      " groups, each with a sequence, and there are " +
                                      std::to_string(run_.table.size()) + " sequences"
                                : "no groups of the allowed degrees make up all ranks";
    return Refutation{
        .detail = std::move(detail),
        .remedy = remedy_for_few(instance_, groups ? std::optional(needed) : std::nullopt),
        .proof = {.by = "micro_batches"}};
  }

  std::vector<NamedBound> bounds() override { return scatter_bounds(run_.table); }

  void complete(Outcome& outcome) const override {
    if (bounding_.certificate()) outcome.certificate.emplace(*bounding_.certificate());
    outcome.method_bound = method_bound_;
  }

  StoppedBy search() override {
    if (options_.method == kAuto.name || options_.method == kExact.name) return run_exact();
    if (options_.method == kFlexsp.name || options_.method == kFlexspChunks.name) {
      const StoppedBy ended = options_.method == kFlexsp.name ? run_flexsp() : run_flexsp_chunks();
      if (!incumbent_.plan() && budget_.exhausted()) run_heuristic(quickest());
      return ended;
    }
    run_heuristic(options_.method);
    if (options_.method == "fast" && incumbent_.plan() && !cut_short_) {
      if (patterns_are_quick()) {
        replan_.alone(true);
        bounding_.quickly_by_makespans();
      }
      bounding_.quickly();
    }
    // A limit that ended the method before its first plan still leaves time for the quickest.
    if (!incumbent_.plan() && budget_.exhausted()) run_heuristic(quickest());
    return cut_short_ ? StoppedBy::time_limit : StoppedBy::heuristic_end;
  }

  const char* quickest() const { return run_.table.several_kinds() ? "first-fit" : "batch-ada"; }

  // Where a group holds few sequences, patterns find what annealing misses, and at once.
  bool patterns_are_quick() const {
    if (built_backends().empty() || run_.table.several_kinds()) return false;
    const std::size_t count = incumbent_.plan()->micro_batches.size();
    const auto sequences = static_cast<double>(instance_.lengths.size());
    const double per_device = sequences / instance_.cluster.devices;
    if (count <= 1) return per_device <= kFewSequences;
    return count <= kMostTogether && per_device <= kFewerSequences &&
           run_.table.kinds().size() <= kFewLengths;
  }

  void run_heuristic(const std::string& name) {
    // What is left when a heuristic ends is for its plan: to be written down and verified.
    const double to_finish = kSecondsToFinish * static_cast<double>(instance_.lengths.size());
    const Budget part = budget_.part(budget_.seconds_left() - to_finish, budget_.nodes_left());
    for (const ScatterHeuristic& heuristic : heuristics(instance_)) {
      if (heuristic.name != name) continue;
      if (auto plan = heuristic.run(instance_, run_.table, options_.seed, part)) {
        incumbent_.offer(std::move(*plan), 'H', name);
      } else {
        incumbent_.remark(name + " cannot plan this step");
      }
    }
    cut_short_ = part.stop_reason() == StopReason::time_limit;
  }

  StoppedBy run_flexsp() {
    FlexspResult result = flexsp(
        instance_,
        {.backend = run_.backend(), .milp_seconds = options_.milp_seconds.value_or(kMilpSeconds)},
        budget_);
    if (result.plan) {
      incumbent_.offer(std::move(*result.plan), 'M', kFlexsp.name);
    } else {
      incumbent_.remark("every chunking tried has a chunk without a grouping");
    }
    if (!result.detail.empty()) incumbent_.remark("a MILP failed: " + result.detail);
    if (result.milps_stopped == 0) return StoppedBy::heuristic_end;
    incumbent_.remark(std::to_string(result.milps_stopped) + " of " + std::to_string(result.milps) +
                      " MILPs stopped at a limit");
    return StoppedBy::time_limit;
  }

  StoppedBy run_flexsp_chunks() {
    FlexspChunksResult result = plan_flexsp_chunks(instance_, run_.backend(), budget_);
    if (result.plan) {
      incumbent_.offer(std::move(*result.plan), 'H', kFlexspChunks.name);
    } else {
      incumbent_.remark("every chunking tried has a chunk without a grouping");
    }
    if (!result.failure.empty()) incumbent_.remark("a class bound failed: " + result.failure);
    if (result.bound > 0) {
      incumbent_.remark("no solver groups FlexSP's chunks in less than " + ms_text(result.bound) +
                        " ms");
      method_bound_ = result.bound;
    }
    return StoppedBy::heuristic_end;
  }

  StoppedBy run_exact() {
    const bool endless = options_.method == kExact.name;
    // What improves for ever needs a limit to end it; `auto` without one is done sooner.
    const bool limited = std::isfinite(budget_.limits().time_limit_s) ||
                         budget_.limits().node_limit < std::numeric_limits<std::int64_t>::max();
    // First anything valid, within microseconds; then better plans, slower ones last.
    for (const char* name : {quickest(), "fast", "joint"}) {
      if (done()) return StoppedBy::heuristic_end;
      if ((endless || limited) && name == std::string_view("joint")) break;  // improve() does that
      run_heuristic(name);
      if (cut_short_ && incumbent_.plan()) return StoppedBy::time_limit;
      if (name == std::string_view("fast") && incumbent_.plan()) {
        bounding_.quickly();
        if (!done() && !run_.table.several_kinds()) try_all_subsets();
      }
    }
    if (!incumbent_.plan()) {
      const bool free = instance_.rules == ScatterRules{} && !run_.table.several_kinds();
      if (free || built_backends().empty()) {
        return StoppedBy::error;  // each failed verification; see violations
      }
      // Rules may leave so few plans that no heuristic finds one.
      if (const std::optional<StoppedBy> ended = find_a_plan()) return *ended;
    }
    if (done()) return StoppedBy::heuristic_end;
    if (!built_backends().empty()) {
      if (packs_patterns()) {
        replan_.alone(false);
        if (done()) return StoppedBy::heuristic_end;
        replan_.reshape();
      }
      if (done()) return StoppedBy::heuristic_end;
      if (raise_bounds(limited)) return StoppedBy::heuristic_end;
      // A MILP of some size wants a good start, and must leave time for what does better.
      if (endless) improve(kRoundsBeforeMilp);
      if (done()) return StoppedBy::heuristic_end;
      const std::optional<StoppedBy> ended = solve_whole_step(endless);
      if (ended) return *ended;
    }
    if (endless || limited) improve(kEndless);
    return StoppedBy::heuristic_end;
  }

  // Patterns of groups share one number of devices.
  bool packs_patterns() const { return !run_.table.several_kinds(); }

  // An optimum where sequences are few enough for everything to be tried.
  void try_all_subsets() {
    Budget part = run_.share(kSubsetShare);
    const auto step = best_of_subsets(run_.table, incumbent_.plan()->objective_ms, part);
    if (!step) return;
    incumbent_.offer(to_plan(instance_, run_.table, *step), 'L', kSubsets);
    incumbent_.raise_bound({kSubsets, step_ms(run_.table, *step)});
  }

  // The whole-step MILP without a plan to begin with. What ended it, or nothing if there is a plan.
  std::optional<StoppedBy> find_a_plan() {
    if (run_.table.measured()) {
      incumbent_.remark(
          "no heuristic finds a plan that keeps the rules, and measured times have no MILP");
      return StoppedBy::heuristic_end;
    }
    if (most_step_variables(instance_) > kLargestScatterMilp) {
      incumbent_.remark(
          "no heuristic finds a plan that keeps the rules, and the step is too large "
          "for a MILP");
      return StoppedBy::heuristic_end;
    }
    const StoppedBy ended = solve_step_milp(instance_, exact_options(0), incumbent_, budget_);
    if (incumbent_.plan()) return std::nullopt;
    if (ended == StoppedBy::proof) {
      refuted_ = Refutation{.detail = "no plan keeps all the rules, as the MILP of the step says",
                            .remedy = remedy_for_rules(instance_)};
    }
    return ended;
  }

  // The whole-step MILP where it is small enough. What ended it, or nothing if there is more to do.
  std::optional<StoppedBy> solve_whole_step(bool endless) {
    if (run_.table.measured()) return std::nullopt;  // no MILP has their times
    const std::size_t variables = step_milp_variables(instance_, incumbent_);
    if (variables > (endless ? kLargestScatterMilp : kSmallMilp)) return std::nullopt;
    const double share = variables > kSmallMilp ? kLargeMilpShare : kSmallMilpShare;
    Budget part = endless ? budget_.part(share * budget_.seconds_left(), budget_.nodes_left() / 2)
                          : budget_.part(budget_.seconds_left(), kSmallMilpNodes);
    const StoppedBy ended = solve_step_milp(instance_, exact_options(0), incumbent_, part);
    const bool limit = ended == StoppedBy::node_limit || ended == StoppedBy::time_limit;
    if (done() || !limit) return ended;
    return std::nullopt;
  }

  // True if they, or what was tried between them, are enough.
  bool raise_bounds(bool limited) {
    bounding_.lead(limited);
    if (!done() && packs_patterns() && bounding_.by_makespans())
      replan_.towards(bounding_.weakest());
    if (!done()) bounding_.follow();
    return done();
  }

  // Rounds of replanning and annealing, now and then the bound and, for `exact`, MILP regrouping,
  // until a limit or the proof.
  void improve(std::uint64_t rounds) {
    const std::uint64_t last = rounds == kEndless ? kEndless : round_ + rounds;
    const auto every = [this](std::uint64_t wait) { return round_ % wait == wait - 1; };
    for (; round_ != last && !done(); ++round_) {
      StepDraft step = to_draft(run_.instance, run_.table, *incumbent_.plan());
      stowage::improve(run_.table, step, round_, options_.seed, budget_);
      budget_.count_nodes(1);
      incumbent_.offer(to_plan(instance_, run_.table, step), 'L', "improve");
      if (built_backends().empty()) continue;
      // Patterns gain most in steps of few micro-batches.
      if (packs_patterns() && !done() &&
          every(step.size() <= kMostTogether ? kRoundsPerRepack : kRoundsPerRegroup)) {
        replan_.some(round_);
        if (!done()) replan_.reshape();
      }
      if (!every(kRoundsPerRegroup)) continue;
      bounding_.again();
      if (options_.method != kExact.name || run_.table.measured() || done()) continue;
      regroup_by_milp(instance_, exact_options(round_), regroup_nodes_, incumbent_, budget_);
      regroup_nodes_ = std::min(2 * regroup_nodes_, kMostRegroupNodes);
    }
  }

  bool done() { return run_.done(); }

  ScatterExactOptions exact_options(std::uint64_t round) const {
    return {.backend = run_.backend(), .gap = options_.gap, .seed = options_.seed + round};
  }

  ScatterRun run_{.instance = instance_,
                  .options = options_,
                  .budget = budget_,
                  .incumbent = incumbent_,
                  .gap_ended_it = gap_ended_it_,
                  .table = ScatterTable(instance_)};
  ScatterBounding bounding_{run_};
  ScatterReplan replan_{run_};
  std::optional<Ms> method_bound_;
  bool cut_short_ = false;   // the last heuristic, by the time limit
  std::uint64_t round_ = 0;  // of improve()
  std::int64_t regroup_nodes_ = kRegroupNodes;
};

}  // namespace

std::vector<Method> methods_of(const ScatterInstance& instance) {
  std::vector<Method> more;
  if (!built_backends().empty()) more = {kFlexsp, kFlexspChunks, kExact};
  // The published MILPs know sums over sequences only, and FlexSP one number of devices.
  if (!instance.cost.table.empty() || !instance.cluster.kinds.empty())
    std::erase_if(more, [](const Method& method) { return method.kind == MethodKind::baseline; });
  std::vector<Method> all = method_list(kAuto, heuristics(instance), more);
  baselines_before_ours(all);
  return all;
}

Outcome solve_family(const ScatterInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress) {
  return ScatterSolve(instance, options, budget, progress).run();
}

}  // namespace stowage
