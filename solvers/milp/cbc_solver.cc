#include "solvers/milp/cbc_solver.h"

#include <CbcEventHandler.hpp>
#include <CbcHeuristicFPump.hpp>
#include <CbcModel.hpp>
#include <CglClique.hpp>
#include <CglFlowCover.hpp>
#include <CglGomory.hpp>
#include <CglMixedIntegerRounding2.hpp>
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>
#include <CoinError.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "solvers/milp/model_arrays.h"

// LAPACK calls inside CBC are tiny. A threaded OpenBLAS would start threads for each of them. The
// symbol exists only if that OpenBLAS is the process's BLAS.
extern "C" void openblas_set_num_threads(int threads) __attribute__((weak));

namespace stowage {
namespace {

constexpr double kNoObjective = 1e49;  // CBC uses 1e50 for a missing objective
constexpr int kLpStopped = 5;          // any value from 0 stops Clp; 5 is its "stopped by event"

// The state that handlers share with the solve. CBC clones handlers, so they hold a pointer to it.
struct Watch {
  const MilpTask& task;
  std::int64_t nodes = 0;     // already counted
  double bound = -kInfinity;  // last bound reported before any LP was cut short
  bool lp_stopped = false;    // an LP ended early, and later results are no proof
  StopReason stopped = StopReason::none;

  void count_up_to(std::int64_t total) {
    if (total <= nodes) return;
    task.budget.count_nodes(total - nodes);
    nodes = total;
  }
  void raise_bound(double better) {
    if (lp_stopped || !(better > bound) || better >= kNoObjective) return;
    bound = better;
    task.observer({.bound = bound});
  }
};

class LpStop : public ClpEventHandler {
 public:
  explicit LpStop(Watch* watch) : watch_(watch) {}
  ClpEventHandler* clone() const override { return new LpStop(*this); }
  int event(Event what) override {
    if (what != endOfIteration && what != endOfFactorization) return -1;
    // Ignores node limits, which stop between nodes, where the result does not depend on timing.
    const StopReason reason = watch_->task.budget.stop_reason();
    if (reason != StopReason::interrupted && reason != StopReason::time_limit) return -1;
    watch_->lp_stopped = true;
    watch_->stopped = reason;
    return kLpStopped;
  }

 private:
  Watch* watch_;
};

class TreeWatch : public CbcEventHandler {
 public:
  explicit TreeWatch(Watch* watch) : watch_(watch) {}
  CbcEventHandler* clone() const override { return new TreeWatch(*this); }
  CbcAction event(CbcEvent what) override {
    // Heuristics solve sub-models through the same handler. Their points and counts are not those
    // of the model.
    const bool sub_model = (model_->specialOptions() & 2048) != 0;
    if (!sub_model) {
      if (what == node) {
        watch_->count_up_to(model_->getNodeCount());
        watch_->raise_bound(model_->getBestPossibleObjValue());
      } else if (what == solution || what == heuristicSolution) {
        report_incumbent();
      }
    }
    const StopReason reason = watch_->task.budget.stop_reason();
    // Node limits are only applied between nodes of the main tree, see LpStop.
    if (reason == StopReason::none) return noAction;
    if (reason == StopReason::node_limit && (sub_model || what != node)) return noAction;
    watch_->stopped = reason;
    return stop;
  }

 private:
  void report_incumbent() {
    const double* best = model_->bestSolution();
    if (best == nullptr) return;
    const std::size_t n = watch_->task.model.variables().size();
    if (static_cast<std::size_t>(model_->getNumCols()) != n) return;
    const std::vector<double> values(best, best + n);
    watch_->task.observer({.objective = model_->getObjValue(), .values = &values});
  }

  Watch* watch_;
};

void load(const milp::Model& model, OsiClpSolverInterface& osi) {
  const ModelArrays a(model);
  const CoinPackedMatrix matrix(false, a.columns(), a.rows(),
                                static_cast<CoinBigIndex>(a.index.size()), a.value.data(),
                                a.index.data(), a.begin.data(), nullptr);
  osi.loadProblem(matrix, a.lower.data(), a.upper.data(), a.cost.data(), a.row_lower.data(),
                  a.row_upper.data());
  osi.setObjSense(1);
  osi.setDblParam(OsiObjOffset, -model.offset());
  for (std::size_t j = 0; j < model.variables().size(); ++j) {
    if (model.variables()[j].integer) osi.setInteger(static_cast<int>(j));
  }
}

class Solve {
 public:
  explicit Solve(const MilpTask& task) : task_(task), watch_{.task = task} {}

  MilpResult run() {
    prepare();
    bool integral = false;
    for (const milp::Variable& v : task_.model.variables()) integral = integral || v.integer;
    if (!integral) {
      osi_.initialSolve();
      return relaxation(osi_);
    }
    CbcModel cbc(osi_);
    configure(cbc);
    cbc.initialSolve();
    MilpResult root = relaxation(*cbc.solver());
    if (root.status != MilpStatus::optimal) return root;
    watch_.raise_bound(root.objective);
    if (const StopReason stop = task_.budget.stop_reason(); stop != StopReason::none) {
      return {.limit = stop, .bound = root.objective};
    }
    if (task_.params.cutoff < kInfinity) cbc.setCutoff(task_.params.cutoff);
    if (!task_.params.start.empty()) {
      const std::vector<double>& start = task_.params.start;
      cbc.setBestSolution(start.data(), static_cast<int>(start.size()),
                          task_.model.objective(start), true);
    }
    cbc.branchAndBound();
    return conclude(cbc, root.objective);
  }

 private:
  // CBC draws its seed from the clock when given 0.
  int seed() const { return 1 + static_cast<int>(task_.params.seed % 2147483646U); }

  void prepare() {
    osi_.messageHandler()->setLogLevel(0);
    osi_.setHintParam(OsiDoReducePrint, true, OsiHintTry);
    ClpSolve how;
    how.setSpecialOption(2, 1);  // leaves the process's SIGINT handler unchanged
    osi_.setSolveOptions(how);
    // With the default of 1e-7, Clp ignores a branch that raises 0.9999999 to 1.
    osi_.setDblParam(OsiPrimalTolerance, 1e-9);
    load(task_.model, osi_);
    const LpStop stop(&watch_);
    osi_.getModelPtr()->passInEventHandler(&stop);
    osi_.getModelPtr()->setRandomSeed(seed());
  }

  // The generators of CbcStrategyDefault without two that cut off optima. CglProbing together with
  // the others gave 15 wrong "optimal" results on 1,875 class MIPs of at most 30 variables, 5 of
  // them with the strategy itself, and none without CglProbing. CglKnapsackCover gave 11 wrong
  // results on 114 solves of small assign models, 3 of them as the only generator, and none without
  // it.
  static void add_cuts(CbcModel& cbc) {
    constexpr int kWhileUseful = -1;
    CglGomory gomory;
    CglClique clique;
    clique.setStarCliqueReport(false);  // it prints by default at any log level
    clique.setRowCliqueReport(false);
    CglMixedIntegerRounding2 rounding;
    CglFlowCover flow;
    cbc.addCutGenerator(&gomory, kWhileUseful, "Gomory");
    cbc.addCutGenerator(&clique, kWhileUseful, "clique");
    cbc.addCutGenerator(&rounding, kWhileUseful, "mixed-integer rounding");
    cbc.addCutGenerator(&flow, kWhileUseful, "flow cover");
    // The other settings of the strategy, but 20 passes at the root of small models: its 100 double
    // the time.
    cbc.setMaximumCutPassesAtRoot(20);
    cbc.setMaximumCutPasses(1);
    cbc.setNumberStrong(5);
    cbc.setNumberBeforeTrust(10);
  }

  void configure(CbcModel& cbc) {
    cbc.setLogLevel(0);
    cbc.solver()->messageHandler()->setLogLevel(0);
    cbc.setUseElapsedTime(task_.budget.limits().clock == BudgetClock::wall);
    // CBC measures real seconds, which are unrelated to a budget that counts readings.
    const bool real = task_.budget.limits().clock != BudgetClock::looks;
    if (real && std::isfinite(task_.budget.seconds_left())) {
      cbc.setMaximumSeconds(std::max(0.0, task_.budget.seconds_left()));
    }
    const std::int64_t nodes = task_.budget.nodes_left();
    cbc.setMaximumNodes(
        static_cast<int>(std::min<std::int64_t>(nodes, std::numeric_limits<int>::max() / 2)));
    cbc.setAllowableGap(0);
    cbc.setAllowableFractionGap(task_.params.gap);
    // With the default of 1e-6, a vertex at 0.9999999 is rounded. If that violates a row, CBC drops
    // the whole node and may call the model infeasible.
    cbc.setIntegerTolerance(1e-9);
    cbc.setCutoffIncrement(1e-9);  // the default, 1e-5, loses optima when objectives are small
    cbc.setRandomSeed(seed());
    add_cuts(cbc);
    CbcHeuristicFPump pump(cbc);
    pump.setFeasibilityPumpOptions(0);
    pump.setMaximumPasses(20);
    cbc.addHeuristic(&pump, "feasibility pump");
    // RINS is off: on 3,000 layout MIPs of at most 7 buffers, RINS with the pump caused a failed
    // assertion in Clp, which ends the process, and a wrong "optimal" result. Neither occurred
    // without RINS.
    const TreeWatch watch(&watch_);
    cbc.passInEventHandler(&watch);
  }

  // Reads the root relaxation or, for a linear programme, the result. Call this before
  // branchAndBound, which reports an unbounded model as infeasible.
  MilpResult relaxation(const OsiSolverInterface& osi) const {
    if (watch_.lp_stopped) return {.limit = watch_.stopped};
    if (osi.isProvenPrimalInfeasible()) return infeasible_or_unbounded(osi);
    if (osi.isProvenDualInfeasible()) return {.status = MilpStatus::unbounded};
    if (!osi.isProvenOptimal()) throw BackendError("Clp left its relaxation undecided");
    const double* x = osi.getColSolution();
    return {.status = MilpStatus::optimal,
            .objective = osi.getObjValue(),
            .bound = osi.getObjValue(),
            .values = std::vector<double>(x, x + osi.getNumCols())};
  }

  // Clp's presolve calls some unbounded models infeasible. A model without an objective is never
  // unbounded, so solving it without the objective separates the two cases.
  MilpResult infeasible_or_unbounded(const OsiSolverInterface& osi) const {
    const std::unique_ptr<OsiSolverInterface> copy(osi.clone());
    const std::vector<double> zero(task_.model.variables().size());
    copy->setObjective(zero.data());
    copy->initialSolve();
    if (watch_.lp_stopped) return {.limit = watch_.stopped};
    return {.status = copy->isProvenOptimal() ? MilpStatus::unbounded : MilpStatus::infeasible};
  }

  MilpResult conclude(const CbcModel& cbc, double root) {
    watch_.count_up_to(cbc.getNodeCount());
    MilpResult result{.nodes = watch_.nodes};
    if (const double* best = cbc.bestSolution(); best != nullptr) {
      result.values.assign(best, best + task_.model.variables().size());
      // A search stopped by our event keeps its point but may report 1e50 as its objective.
      result.objective = cbc.getObjValue() < kNoObjective ? cbc.getObjValue()
                                                          : task_.model.objective(result.values);
      result.status = MilpStatus::feasible;
    }
    const bool found = result.status == MilpStatus::feasible;
    const int status = cbc.status();
    const int secondary = cbc.secondaryStatus();
    if (status == 0 && secondary == 7) return {.status = MilpStatus::unbounded};
    if (status == 2) throw BackendError("CBC abandoned the search after numerical trouble");
    if (status == 0 && secondary <= 1 && watch_.stopped == StopReason::none) {
      result.status = found ? MilpStatus::optimal : MilpStatus::infeasible;
      result.bound = found ? result.objective : kInfinity;
      return result;
    }
    if (!watch_.lp_stopped) {
      const double bound = cbc.getBestPossibleObjValue();
      if (bound < kNoObjective && bound > watch_.bound) watch_.bound = bound;
    }
    result.bound = std::max(root, watch_.bound);
    if (found) result.bound = std::min(result.bound, result.objective);
    if (watch_.stopped != StopReason::none) {
      result.limit = watch_.stopped;
    } else if (status == 0 && secondary == 2) {
      result.gap_reached = true;
    } else if (secondary == 4) {
      result.limit = StopReason::time_limit;
    } else if (secondary == 3) {
      result.limit = StopReason::node_limit;
    } else {
      result.detail =
          "CBC stopped with status " + std::to_string(status) + "/" + std::to_string(secondary);
    }
    return result;
  }

  const MilpTask& task_;
  Watch watch_;
  OsiClpSolverInterface osi_;
};

}  // namespace

MilpResult run_cbc(const MilpTask& task) {
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
  try {
    return Solve(task).run();
  } catch (const CoinError& error) {  // not derived from std::exception
    throw BackendError("CBC: " + error.message() + " in " + error.className() +
                       "::" + error.methodName());
  }
}

}  // namespace stowage
