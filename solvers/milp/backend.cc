// The steps of a solve, which show, read in order, that every answer is checked.
#include "solvers/milp/backend.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "formulations/milp/scaling.h"
#include "formulations/milp/write_lp.h"
#include "solvers/milp/recheck.h"
#include "solvers/milp/tidy.h"
#include "solvers/milp/watch.h"

namespace stowage {
namespace {

constexpr double kRepairSeconds = 5;      // time limit of the linear programme after rounding
constexpr double kNearlyFeasible = 1e-4;  // larger violations cannot be rounding errors
const MilpObserver kNobody;               // sub-solves report to no observer
// Least slope of a ray that proves an unbounded objective.
constexpr double kFallingDirection = 1e-6;

void say(std::string& detail, const std::string& more) {
  if (!detail.empty() && !more.empty()) detail += "; ";
  detail += more;
}

// One checked call. It owns the tidied, scaled model and converts between the units.
class CheckedRun {
 public:
  CheckedRun(const MilpRun& run, const milp::Model& model, const MilpParams& params, Budget& budget,
             const MilpObserver& observer)
      : run_(run), original_(model), params_(params), budget_(budget), observer_(observer) {}

  MilpResult solve() {
    MilpResult result = solve_tidied();
    if (result.status != MilpStatus::error) result = keep_start(std::move(result));
    say(result.detail, note_);
    return result;
  }

 private:
  MilpResult failure(const std::string& why) const {
    return {.status = MilpStatus::error, .nodes = nodes_, .detail = why};
  }

  MilpResult solve_tidied() {
    if (!(params_.gap >= 0) || std::isnan(params_.cutoff)) {
      return failure("gap and cutoff must be numbers, the gap not negative");
    }
    tidied_ = tidy(original_);
    check_start();
    switch (tidied_.verdict) {
      case TidyModel::Verdict::invalid:
        return failure(tidied_.detail);
      case TidyModel::Verdict::infeasible:
        if (start_)
          return failure("called infeasible although the start is feasible: " + tidied_.detail);
        return {.status = MilpStatus::infeasible, .bound = kInfinity, .detail = tidied_.detail};
      case TidyModel::Verdict::unbounded:
        return {.status = MilpStatus::unbounded, .detail = tidied_.detail};
      case TidyModel::Verdict::solved:
        return accept({.status = MilpStatus::optimal}, tidied_.expand({}));
      case TidyModel::Verdict::open:
        break;
    }
    scaling_ = milp::find_scaling(tidied_.model);
    scaled_ = milp::apply(scaling_, tidied_.model);
    const milp::RangeReport ranges = milp::coefficient_ranges(scaled_);
    const milp::RangeVerdict verdict = milp::judge(ranges);
    if (verdict == milp::RangeVerdict::refuse) {
      return failure("coefficients too far apart to be trusted even after scaling: " +
                     milp::to_string(ranges));
    }
    if (verdict == milp::RangeVerdict::warn) {
      say(note_, "wide coefficient range: " + milp::to_string(ranges));
    }
    if (const std::string bad = find_bad_number(scaled_); !bad.empty()) {
      return failure("after scaling " + bad + ": " + milp::to_string(ranges));
    }
    const StopReason stopped = budget_.stop_reason();
    if (stopped != StopReason::none) return {.limit = stopped, .detail = "no budget left to start"};
    return judge_answer(call_backend());
  }

  // ---- units ----------------------------------------------------------------------------------
  double to_scaled(double objective) const { return std::ldexp(objective, scaling_.objective); }
  double from_scaled(double objective) const { return std::ldexp(objective, -scaling_.objective); }
  std::vector<double> to_original(const std::vector<double>& values) const {
    return tidied_.expand(milp::unscale(scaling_, values));
  }
  // Compares both objectives, given in the caller's units, in scaled units, where the backend's
  // tolerances apply.
  bool close_objectives(double a, double b, double tolerance) const {
    return close(to_scaled(a), to_scaled(b), tolerance);
  }

  // ---- start ----------------------------------------------------------------------------------
  void check_start() {
    if (params_.start.empty()) return;
    const std::size_t wanted = original_.variables().size();
    if (params_.start.size() != wanted) {
      say(note_, "start ignored: it has " + std::to_string(params_.start.size()) +
                     " values, the model has " + std::to_string(wanted) + " variables");
      return;
    }
    std::vector<double> values = params_.start;
    if (!round_integers(original_, values)) {
      say(note_, "start ignored: it breaks " + worst_break(original_, params_.start));
    } else if (original_.violation(values) > kFeasibilityTolerance) {
      say(note_, "start ignored: it breaks " + worst_break(original_, values));
    } else {
      start_ = std::move(values);
    }
  }

  // Returns the result or the start, whichever is better. A result that the start refutes becomes a
  // failure.
  MilpResult keep_start(MilpResult result) const {
    if (!start_) return result;
    const double objective = original_.objective(*start_);
    if (result.status == MilpStatus::infeasible) {
      return failure("called infeasible although the start is feasible");
    }
    if (result.status == MilpStatus::unbounded) return result;
    if (objective < result.bound &&
        !close_objectives(objective, result.bound, kObjectiveTolerance)) {
      return failure("the start is better than the bound that the backend reported");
    }
    if (has_point(result.status) && result.objective <= objective) return result;
    result.values = *start_;
    result.objective = objective;
    result.bound = std::min(result.bound, objective);
    if (result.status != MilpStatus::optimal) result.status = MilpStatus::feasible;
    return close_gap(std::move(result));
  }

  // ---- the backend ----------------------------------------------------------------------------
  MilpResult call_backend() {
    MilpParams params{.gap = params_.gap, .seed = params_.seed};
    // A cutoff beyond the largest usable number cuts off nothing, or everything that a backend can
    // represent.
    const double cutoff = to_scaled(params_.cutoff);
    params.cutoff = cutoff < kLargestNumber ? std::max(cutoff, -kLargestNumber) : kInfinity;
    if (start_) {
      std::vector<double> reduced = milp::scale(scaling_, tidied_.reduce(*start_));
      const bool feasible = scaled_.violation(reduced) <= kFeasibilityTolerance;
      if (feasible && scaled_.objective(reduced) < params.cutoff) params.start = std::move(reduced);
    }
    const MilpObserver observer = [this](const MilpEvent& event) { forward(event); };
    return guarded({scaled_, params, budget_, observer});
  }

  MilpResult guarded(const MilpTask& task) const {
    try {
      MilpResult answer = run_watched(run_, task);
      if (answer.status == MilpStatus::error && answer.detail.empty()) {
        answer.detail = "the backend failed and gave no reason";
      }
      return answer;
    } catch (const std::exception& error) {
      return {.status = MilpStatus::error, .detail = std::string("backend: ") + error.what()};
    } catch (...) {
      return {.status = MilpStatus::error, .detail = "backend: unknown exception"};
    }
  }

  // Passes on only checked incumbents, and only improvements.
  void forward(const MilpEvent& event) {
    if (!observer_) return;
    MilpEvent out{.objective = seen_objective_, .bound = seen_bound_};
    std::vector<double> values;
    if (event.values != nullptr && event.values->size() == scaled_.variables().size()) {
      values = to_original(*event.values);
      if (!round_integers(original_, values)) return;
      if (original_.violation(values) > kFeasibilityTolerance) return;
      const double objective = original_.objective(values);
      if (objective >= seen_objective_) return;
      out.objective = seen_objective_ = objective;
      out.values = &values;
    } else {
      const double bound = from_scaled(event.bound);
      if (!(bound > seen_bound_) || bound > seen_objective_) return;
      out.bound = seen_bound_ = bound;
    }
    observer_(out);
  }

  // ---- judgement ------------------------------------------------------------------------------
  MilpResult judge_answer(MilpResult answer) {
    nodes_ = answer.nodes;
    if (std::isnan(answer.objective) || std::isnan(answer.bound)) {
      return failure("the backend answered with NaN");
    }
    switch (answer.status) {
      case MilpStatus::error:
        return failure(answer.detail);
      case MilpStatus::unbounded:
        return judge_unbounded();
      case MilpStatus::infeasible:
        if (params_.cutoff < kInfinity) {
          return {.bound = params_.cutoff, .nodes = nodes_, .detail = "nothing below the cutoff"};
        }
        return {.status = MilpStatus::infeasible, .bound = kInfinity, .nodes = nodes_};
      case MilpStatus::unknown:
        if (answer.limit == StopReason::none && answer.detail.empty()) {
          answer.detail = "the backend gave up without a reason";
        }
        return {.limit = answer.limit,
                .bound = from_scaled(answer.bound),
                .nodes = nodes_,
                .detail = answer.detail};
      case MilpStatus::optimal:
      case MilpStatus::feasible:
        return judge_point(std::move(answer));
    }
    return failure("the backend answered with a status that does not exist");
  }

  MilpResult judge_point(MilpResult answer) {
    if (answer.values.size() != scaled_.variables().size()) {
      return failure("the backend returned a point of the wrong size");
    }
    const double raw = scaled_.objective(answer.values);
    if (!close(raw, answer.objective, kObjectiveTolerance)) {
      return rejected("the backend's objective does not belong to its point");
    }
    std::vector<double> values = to_original(answer.values);
    const bool nearly = scaled_.violation(answer.values) <= kNearlyFeasible;
    if (!round_integers(original_, values)) {
      return rejected("the backend's point breaks " + worst_break(original_, values));
    }
    if (original_.violation(values) > kFeasibilityTolerance) {
      const std::string broken = worst_break(original_, values);
      if (!nearly || !repair(values)) return rejected("the backend's point breaks " + broken);
      say(note_, "continuous variables recomputed after rounding");
    }
    answer.objective = from_scaled(answer.objective);
    answer.bound = from_scaled(answer.bound);
    return accept(answer, std::move(values));
  }

  // Returns `answer` in the caller's units, with the checked values.
  MilpResult accept(const MilpResult& answer, std::vector<double> values) const {
    const bool by_tidying = tidied_.verdict == TidyModel::Verdict::solved;
    if (by_tidying && original_.violation(values) > kFeasibilityTolerance) {
      return rejected("tidying broke " + worst_break(original_, values));
    }
    const double objective = original_.objective(values);
    const double claimed = by_tidying ? objective : answer.objective;
    MilpResult result{.status = answer.status,
                      .gap_reached = answer.gap_reached,
                      .limit = answer.limit,
                      .objective = objective,
                      .bound = answer.bound,
                      .values = std::move(values),
                      .nodes = nodes_,
                      .detail = answer.detail};
    if (answer.status == MilpStatus::optimal) {
      // The proof refers to the claimed value, and rounding may have moved the point away from it.
      const bool same = close_objectives(objective, claimed, kObjectiveTolerance);
      result.bound = same ? objective : std::min(claimed, objective);
      if (!same) result.status = MilpStatus::feasible;
    } else if (result.bound > objective) {
      if (!close_objectives(objective, result.bound, kObjectiveTolerance)) {
        return rejected("the backend's bound lies above its own point");
      }
      result.bound = objective;
    }
    return close_gap(std::move(result));
  }

  MilpResult close_gap(MilpResult result) const {
    if (close_objectives(result.objective, result.bound, kOptimalityTolerance)) {
      result.status = MilpStatus::optimal;
    }
    if (result.status == MilpStatus::optimal) {
      result.bound = result.objective;
      result.gap_reached = false;
      result.limit = StopReason::none;
    }
    return result;
  }

  // Recomputes the continuous variables for the rounded integers. It has its own budget, because
  // the caller's may be used up, and dropping the point would waste all that work.
  bool repair(std::vector<double>& values) const {
    const auto& variables = original_.variables();
    const auto integral = [](const milp::Variable& variable) { return variable.integer; };
    // A linear programme has no rounded values. This also ends the recursion.
    if (std::none_of(variables.begin(), variables.end(), integral)) return false;
    const milp::Model fixed = with_integers_fixed(original_, values);
    Budget budget({.time_limit_s = kRepairSeconds});
    const MilpResult result = CheckedRun(run_, fixed, plain(), budget, kNobody).solve();
    if (!has_point(result.status)) return false;
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (!original_.variables()[j].integer) values[j] = result.values[j];
    }
    return original_.violation(values) <= kFeasibilityTolerance;
  }
  static const MilpParams& plain() {
    static const MilpParams kPlain{};  // no start, no dump
    return kPlain;
  }

  // An unbounded relaxation makes the model unbounded only if the model has a feasible point. Both
  // parts are checked here, because a wrong "unbounded" cannot be recognised later.
  MilpResult judge_unbounded() {
    Budget::Limits limits = budget_.limits();
    limits.time_limit_s = std::max(0.0, budget_.seconds_left());
    limits.node_limit = std::max<std::int64_t>(1, budget_.nodes_left());
    Budget budget(limits);
    const milp::Model cone = recession_model(original_);
    const MilpResult ray = CheckedRun(run_, cone, plain(), budget, kNobody).solve();
    if (ray.limit != StopReason::none) return {.limit = ray.limit, .nodes = nodes_};
    if (!has_point(ray.status) || ray.objective > -kFallingDirection) {
      return failure("called unbounded, but no direction of descent exists");
    }
    if (start_) return {.status = MilpStatus::unbounded, .nodes = nodes_};
    milp::Model any;
    for (milp::Variable variable : original_.variables()) {
      variable.objective = 0;
      any.add_variable(std::move(variable));
    }
    for (const milp::Row& row : original_.rows()) any.add_row(row);
    const MilpResult point = CheckedRun(run_, any, plain(), budget, kNobody).solve();
    nodes_ += point.nodes;
    budget_.count_nodes(point.nodes);
    if (has_point(point.status)) return {.status = MilpStatus::unbounded, .nodes = nodes_};
    return {.status = point.status,
            .limit = point.limit,
            .bound = point.status == MilpStatus::infeasible ? kInfinity : -kInfinity,
            .nodes = nodes_,
            .detail = point.detail};
  }

  // Returns a failure and, if requested, writes the model so that the failure can be reproduced.
  MilpResult rejected(std::string why) const {
    if (!params_.dump_directory.empty()) say(why, dump());
    return failure(why);
  }

  std::string dump() const {
    std::ostringstream text;
    milp::write_lp(original_, text);
    std::uint64_t hash =
        14695981039346656037U;  // FNV-1a: one file per model, for any number of failures
    for (const char c : text.str()) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    }
    char file_name[40];
    std::snprintf(file_name, sizeof file_name, "milp-%016llx.lp",
                  static_cast<unsigned long long>(hash));
    const std::filesystem::path path = std::filesystem::path(params_.dump_directory) / file_name;
    std::ofstream file(path);
    file << text.str();
    file.close();
    return (file ? "model written to " : "model could not be written to ") + path.string();
  }

  const MilpRun& run_;
  const milp::Model& original_;
  const MilpParams& params_;
  Budget& budget_;
  const MilpObserver& observer_;
  TidyModel tidied_;
  milp::Scaling scaling_;
  milp::Model scaled_;
  std::optional<std::vector<double>> start_;  // checked, integers rounded
  std::string note_;                          // appended to the result's detail
  std::int64_t nodes_ = 0;
  double seen_objective_ = kInfinity;
  double seen_bound_ = -kInfinity;
};

}  // namespace

MilpResult run_checked(const MilpRun& run, const milp::Model& model, const MilpParams& params,
                       Budget& budget, const MilpObserver& observer) {
  return CheckedRun(run, model, params, budget, observer).solve();
}

}  // namespace stowage
