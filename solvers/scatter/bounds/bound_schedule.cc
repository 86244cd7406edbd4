#include "solvers/scatter/bounds/bound_schedule.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "heuristics/scatter/working_plan.h"

namespace stowage {
namespace {

constexpr char kStepLp[] = "step-lp";
constexpr char kProfile[] = "profile";
// Boxes of the search by makespans per run, if the solve has no limit.
constexpr std::int64_t kProfileBoxesAlways = 6;
constexpr std::int64_t kQuickBoxes = 4;
// A step LP that takes kVain of the solve's limit gives its turn away, if it closed less than kVain
// times that part of the gap meanwhile.
constexpr double kVain = 0.1;
constexpr int kFewMakespans = 2;
// Further linear programmes if the gap is above quick_gap.
constexpr std::int64_t kQuickStepBoundLpsAgain = 3;
// At least, in pipelines: cases of longest makespans need more.
constexpr std::int64_t kQuickPipelineLps = 24;
// Least share of the gap closed by the first LPs for further LPs.
constexpr double kQuickShare = 0.33;
constexpr std::size_t kLarge = 2000;  // sequences
constexpr std::int64_t kLargeStepBoundLps = 18;

// Returns fewer linear programmes if degrees have several kinds of exchange: each kind adds columns
// and so time.
std::int64_t quick_lps(const ScatterTable& table, std::int64_t lps) {
  const auto configs = std::ssize(table.configs());
  std::int64_t degrees = 0;
  int before = 0;
  for (const GroupConfig& config : table.configs()) {
    if (std::exchange(before, config.degree) != config.degree) ++degrees;
  }
  const std::int64_t all = table.longest_weight() > 0 ? kQuickPipelineLps : lps;
  return (all * degrees + configs - 1) / configs;
}

}  // namespace

void ScatterBoundSchedule::quick() {
  if (run_.done()) return;
  // Planning a large step takes so long that a finer grid costs little. But the dense simplex, used
  // without a backend, cannot solve that grid.
  const bool large = run_.instance.lengths.size() > kLarge && run_.any_backend();
  begin_step(large ? StepBoundOptions{} : quick_step_bound());
  if (large) {
    Budget part = run_.budget.part(run_.budget.seconds_left(), kLargeStepBoundLps);
    raise_step(part);
    return;
  }
  const Incumbent<ScatterInstance>& incumbent = run_.incumbent;
  const Ms before = incumbent.bound();
  Budget first = run_.budget.part(run_.budget.seconds_left(),
                                  quick_lps(run_.table, run_.params.bounds.quick_lps));
  const bool more = raise_step(first);
  // If the first linear programmes gained little, further ones gain little too.
  const bool worthwhile =
      incumbent.bound() - before >= kQuickShare * (incumbent.plan()->objective_ms - before);
  if (more && worthwhile && !incumbent.within(run_.params.bounds.quick_gap)) {
    Budget again = run_.budget.part(run_.budget.seconds_left(), kQuickStepBoundLpsAgain);
    raise_step(again);
  }
}

void ScatterBoundSchedule::quick_by_makespans() {
  Budget part = run_.budget.part(run_.budget.seconds_left(), kQuickBoxes);
  raise_profile(part);
}

void ScatterBoundSchedule::best_first(bool limited) {
  boxes_ = limited ? run_.params.bounds.boxes : kProfileBoxesAlways;
  all_degrees_ = !limited;
  begin_step({.few_degrees = limited});
  begin_profile();
  by_makespans_ = profile_ && profile_->most_micro_batches() <= kFewMakespans;
  search(by_makespans_, run_.params.bounds.best_share);
}

void ScatterBoundSchedule::other_search() {
  search(!by_makespans_, run_.params.bounds.other_share);
}

void ScatterBoundSchedule::search(bool makespans, double share) {
  if (makespans) {
    Budget part = run_.budget.part(share * run_.budget.seconds_left(), boxes_);
    profile_rises_ = raise_profile(part);
  } else {
    step_rises_ = raise_step_while_worthwhile(share, run_.params.bounds.lps);
  }
}

void ScatterBoundSchedule::resume() {
  const BoundParams& params = run_.params.bounds;
  if (!run_.done() && profile_rises_) {
    Budget part = run_.budget.part(params.other_share * run_.budget.seconds_left(), params.boxes);
    profile_rises_ = raise_profile(part);
  }
  if (!run_.done() && step_rises_) {
    step_rises_ = raise_step_while_worthwhile(params.other_share, params.more_lps);
  }
}

// Raises the bound by the step LP, until that takes kVain of the solve's limit without closing much
// of the gap. Returns false if no more can be gained.
bool ScatterBoundSchedule::raise_step_while_worthwhile(double share, std::int64_t lps) {
  Budget part = run_.budget.part(share * run_.budget.seconds_left(), lps);
  Ms bound = run_.incumbent.bound();
  double since = spent_share();
  const bool more = raise_step(part, [&](Ms present) {
    const double taken = spent_share() - since;
    const Ms gap = run_.incumbent.plan()->objective_ms - bound;
    if (present - bound <= kVain * taken * gap) return taken > kVain;
    bound = present;
    since = spent_share();
    return false;
  });
  if (all_degrees_ || !run_.table.has_many_degrees()) return more;
  all_degrees_ = true;  // from the next time on
  begin_step({});
  return true;
}

// Returns the part of the solve's limit that is spent, of time or of nodes; 0 without limits.
double ScatterBoundSchedule::spent_share() const {
  const Budget::Limits& limits = run_.budget.limits();
  return std::max(
      run_.budget.seconds() / limits.time_limit_s,
      static_cast<double>(run_.budget.nodes()) / static_cast<double>(limits.node_limit));
}

std::vector<Ms> ScatterBoundSchedule::weakest() const {
  return profile_ ? profile_->weakest() : std::vector<Ms>();
}

void ScatterBoundSchedule::begin_step(StepBoundOptions options) {
  options.backend = run_.any_backend();
  step_.emplace(run_.instance, options, run_.incumbent.plan()->objective_ms,
                [this](const ScatterCertificate& better) { found_ = better; });
}

// Raises the bound by the step LP. Returns false if no more can be gained.
bool ScatterBoundSchedule::raise_step(Budget& part, const ScatterStepBound::Enough& enough) {
  if (!step_) begin_step({});
  step_->lower_upper(run_.incumbent.plan()->objective_ms);
  const bool more = step_->improve(part, enough);
  confirm(kStepLp);
  return more;
}

void ScatterBoundSchedule::begin_profile() {
  if (built_backends().empty() || (profile_ && profile_->bound() > 0)) return;
  profile_.emplace(run_.instance, run_.backend(), run_.incumbent.plan()->objective_ms,
                   [this](const ScatterCertificate& better) { found_ = better; });
}

// Raises the bound by the search over makespans. Returns false if no more can be gained.
bool ScatterBoundSchedule::raise_profile(Budget& part) {
  if (built_backends().empty()) return false;
  begin_profile();
  if (!profile_->promising()) return false;
  const ScatterPlan& plan = *run_.incumbent.plan();
  profile_->lower_upper(plan.objective_ms);
  profile_->learn(to_draft(run_.instance, run_.table, plan));
  const bool more = profile_->improve(part);
  confirm(kProfile);
  return more;
}

// Raises the incumbent's bound if the certificate passes its check.
void ScatterBoundSchedule::confirm(const char* name) {
  Incumbent<ScatterInstance>& incumbent = run_.incumbent;
  if (!found_ || found_->bound_ms <= incumbent.bound()) return;
  const CertificateCheck check = check_certificate(run_.instance, *found_);
  if (!check.violations.empty()) {
    incumbent.remark("a certificate fails its check: " + to_string(check.violations.front()));
  } else if (incumbent.raise_bound({name, check.bound_ms})) {
    certificate_ = found_;
  }
}

}  // namespace stowage
