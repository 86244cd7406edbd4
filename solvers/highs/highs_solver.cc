#include "solvers/highs/highs_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "solvers/highs/highs_session.h"
#include "solvers/milp/watch.h"

namespace stowage {
namespace {

constexpr double kProved = 1e-9;  // relative gap of MilpStatus::optimal

class Solve {
 public:
  explicit Solve(const MilpTask& task)
      : task_(task), session_(task.model, task.budget, listener()) {
    for (const milp::Variable& v : task.model.variables()) integral_ = integral_ || v.integer;
  }

  MilpResult run() {
    if (integral_) configure();
    session_.run();
    count_up_to(session_.nodes());
    return conclude();
  }

 private:
  HighsSession::Listener listener() {
    return {.progress = [this](std::int64_t nodes, double bound) { note(nodes, bound); },
            .incumbent = [this](double objective, const double* x) { report(objective, x); },
            .stop = [this] { return must_stop(); }};
  }

  void configure() {
    session_.set("mip_feasibility_tolerance", 1e-9);
    session_.set("mip_abs_gap", 0.0);
    session_.set("mip_rel_gap", task_.params.gap);
    session_.set("random_seed", static_cast<int>(task_.params.seed % 2147483647U));
    const std::int64_t nodes = task_.budget.nodes_left();
    constexpr int kMost = std::numeric_limits<int>::max();
    if (nodes < kMost)
      session_.set("mip_max_nodes", static_cast<int>(std::max<std::int64_t>(0, nodes)));
    if (task_.params.cutoff < kInfinity) session_.set("objective_bound", task_.params.cutoff);
    if (!task_.params.start.empty()) {
      // A refused start is no failure: the search begins without it.
      Highs_setSolution(session_.get(), task_.params.start.data(), nullptr, nullptr, nullptr);
    }
  }

  void count_up_to(std::int64_t total) {
    if (total <= nodes_) return;
    task_.budget.count_nodes(total - nodes_);
    nodes_ = total;
  }

  void note(std::int64_t nodes, double bound) {
    count_up_to(nodes);
    if (!(bound > bound_) || bound >= kInfinity) return;
    bound_ = bound;
    task_.observer({.bound = bound});
  }

  void report(double objective, const double* x) {
    const std::vector<double> values(x, x + task_.model.variables().size());
    task_.observer({.objective = objective, .values = &values});
  }

  // Node limits are HiGHS' own matter, so that they always end a run at the same place.
  bool must_stop() {
    const StopReason reason = task_.budget.stop_reason();
    if (reason == StopReason::none || reason == StopReason::node_limit) return false;
    stopped_ = reason;
    return true;
  }

  MilpResult conclude() {
    const int status = session_.model_status();
    MilpResult result{.nodes = nodes_};
    switch (status) {
      case kHighsModelStatusOptimal:
        return optimum();
      case kHighsModelStatusInfeasible:
        result.status = MilpStatus::infeasible;
        return result;
      case kHighsModelStatusUnbounded:
        result.status = MilpStatus::unbounded;
        return result;
      case kHighsModelStatusUnboundedOrInfeasible:
        return infeasible_or_unbounded();
      case kHighsModelStatusObjectiveBound:  // no point is below the cutoff
        result.status = MilpStatus::infeasible;
        return result;
      case kHighsModelStatusTimeLimit:
        result.limit = StopReason::time_limit;
        break;
      case kHighsModelStatusSolutionLimit:
        result.limit = StopReason::node_limit;
        break;
      default:
        // Versions of HiGHS differ in the statuses of an interruption.
        if (stopped_ == StopReason::none) {
          throw BackendError("HiGHS stopped with model status " + std::to_string(status));
        }
        result.limit = stopped_;
    }
    return cut_short(std::move(result));
  }

  MilpResult optimum() {
    MilpResult result{.status = MilpStatus::optimal,
                      .objective = session_.number("objective_function_value"),
                      .values = session_.values(),
                      .nodes = nodes_};
    result.bound = result.objective;
    if (!integral_) return result;
    const double bound = session_.number("mip_dual_bound");
    const double scale = std::max(1.0, std::abs(result.objective));
    if (result.objective >= task_.params.cutoff) return above_cutoff(bound);
    if (bound < result.objective - kProved * scale) {
      result.status = MilpStatus::feasible;
      result.gap_reached = true;
      result.bound = bound;
    }
    return result;
  }

  // HiGHS may end with a point that is not below the cutoff.
  MilpResult above_cutoff(double bound) const {
    const double cutoff = task_.params.cutoff;
    MilpResult result{.bound = std::min(bound, cutoff), .nodes = nodes_};
    if (bound >= cutoff - kProved * std::max(1.0, std::abs(cutoff))) {
      result.status = MilpStatus::infeasible;
    } else {
      result.gap_reached = true;
      result.detail = "HiGHS stopped at the gap without a point below the cutoff";
    }
    return result;
  }

  MilpResult cut_short(MilpResult result) {
    if (!integral_) return result;
    result.bound =
        std::min(std::max(bound_, session_.number("mip_dual_bound")), task_.params.cutoff);
    if (session_.has_point() && session_.number("objective_function_value") < task_.params.cutoff) {
      result.status = MilpStatus::feasible;
      result.values = session_.values();
      result.objective = session_.number("objective_function_value");
      result.bound = std::min(result.bound, result.objective);
    }
    return result;
  }

  // HiGHS' presolve proves this without saying which. A model without an objective is never
  // unbounded, so solving it without the objective separates the two cases.
  MilpResult infeasible_or_unbounded() {
    milp::Model any;
    for (milp::Variable v : task_.model.variables()) {
      v.objective = 0;
      any.add_variable(std::move(v));
    }
    for (const milp::Row& row : task_.model.rows()) any.add_row(row);
    HighsSession feasible(any, task_.budget, {.stop = [this] { return must_stop(); }});
    feasible.run();
    MilpResult result{.nodes = nodes_};
    switch (feasible.model_status()) {
      case kHighsModelStatusOptimal:
        result.status = MilpStatus::unbounded;
        break;
      case kHighsModelStatusInfeasible:
      case kHighsModelStatusUnboundedOrInfeasible:
        result.status = MilpStatus::infeasible;
        break;
      default:
        result.limit = task_.budget.stop_reason();
        if (result.limit == StopReason::none) {
          result.detail = "HiGHS left open whether the model is unbounded or infeasible";
        }
    }
    return result;
  }

  const MilpTask& task_;
  HighsSession session_;
  bool integral_ = false;
  std::int64_t nodes_ = 0;     // already counted
  double bound_ = -kInfinity;  // last bound reported
  StopReason stopped_ = StopReason::none;
};

}  // namespace

MilpResult run_highs(const MilpTask& task) {
  MilpResult result;
  on_own_thread([&] { result = Solve(task).run(); });
  return result;
}

}  // namespace stowage
