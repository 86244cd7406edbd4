// Longer than 300 lines: the course of one solve, whose stages share incumbent, bounds and time.
#include "solvers/scatter_solve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "formulations/scatter_bounds.h"
#include "heuristics/registry.h"
#include "heuristics/scatter_improve.h"
#include "instances/numbers.h"
#include "instances/random.h"
#include "solvers/incumbent.h"
#include "solvers/scatter_class_bound.h"
#include "solvers/scatter_exact.h"
#include "solvers/scatter_flexsp.h"
#include "solvers/scatter_flexsp_chunks.h"
#include "solvers/scatter_profile_bound.h"
#include "solvers/scatter_repack.h"
#include "solvers/scatter_reshape.h"
#include "solvers/scatter_step_bound.h"

namespace stowage {
namespace {

// `auto` gives a whole-step MILP only to steps it can expect to close.
constexpr std::size_t kSmallMilp = 3000;        // variables
constexpr std::int64_t kSmallMilpNodes = 2000;  // then it has had its chance
constexpr double kSmallMilpShare = 0.5;         // of the time left, of `exact`
constexpr double kLargeMilpShare = 0.1;         // where a proof is as good as out of reach
constexpr std::int64_t kRegroupNodes = 500;     // per micro-batch and round, doubled each round
constexpr std::int64_t kMostRegroupNodes = 1000000;
constexpr std::uint64_t kRoundsPerRegroup = 8;
constexpr std::uint64_t kRoundsBeforeMilp = 8;
constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

constexpr double kBetter = 1 + 5e-7;  // than a bound with a certificate, for one without
constexpr char kStepLp[] = "step-lp";
constexpr char kProfile[] = "profile";
constexpr std::int64_t kProfileBoxes = 60;       // at a time
constexpr std::int64_t kProfileBoxesAlways = 6;  // without limits
constexpr double kAgainShare = 0.08;             // of the time left, for more of a bound
constexpr double kLeadShare = 0.4;    // of the time left, for the better search of bounds
constexpr double kOtherShare = 0.08;  // and for the other
constexpr int kFewMakespans = 2;
constexpr std::int64_t kStepBoundLps = 400;       // linear programmes at a time
constexpr std::int64_t kStepBoundLpsAgain = 100;  // between other attempts
constexpr std::int64_t kQuickStepBoundLps = 5;
constexpr std::int64_t kQuickStepBoundLpsAgain = 3;  // if the gap is then above
constexpr double kQuickGap = 0.02;
constexpr double kQuickShare = 0.33;  // of the gap closed so far, for more to be tried
constexpr std::size_t kLarge = 2000;  // sequences
constexpr std::int64_t kLargeStepBoundLps = 18;

constexpr std::uint64_t kRoundsPerRepack = 2;
constexpr std::size_t kMostAlone = 6;     // micro-batches that are planned anew at first
constexpr double kAloneShare = 0.08;      // of the time left, for that
constexpr std::size_t kMostTogether = 3;  // micro-batches that are all planned anew at first
constexpr double kTogetherShare = 0.1;    // of the time left, for that
constexpr std::size_t kMostReshaped = 4;  // micro-batches that get other makespans at first
constexpr int kReshapes = 60;             // tries
constexpr double kReshapeShare = 0.25;    // of the time left, for that
constexpr int kRepackRounds = 4;
constexpr double kRepackShare = 0.04;  // of the time left, for so many
constexpr double kQuickPrecision = 1e-3;
constexpr double kFewSequences = 4;    // per device, for `fast` to plan a micro-batch anew
constexpr double kFewerSequences = 2;  // and for several
constexpr std::size_t kFewLengths = 60;
constexpr std::int64_t kQuickBoxes = 4;
constexpr double kProofPrecision = 1e-7;  // of the only makespan: then it may be the optimum
constexpr int kMostAgain = 4;             // times that a micro-batch is planned anew while it gains
constexpr double kSecondsToFinish = 2.5e-7;  // per sequence: composing and verifying a plan
constexpr std::array<double, 4> kRepackSpreads = {0, 1e-3, 1e-2, 5e-2};

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
      : instance_(instance),
        options_(options),
        budget_(budget),
        incumbent_(instance, budget, progress),
        table_(instance) {}

  Outcome run() {
    if (std::vector<std::int64_t> ids = unplaceable_sequences(instance_); !ids.empty()) {
      Outcome outcome = incumbent_.report();
      outcome.status = Status::infeasible;
      outcome.stopped_by = StoppedBy::proof;
      outcome.bound_by = "unplaceable";
      outcome.unplaceable = std::move(ids);
      return finished(std::move(outcome));
    }
    for (const NamedBound& bound : scatter_bounds(table_)) {
      incumbent_.raise_bound(bound);
    }
    if (options_.start) incumbent_.offer_start(std::get<ScatterPlan>(*options_.start));
    StoppedBy ended = StoppedBy::heuristic_end;
    try {
      ended = search();
    } catch (const std::exception& failure) {
      // A solver that breaks never takes a good plan away.
      incumbent_.remark(std::string("failed: ") + failure.what());
      ended = StoppedBy::error;
    }
    const bool by_gap = gap_ended_it_ && incumbent_.within(options_.gap);
    return finished(std::move(incumbent_).conclude(by_gap ? StoppedBy::gap : ended));
  }

 private:
  Outcome finished(Outcome outcome) const {
    outcome.method = options_.method;
    outcome.certificate = certificate_;
    outcome.method_bound = method_bound_;
    return outcome;
  }

  StoppedBy search() {
    if (options_.method == kAuto.name || options_.method == kExact.name) return run_exact();
    if (options_.method == kFlexsp.name || options_.method == kFlexspChunks.name) {
      const StoppedBy ended = options_.method == kFlexsp.name ? run_flexsp() : run_flexsp_chunks();
      if (!incumbent_.plan() && budget_.exhausted()) run_heuristic("batch-ada");
      return ended;
    }
    run_heuristic(options_.method);
    if (options_.method == "fast" && incumbent_.plan() && !cut_short_) {
      if (patterns_are_quick()) {
        replan_alone(true);
        raise_profile_bound(budget_.seconds_left(), kQuickBoxes);
      }
      bound_quickly();
    }
    // A limit that ended the method before its first plan still leaves time for the quickest.
    if (!incumbent_.plan() && budget_.exhausted()) run_heuristic("batch-ada");
    return cut_short_ ? StoppedBy::time_limit : StoppedBy::heuristic_end;
  }

  // Where a group holds few sequences, patterns find what annealing misses, and at once.
  bool patterns_are_quick() const {
    if (built_backends().empty()) return false;
    const std::size_t count = incumbent_.plan()->micro_batches.size();
    const auto sequences = static_cast<double>(instance_.lengths.size());
    const double per_device = sequences / instance_.cluster.devices;
    if (count <= 1) return per_device <= kFewSequences;
    return count <= kMostTogether && per_device <= kFewerSequences &&
           table_.kinds().size() <= kFewLengths;
  }

  void run_heuristic(const std::string& name) {
    // What is left when a heuristic ends is for its plan: to be written down and verified.
    const double to_finish = kSecondsToFinish * static_cast<double>(instance_.lengths.size());
    const Budget part = budget_.part(budget_.seconds_left() - to_finish, budget_.nodes_left());
    for (const ScatterHeuristic& heuristic : scatter_heuristics(instance_)) {
      if (heuristic.name != name) continue;
      if (auto plan = heuristic.run(instance_, table_, options_.seed, part)) {
        incumbent_.offer(std::move(*plan), 'H', name);
      } else {
        incumbent_.remark(name + " cannot plan this step");
      }
    }
    cut_short_ = part.stop_reason() == StopReason::time_limit;
  }

  StoppedBy run_flexsp() {
    FlexspResult result =
        flexsp(instance_, {.backend = backend(), .milp_seconds = options_.milp_seconds}, budget_);
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
    FlexspChunksResult result = plan_flexsp_chunks(instance_, backend(), budget_);
    if (result.plan) {
      incumbent_.offer(std::move(*result.plan), 'H', kFlexspChunks.name);
    } else {
      incumbent_.remark("every chunking tried has a chunk without a grouping");
    }
    if (!result.failure.empty()) incumbent_.remark("a class bound failed: " + result.failure);
    incumbent_.remark("no solver groups FlexSP's chunks in less than " + ms_text(result.bound) +
                      " ms");
    method_bound_ = result.bound;
    return StoppedBy::heuristic_end;
  }

  StoppedBy run_exact() {
    const bool endless = options_.method == kExact.name;
    // What improves for ever needs a limit to end it; `auto` without one is done sooner.
    const bool limited = std::isfinite(budget_.limits().time_limit_s) ||
                         budget_.limits().node_limit < std::numeric_limits<std::int64_t>::max();
    // First anything valid, within microseconds; then better plans, slower ones last.
    for (const char* name : {"batch-ada", "fast", "joint"}) {
      if (done()) return StoppedBy::heuristic_end;
      if ((endless || limited) && name == std::string_view("joint")) break;  // improve() does that
      run_heuristic(name);
      if (cut_short_ && incumbent_.plan()) return StoppedBy::time_limit;
      if (name == std::string_view("fast") && incumbent_.plan()) bound_quickly();
    }
    if (!incumbent_.plan()) return StoppedBy::error;  // each failed verification; see violations
    if (done()) return StoppedBy::heuristic_end;
    if (!built_backends().empty()) {
      replan_alone(false);
      if (done()) return StoppedBy::heuristic_end;
      reshape(kReshapeShare);
      if (done()) return StoppedBy::heuristic_end;
      if (raise_bounds(limited)) return StoppedBy::heuristic_end;
      tighten_bound();
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

  // Makespans one by one where there are one or two of them, intervals of makespans otherwise; then
  // the other of the two for a while. True if that is enough.
  bool raise_bounds(bool limited) {
    const std::int64_t boxes = limited ? kProfileBoxes : kProfileBoxesAlways;
    begin_step_bound({});
    begin_profile_bound();
    const bool few = profile_bound_ && profile_bound_->most_micro_batches() <= kFewMakespans;
    const auto profile = [&](double share) {
      profile_rises_ = raise_profile_bound(share * budget_.seconds_left(), boxes);
    };
    const auto step = [&](double share) {
      bound_rises_ = raise_step_bound(share * budget_.seconds_left(), kStepBoundLps);
    };
    if (few) profile(kLeadShare);
    if (few && !done()) dive_for_profile();
    if (done()) return true;
    step(few ? kOtherShare : kLeadShare);
    if (done()) return true;
    if (!few) profile(kOtherShare);
    return done();
  }

  void bound_quickly() {
    if (done()) return;
    // Planning a large step takes long enough for a finer grid to make no difference.
    const bool large = instance_.lengths.size() > kLarge;
    begin_step_bound(large ? StepBoundOptions{} : quick_step_bound());
    if (large) {
      raise_step_bound(budget_.seconds_left(), kLargeStepBoundLps);
      return;
    }
    const Ms before = incumbent_.bound();
    const bool more = raise_step_bound(budget_.seconds_left(), kQuickStepBoundLps);
    // Where the first of them did little, the next do not do much either.
    const bool worthwhile =
        incumbent_.bound() - before >= kQuickShare * (incumbent_.plan()->objective_ms - before);
    if (more && worthwhile && !incumbent_.within(kQuickGap)) {
      raise_step_bound(budget_.seconds_left(), kQuickStepBoundLpsAgain);
    }
  }

  void begin_step_bound(StepBoundOptions options) {
    options.backend = any_backend();
    step_bound_.emplace(instance_, options, incumbent_.plan()->objective_ms,
                        [this](const ScatterCertificate& better) { certified_ = better; });
  }

  // False if nothing is left to gain.
  bool raise_step_bound(double seconds, std::int64_t lps) {
    Budget part = budget_.part(seconds, lps);
    step_bound_->lower_upper(incumbent_.plan()->objective_ms);
    const bool more = step_bound_->improve(part);
    confirm(kStepLp);
    return more;
  }

  // Only what the checker confirms becomes a bound.
  void confirm(const char* name) {
    if (!certified_ || certified_->bound_ms <= incumbent_.bound()) return;
    const CertificateCheck check = check_certificate(instance_, *certified_);
    if (!check.violations.empty()) {
      incumbent_.remark("a certificate fails its check: " + to_string(check.violations.front()));
    } else if (incumbent_.raise_bound({name, check.bound_ms})) {
      certificate_ = certified_;
    }
  }

  void begin_profile_bound() {
    if (built_backends().empty() || (profile_bound_ && profile_bound_->bound() > 0)) return;
    profile_bound_.emplace(instance_, backend(), incumbent_.plan()->objective_ms,
                           [this](const ScatterCertificate& better) { certified_ = better; });
  }

  // The bound by makespans, for steps of few micro-batches. False if nothing is left to gain.
  bool raise_profile_bound(double seconds, std::int64_t boxes) {
    if (built_backends().empty()) return false;
    begin_profile_bound();
    if (!profile_bound_->promising()) return false;
    const ScatterPlan& plan = *incumbent_.plan();
    profile_bound_->lower_upper(plan.objective_ms);
    profile_bound_->learn(to_draft(table_, plan));
    Budget part = budget_.part(seconds, boxes);
    const bool more = profile_bound_->improve(part);
    confirm(kProfile);
    return more;
  }

  void tighten_bound() {
    const ScatterPlan& best = *incumbent_.plan();
    const Ms one_batch =
        best.micro_batches.size() == 1 ? best.objective_ms : std::numeric_limits<Ms>::infinity();
    for (const bool integral : {false, true}) {
      const StepClassBound found =
          step_class_bound(instance_, backend(), integral, incumbent_.bound() * kBetter,
                           best.objective_ms, one_batch, budget_);
      if (!found.failure.empty()) incumbent_.remark("a class bound failed: " + found.failure);
      if (found.bound) incumbent_.raise_bound(*found.bound);
    }
  }

  // Rounds of replanning and annealing, now and then the bound and, for `exact`, MILP regrouping,
  // until a limit or the proof.
  void improve(std::uint64_t rounds) {
    const std::uint64_t last = rounds == kEndless ? kEndless : round_ + rounds;
    for (; round_ != last && !done(); ++round_) {
      const std::uint64_t round = round_;
      StepDraft step = to_draft(table_, *incumbent_.plan());
      stowage::improve(table_, step, round, options_.seed, budget_);
      budget_.count_nodes(1);
      incumbent_.offer(to_plan(instance_, table_, step), 'L', "improve");
      // Patterns gain most in steps of few micro-batches.
      const std::uint64_t wait =
          step.size() <= kMostTogether ? kRoundsPerRepack : kRoundsPerRegroup;
      if (round % wait == wait - 1 && !done() && !built_backends().empty()) {
        step = to_draft(table_, *incumbent_.plan());
        if (repack(step, round)) {
          incumbent_.offer(to_plan(instance_, table_, step), 'L', "repack");
        }
        if (!done()) reshape(kReshapeShare);
      }
      if (round % kRoundsPerRegroup != kRoundsPerRegroup - 1 || built_backends().empty()) continue;
      if (!done() && profile_rises_) {
        profile_rises_ = raise_profile_bound(kAgainShare * budget_.seconds_left(), kProfileBoxes);
      }
      if (!done() && bound_rises_) {
        bound_rises_ = raise_step_bound(kAgainShare * budget_.seconds_left(), kStepBoundLpsAgain);
      }
      if (options_.method != kExact.name || done()) continue;
      regroup_by_milp(instance_, exact_options(round), regroup_nodes_, incumbent_, budget_);
      regroup_nodes_ = std::min(2 * regroup_nodes_, kMostRegroupNodes);
    }
  }

  // Each micro-batch planned anew, alone; then, if they are few, all together.
  void replan_alone(bool quickly) {
    StepDraft step = to_draft(table_, *incumbent_.plan());
    bool better = false;
    // One micro-batch alone is all there is to do.
    const double share = step.size() == 1 ? 1 : kAloneShare;
    Budget alone = budget_.part(share * budget_.seconds_left(), budget_.nodes_left());
    const double precision = quickly            ? kQuickPrecision
                             : step.size() == 1 ? kProofPrecision
                                                : RepackEffort().precision;
    if (step.size() > kMostAlone) return;
    for (std::size_t b = 0; b < step.size() && !alone.exhausted(); ++b) {
      // What is planned anew goes to the end, and may gain more from there.
      std::rotate(step.begin(), step.begin() + 1, step.end());
      for (int again = 0; again < (quickly ? 1 : kMostAgain); ++again) {
        const bool gained =
            repack_some(table_, {step.size() - 1}, {.precision = precision}, backend(),
                        options_.seed + static_cast<std::uint64_t>(again), step, alone);
        if (!gained) break;
        better = true;
      }
    }
    std::vector<std::size_t> all(step.size());
    std::iota(all.begin(), all.end(), 0);
    if (all.size() > 1 && all.size() <= kMostTogether) {
      Budget part = budget_.part(kTogetherShare * budget_.seconds_left(), budget_.nodes_left());
      const double together = quickly ? kQuickPrecision : RepackEffort().precision;
      better =
          repack_some(table_, all, {.precision = together}, backend(), options_.seed, step, part) ||
          better;
    }
    if (better) incumbent_.offer(to_plan(instance_, table_, step), 'L', "repack");
  }

  // All micro-batches in other shapes: what joint planning settles on first is not always the best
  // number of them, nor are the lengths of each.
  void reshape(double share) {
    StepDraft step = to_draft(table_, *incumbent_.plan());
    if (step.size() < 2 || step.size() > kMostReshaped) return;
    if (!reshape_) reshape_.emplace(table_, backend());
    Budget part = budget_.part(share * budget_.seconds_left(), budget_.nodes_left());
    bool better = false;
    for (int i = 0; i < kReshapes && !part.exhausted(); ++i) {
      better = reshape_->improve(step, options_.seed * 1000003 + ++shapes_, part) || better;
    }
    if (better) incumbent_.offer(to_plan(instance_, table_, step), 'L', "reshape");
  }

  // The makespans where the bound by makespans has its weakest spot.
  void dive_for_profile() {
    const std::vector<Ms> shape = profile_bound_ ? profile_bound_->weakest() : std::vector<Ms>();
    if (shape.empty()) return;
    StepDraft step = to_draft(table_, *incumbent_.plan());
    std::vector<std::size_t> all(step.size());
    std::iota(all.begin(), all.end(), 0);
    Budget part = budget_.part(kTogetherShare * budget_.seconds_left(), budget_.nodes_left());
    if (repack_some(table_, all, {.shape = shape}, backend(), options_.seed, step, part)) {
      incumbent_.offer(to_plan(instance_, table_, step), 'L', "repack");
    }
  }

  // A few micro-batches of like makespans planned anew, a few times.
  bool repack(StepDraft& step, std::uint64_t round) {
    std::mt19937_64 random(options_.seed * 1000003 + round);
    bool better = false;
    Budget part = budget_.part(kRepackShare * budget_.seconds_left(), budget_.nodes_left());
    for (int i = 0; i < kRepackRounds && !part.exhausted(); ++i) {
      std::ranges::stable_sort(step, {}, &MicroBatchDraft::makespan);
      const std::size_t count = std::min<std::size_t>(step.size(), 1 + draw(random, 4));
      const std::size_t first = draw(random, step.size() - count + 1);
      std::vector<std::size_t> chosen;
      for (std::size_t b = 0; b < count; ++b) chosen.push_back(first + b);
      if (count > 1 && count <= kMostTogether && step.size() > kMostReshaped &&
          draw(random, 2) == 0) {
        better = reshape_some(table_, chosen, backend(), random(), step, part) || better;
        continue;
      }
      const double spread = kRepackSpreads[draw(random, kRepackSpreads.size())];
      better = repack_some(table_, chosen, {.spread = spread}, backend(), random(), step, part) ||
               better;
    }
    return better;
  }

  // Whether to stop before the next stage of work.
  bool done() {
    if (!incumbent_.plan()) return false;
    gap_ended_it_ = incumbent_.within(options_.gap);
    return gap_ended_it_ || incumbent_.proven() || budget_.exhausted();
  }

  std::optional<MilpBackend> any_backend() const {
    if (built_backends().empty()) return std::nullopt;
    return backend();
  }
  MilpBackend backend() const {
    return options_.backend ? *options_.backend : built_backends().front();
  }
  ScatterExactOptions exact_options(std::uint64_t round) const {
    return {.backend = backend(), .gap = options_.gap, .seed = options_.seed + round};
  }

  const ScatterInstance& instance_;
  const SolveOptions& options_;
  Budget& budget_;
  ScatterIncumbent incumbent_;
  const ScatterTable table_;
  std::optional<ScatterReshape> reshape_;
  std::uint64_t shapes_ = 0;  // that were drawn
  std::optional<ScatterStepBound> step_bound_;
  std::optional<ScatterProfileBound> profile_bound_;
  std::optional<ScatterCertificate> certified_;    // the last that the search made
  std::optional<ScatterCertificate> certificate_;  // the last that was confirmed
  std::optional<Ms> method_bound_;
  bool cut_short_ = false;  // the last heuristic, by the time limit
  bool gap_ended_it_ = false;
  bool bound_rises_ = false;    // there may be more to gain from the step bound
  bool profile_rises_ = false;  // and from the bound by makespans
  std::uint64_t round_ = 0;     // of improve()
  std::int64_t regroup_nodes_ = kRegroupNodes;
};

}  // namespace

std::vector<Method> methods_of(const ScatterInstance& instance) {
  std::vector<Method> baselines;
  std::vector<Method> ours;
  for (const ScatterHeuristic& heuristic : scatter_heuristics(instance)) {
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
