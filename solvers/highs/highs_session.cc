#include "solvers/highs/highs_session.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "solvers/milp/contract.h"
#include "solvers/milp/model_arrays.h"

namespace stowage {
namespace {

// The tightest tolerances but one that HiGHS accepts. With its defaults of 1e-7 and 1e-6, a vertex
// at 0.9999999 counts as integral, and solutions that are better by less are not sought.
constexpr double kTolerance = 1e-9;

// Seconds. Ending earlier than the budget by at most this is no jump of a clock.
constexpr double kRounded = 0.05;

void expect(HighsInt status, const char* what) {
  if (status == kHighsStatusError) throw BackendError(std::string("HiGHS: ") + what + " failed");
}

}  // namespace

HighsSession::HighsSession(const milp::Model& model, const Budget& budget, Listener listener)
    : highs_(Highs_create()),
      columns_(model.variables().size()),
      rows_(model.rows().size()),
      budget_(budget),
      listener_(std::move(listener)) {
  try {
    set("output_flag", false);
    set("threads", 1);
    set("parallel", "off");
    set("primal_feasibility_tolerance", kTolerance);
    set("dual_feasibility_tolerance", kTolerance);
    const ModelArrays a(model);
    std::vector<HighsInt> kind;
    bool integral = false;
    for (const milp::Variable& v : model.variables()) {
      kind.push_back(v.integer ? kHighsVarTypeInteger : kHighsVarTypeContinuous);
      integral = integral || v.integer;
    }
    expect(Highs_passModel(highs_, a.columns(), a.rows(), static_cast<HighsInt>(a.index.size()), 0,
                           kHighsMatrixFormatRowwise, 0, kHighsObjSenseMinimize, model.offset(),
                           a.cost.data(), a.lower.data(), a.upper.data(), a.row_lower.data(),
                           a.row_upper.data(), a.begin.data(), a.index.data(), a.value.data(),
                           nullptr, nullptr, nullptr, integral ? kind.data() : nullptr),
           "loading the model");
    expect(Highs_setCallback(highs_, call_back, this), "setting the callback");
    for (const HighsInt of : {kHighsCallbackSimplexInterrupt, kHighsCallbackIpmInterrupt,
                              kHighsCallbackMipImprovingSolution, kHighsCallbackMipInterrupt}) {
      expect(Highs_startCallback(highs_, of), "starting a callback");
    }
  } catch (...) {
    Highs_destroy(highs_);
    throw;
  }
}

HighsSession::~HighsSession() { Highs_destroy(highs_); }

void HighsSession::set(const char* option, bool value) {
  expect(Highs_setBoolOptionValue(highs_, option, value ? 1 : 0), option);
}
void HighsSession::set(const char* option, int value) {
  expect(Highs_setIntOptionValue(highs_, option, value), option);
}
void HighsSession::set(const char* option, double value) {
  expect(Highs_setDoubleOptionValue(highs_, option, value), option);
}
void HighsSession::set(const char* option, const char* value) {
  expect(Highs_setStringOptionValue(highs_, option, value), option);
}

void HighsSession::run() {
  // HiGHS measures the wall clock, which is unrelated to a budget of CPU time or of readings. The
  // callbacks end such runs. HiGHS adds up the times of all runs of one object.
  const bool wall = budget_.limits().clock == BudgetClock::wall;
  if (wall && std::isfinite(budget_.seconds_left())) {
    set("time_limit", Highs_getRunTime(highs_) + std::max(0.0, budget_.seconds_left()));
  }
  expect(Highs_run(highs_), "solving");
  // HiGHS measures by the time of day. If that clock jumps, HiGHS ends although time is left.
  if (model_status() == kHighsModelStatusTimeLimit && budget_.seconds_left() > kRounded) {
    set("time_limit", Highs_getInfinity(highs_));
    expect(Highs_run(highs_), "solving");
  }
}

std::vector<double> HighsSession::values() const {
  std::vector<double> x(columns_);
  std::vector<double> of_columns(columns_);
  std::vector<double> of_rows(rows_);
  std::vector<double> prices(rows_);
  expect(Highs_getSolution(highs_, x.data(), of_columns.data(), of_rows.data(), prices.data()),
         "reading the solution");
  return x;
}

bool HighsSession::has_point() const {
  HighsInt status = kHighsSolutionStatusNone;
  Highs_getIntInfoValue(highs_, "primal_solution_status", &status);
  return status == kHighsSolutionStatusFeasible;
}

double HighsSession::number(const char* info) const {
  double value = 0;
  expect(Highs_getDoubleInfoValue(highs_, info, &value), info);
  return value;
}

std::int64_t HighsSession::nodes() const {
  std::int64_t nodes = 0;
  Highs_getInt64InfoValue(highs_, "mip_node_count", &nodes);
  return std::max<std::int64_t>(0, nodes);
}

void HighsSession::call_back(int kind, const char*, const HighsCallbackDataOut* out,
                             HighsCallbackDataIn* in, void* self) {
  const Listener& listener = static_cast<HighsSession*>(self)->listener_;
  if (kind == kHighsCallbackMipImprovingSolution) {
    if (out->mip_solution != nullptr && listener.incumbent) {
      listener.incumbent(out->objective_function_value, out->mip_solution);
    }
    return;  // HiGHS does not stop here
  }
  if (kind == kHighsCallbackMipInterrupt && listener.progress) {
    listener.progress(out->mip_node_count, out->mip_dual_bound);
  }
  if (in != nullptr && listener.stop && listener.stop()) in->user_interrupt = 1;
}

}  // namespace stowage
