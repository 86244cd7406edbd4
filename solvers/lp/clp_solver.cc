#include "solvers/lp/clp_solver.h"

#include <ClpEventHandler.hpp>
#include <ClpFactorization.hpp>
#include <ClpSimplex.hpp>
#include <CoinError.hpp>
#include <CoinPackedMatrix.hpp>
#include <vector>

#include "solvers/milp/contract.h"
#include "solvers/milp/model_arrays.h"

// LAPACK calls inside Clp are tiny. A threaded OpenBLAS would start threads for each of them.
extern "C" void openblas_set_num_threads(int threads) __attribute__((weak));

namespace stowage {
namespace {

class LpStop : public ClpEventHandler {
 public:
  explicit LpStop(const Budget* budget) : budget_(budget) {}
  ClpEventHandler* clone() const override { return new LpStop(*this); }
  int event(Event what) override {
    if (what != endOfIteration && what != endOfFactorization) return -1;
    // Ignores node limits, which stop between linear programmes.
    const StopReason reason = budget_->stop_reason();
    constexpr int kStop = 5;
    return reason == StopReason::interrupted || reason == StopReason::time_limit ? kStop : -1;
  }

 private:
  const Budget* budget_;
};

void load(const milp::Model& model, ClpSimplex& clp) {
  const ModelArrays a(model);
  const CoinPackedMatrix matrix(false, a.columns(), a.rows(),
                                static_cast<CoinBigIndex>(a.index.size()), a.value.data(),
                                a.index.data(), a.begin.data(), nullptr);
  clp.loadProblem(matrix, a.lower.data(), a.upper.data(), a.cost.data(), a.row_lower.data(),
                  a.row_upper.data());
}

ClpSimplex::Status to_clp(LpPlace place) {
  switch (place) {
    case LpPlace::basic:
      return ClpSimplex::basic;
    case LpPlace::upper:
      return ClpSimplex::atUpperBound;
    case LpPlace::free:
      return ClpSimplex::isFree;
    case LpPlace::lower:
      break;
  }
  return ClpSimplex::atLowerBound;
}

LpPlace from_clp(ClpSimplex::Status status) {
  switch (status) {
    case ClpSimplex::basic:
      return LpPlace::basic;
    case ClpSimplex::atUpperBound:
      return LpPlace::upper;
    case ClpSimplex::isFree:
    case ClpSimplex::superBasic:
      return LpPlace::free;
    default:
      return LpPlace::lower;
  }
}

LpResult solve(const milp::Model& model, const LpBasis& start, Budget& budget) {
  ClpSimplex clp;
  clp.setLogLevel(0);
  clp.setRandomSeed(1);
  clp.setPerturbation(100);  // no perturbation: faster here, and prices are exact
  const LpStop stop(&budget);
  clp.passInEventHandler(&stop);
  load(model, clp);
  // Dense parts would use LAPACK, whose last digits depend on the alignment of memory.
  clp.factorization()->setGoDenseThreshold(-1);
  clp.factorization()->setGoSmallThreshold(-1);
  clp.factorization()->setGoOslThreshold(-1);
  clp.factorization()->setDenseThreshold(0);
  clp.createStatus();
  for (std::size_t j = 0; j < start.variables.size(); ++j) {
    clp.setColumnStatus(static_cast<int>(j), to_clp(start.variables[j]));
  }
  for (std::size_t i = 0; i < start.rows.size(); ++i) {
    clp.setRowStatus(static_cast<int>(i), to_clp(start.rows[i]));
  }
  // After new columns the old solution stays feasible. After new rows the old prices stay feasible.
  const bool grew_columns = start.variables.size() < model.variables().size();
  if (!start.rows.empty() && start.rows.size() == model.rows().size() && grew_columns) {
    clp.primal();
  } else {
    clp.dual();
  }
  if (clp.status() == 0 && !clp.isProvenOptimal()) clp.primal();
  if (!clp.isProvenOptimal()) {
    if (budget.exhausted()) return {.limit = budget.stop_reason(), .detail = "stopped at a limit"};
    return {.detail = "Clp ended with status " + std::to_string(clp.status())};
  }
  LpResult result{.optimal = true, .objective = clp.objectiveValue() + model.offset()};
  const double* x = clp.primalColumnSolution();
  result.values.assign(x, x + clp.numberColumns());
  const double* y = clp.dualRowSolution();
  result.duals.assign(y, y + clp.numberRows());
  for (int j = 0; j < clp.numberColumns(); ++j) {
    result.basis.variables.push_back(from_clp(clp.getColumnStatus(j)));
  }
  for (int i = 0; i < clp.numberRows(); ++i) {
    result.basis.rows.push_back(from_clp(clp.getRowStatus(i)));
  }
  return result;
}

}  // namespace

LpResult run_clp(const milp::Model& model, const LpBasis& start, Budget& budget) {
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
  try {
    return solve(model, start, budget);
  } catch (const CoinError& error) {  // not derived from std::exception
    throw BackendError("Clp: " + error.message() + " in " + error.className() +
                       "::" + error.methodName());
  }
}

}  // namespace stowage
