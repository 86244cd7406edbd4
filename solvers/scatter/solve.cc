#include "solvers/scatter/solve.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "formulations/scatter/bounds.h"
#include "heuristics/scatter/improve.h"
#include "heuristics/scatter/registry.h"
#include "instances/numbers.h"
#include "solvers/scatter/bounding.h"
#include "solvers/scatter/exact.h"
#include "solvers/scatter/flexsp.h"
#include "solvers/scatter/flexsp_chunks.h"
#include "solvers/scatter/replan.h"
#include "solvers/scatter/run.h"

namespace stowage {
namespace {

// `auto` gives a whole-step MILP only to steps it can expect to close.
constexpr std::size_t kSmallMilp = 3000;        // variables
constexpr std::int64_t kSmallMilpNodes = 2000;  // then it has had its chance
constexpr double kSmallMilpShare = 0.5;         // of the time left, of `exact`
constexpr double kLargeMilpShare = 0.1;         // where a proof is as good as out of reach
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

class ScatterSolve {
 public:
  ScatterSolve(const ScatterInstance& instance, const SolveOptions& options, Budget& budget,
               const Progress& progress)
      : run_{.instance = instance,
             .options = options,
             .budget = budget,
             .incumbent = ScatterIncumbent(instance, budget, progress),
             .table = ScatterTable(instance)} {}

  Outcome run() {
    if (std::vector<std::int64_t> ids = unplaceable_sequences(run_.instance); !ids.empty()) {
      Outcome outcome = run_.incumbent.report();
      outcome.status = Status::infeasible;
      outcome.stopped_by = StoppedBy::proof;
      outcome.bound_by = "unplaceable";
      outcome.unplaceable = std::move(ids);
      return finished(std::move(outcome));
    }
    for (const NamedBound& bound : scatter_bounds(run_.table)) {
      run_.incumbent.raise_bound(bound);
    }
    if (run_.options.start) run_.incumbent.offer_start(std::get<ScatterPlan>(*run_.options.start));
    StoppedBy ended = StoppedBy::heuristic_end;
    try {
      ended = search();
    } catch (const std::exception& failure) {
      // A solver that breaks never takes a good plan away.
      run_.incumbent.remark(std::string("failed: ") + failure.what());
      ended = StoppedBy::error;
    }
    const bool by_gap = run_.gap_ended_it && run_.incumbent.within(run_.options.gap);
    return finished(std::move(run_.incumbent).conclude(by_gap ? StoppedBy::gap : ended));
  }

 private:
  Outcome finished(Outcome outcome) const {
    outcome.method = run_.options.method;
    outcome.certificate = bounding_.certificate();
    outcome.method_bound = method_bound_;
    return outcome;
  }

  StoppedBy search() {
    if (run_.options.method == kAuto.name || run_.options.method == kExact.name) return run_exact();
    if (run_.options.method == kFlexsp.name || run_.options.method == kFlexspChunks.name) {
      const StoppedBy ended =
          run_.options.method == kFlexsp.name ? run_flexsp() : run_flexsp_chunks();
      if (!run_.incumbent.plan() && run_.budget.exhausted()) run_heuristic("batch-ada");
      return ended;
    }
    run_heuristic(run_.options.method);
    if (run_.options.method == "fast" && run_.incumbent.plan() && !cut_short_) {
      if (patterns_are_quick()) {
        replan_.alone(true);
        bounding_.quickly_by_makespans();
      }
      bounding_.quickly();
    }
    // A limit that ended the method before its first plan still leaves time for the quickest.
    if (!run_.incumbent.plan() && run_.budget.exhausted()) run_heuristic("batch-ada");
    return cut_short_ ? StoppedBy::time_limit : StoppedBy::heuristic_end;
  }

  // Where a group holds few sequences, patterns find what annealing misses, and at once.
  bool patterns_are_quick() const {
    if (built_backends().empty()) return false;
    const std::size_t count = run_.incumbent.plan()->micro_batches.size();
    const auto sequences = static_cast<double>(run_.instance.lengths.size());
    const double per_device = sequences / run_.instance.cluster.devices;
    if (count <= 1) return per_device <= kFewSequences;
    return count <= kMostTogether && per_device <= kFewerSequences &&
           run_.table.kinds().size() <= kFewLengths;
  }

  void run_heuristic(const std::string& name) {
    // What is left when a heuristic ends is for its plan: to be written down and verified.
    const double to_finish = kSecondsToFinish * static_cast<double>(run_.instance.lengths.size());
    const Budget part =
        run_.budget.part(run_.budget.seconds_left() - to_finish, run_.budget.nodes_left());
    for (const ScatterHeuristic& heuristic : heuristics(run_.instance)) {
      if (heuristic.name != name) continue;
      if (auto plan = heuristic.run(run_.instance, run_.table, run_.options.seed, part)) {
        run_.incumbent.offer(std::move(*plan), 'H', name);
      } else {
        run_.incumbent.remark(name + " cannot plan this step");
      }
    }
    cut_short_ = part.stop_reason() == StopReason::time_limit;
  }

  StoppedBy run_flexsp() {
    FlexspResult result =
        flexsp(run_.instance,
               {.backend = run_.backend(), .milp_seconds = run_.options.milp_seconds}, run_.budget);
    if (result.plan) {
      run_.incumbent.offer(std::move(*result.plan), 'M', kFlexsp.name);
    } else {
      run_.incumbent.remark("every chunking tried has a chunk without a grouping");
    }
    if (!result.detail.empty()) run_.incumbent.remark("a MILP failed: " + result.detail);
    if (result.milps_stopped == 0) return StoppedBy::heuristic_end;
    run_.incumbent.remark(std::to_string(result.milps_stopped) + " of " +
                          std::to_string(result.milps) + " MILPs stopped at a limit");
    return StoppedBy::time_limit;
  }

  StoppedBy run_flexsp_chunks() {
    FlexspChunksResult result = plan_flexsp_chunks(run_.instance, run_.backend(), run_.budget);
    if (result.plan) {
      run_.incumbent.offer(std::move(*result.plan), 'H', kFlexspChunks.name);
    } else {
      run_.incumbent.remark("every chunking tried has a chunk without a grouping");
    }
    if (!result.failure.empty()) run_.incumbent.remark("a class bound failed: " + result.failure);
    run_.incumbent.remark("no solver groups FlexSP's chunks in less than " + ms_text(result.bound) +
                          " ms");
    method_bound_ = result.bound;
    return StoppedBy::heuristic_end;
  }

  StoppedBy run_exact() {
    const bool endless = run_.options.method == kExact.name;
    // What improves for ever needs a limit to end it; `auto` without one is done sooner.
    const bool limited = std::isfinite(run_.budget.limits().time_limit_s) ||
                         run_.budget.limits().node_limit < std::numeric_limits<std::int64_t>::max();
    // First anything valid, within microseconds; then better plans, slower ones last.
    for (const char* name : {"batch-ada", "fast", "joint"}) {
      if (done()) return StoppedBy::heuristic_end;
      if ((endless || limited) && name == std::string_view("joint")) break;  // improve() does that
      run_heuristic(name);
      if (cut_short_ && run_.incumbent.plan()) return StoppedBy::time_limit;
      if (name == std::string_view("fast") && run_.incumbent.plan()) bounding_.quickly();
    }
    if (!run_.incumbent.plan())
      return StoppedBy::error;  // each failed verification; see violations
    if (done()) return StoppedBy::heuristic_end;
    if (!built_backends().empty()) {
      replan_.alone(false);
      if (done()) return StoppedBy::heuristic_end;
      replan_.reshape();
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

  // The whole-step MILP where it is small enough. What ended it, or nothing if there is more to do.
  std::optional<StoppedBy> solve_whole_step(bool endless) {
    const std::size_t variables = step_milp_variables(run_.instance, run_.incumbent);
    if (variables > (endless ? kLargestScatterMilp : kSmallMilp)) return std::nullopt;
    const double share = variables > kSmallMilp ? kLargeMilpShare : kSmallMilpShare;
    Budget part =
        endless ? run_.budget.part(share * run_.budget.seconds_left(), run_.budget.nodes_left() / 2)
                : run_.budget.part(run_.budget.seconds_left(), kSmallMilpNodes);
    const StoppedBy ended = solve_step_milp(run_.instance, exact_options(0), run_.incumbent, part);
    const bool limit = ended == StoppedBy::node_limit || ended == StoppedBy::time_limit;
    if (done() || !limit) return ended;
    return std::nullopt;
  }

  // True if they, or what was tried between them, are enough.
  bool raise_bounds(bool limited) {
    bounding_.lead(limited);
    if (!done() && bounding_.by_makespans()) replan_.towards(bounding_.weakest());
    if (!done()) bounding_.follow();
    return done();
  }

  // Rounds of replanning and annealing, now and then the bound and, for `exact`, MILP regrouping,
  // until a limit or the proof.
  void improve(std::uint64_t rounds) {
    const std::uint64_t last = rounds == kEndless ? kEndless : round_ + rounds;
    const auto every = [this](std::uint64_t wait) { return round_ % wait == wait - 1; };
    for (; round_ != last && !done(); ++round_) {
      StepDraft step = to_draft(run_.table, *run_.incumbent.plan());
      stowage::improve(run_.table, step, round_, run_.options.seed, run_.budget);
      run_.budget.count_nodes(1);
      run_.incumbent.offer(to_plan(run_.instance, run_.table, step), 'L', "improve");
      if (built_backends().empty()) continue;
      // Patterns gain most in steps of few micro-batches.
      if (every(step.size() <= kMostTogether ? kRoundsPerRepack : kRoundsPerRegroup) && !done()) {
        replan_.some(round_);
        if (!done()) replan_.reshape();
      }
      if (!every(kRoundsPerRegroup)) continue;
      bounding_.again();
      if (run_.options.method != kExact.name || done()) continue;
      regroup_by_milp(run_.instance, exact_options(round_), regroup_nodes_, run_.incumbent,
                      run_.budget);
      regroup_nodes_ = std::min(2 * regroup_nodes_, kMostRegroupNodes);
    }
  }

  bool done() { return run_.done(); }

  ScatterExactOptions exact_options(std::uint64_t round) const {
    return {.backend = run_.backend(), .gap = run_.options.gap, .seed = run_.options.seed + round};
  }

  ScatterRun run_;
  ScatterBounding bounding_{run_};
  ScatterReplan replan_{run_};
  std::optional<Ms> method_bound_;
  bool cut_short_ = false;   // the last heuristic, by the time limit
  std::uint64_t round_ = 0;  // of improve()
  std::int64_t regroup_nodes_ = kRegroupNodes;
};

}  // namespace

std::vector<Method> methods_of(const ScatterInstance& instance) {
  std::vector<Method> baselines;
  std::vector<Method> ours;
  for (const ScatterHeuristic& heuristic : heuristics(instance)) {
    const bool published = !heuristic.source.empty();
    (published ? baselines : ours)
        .push_back({heuristic.name, published ? MethodKind::baseline : MethodKind::ours,
                    heuristic.summary, heuristic.source});
  }
  if (!built_backends().empty()) {
    baselines.push_back(kFlexsp);
    baselines.push_back(kFlexspChunks);
    ours.push_back(kExact);
  }
  std::vector<Method> all{kAuto};
  all.insert(all.end(), baselines.begin(), baselines.end());
  all.insert(all.end(), ours.begin(), ours.end());
  return all;
}

Outcome solve_family(const ScatterInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress) {
  return ScatterSolve(instance, options, budget, progress).run();
}

}  // namespace stowage
