#include "solvers/highs/highs_simplex.h"

#include <algorithm>
#include <string>
#include <vector>

#include "solvers/highs/highs_session.h"
#include "solvers/milp/watch.h"

namespace stowage {
namespace {

// Values of HiGHS' option simplex_strategy.
constexpr int kDual = 1;
constexpr int kPrimal = 4;

HighsInt to_highs(LpPlace place) {
  switch (place) {
    case LpPlace::basic:
      return kHighsBasisStatusBasic;
    case LpPlace::upper:
      return kHighsBasisStatusUpper;
    case LpPlace::free:
      return kHighsBasisStatusZero;
    case LpPlace::lower:
      break;
  }
  return kHighsBasisStatusLower;
}

LpPlace from_highs(HighsInt status) {
  if (status == kHighsBasisStatusBasic) return LpPlace::basic;
  if (status == kHighsBasisStatusUpper) return LpPlace::upper;
  if (status == kHighsBasisStatusZero) return LpPlace::free;
  return LpPlace::lower;
}

// HiGHS begins with its own basis if it refuses this one.
void give_basis(const milp::Model& model, const LpBasis& start, HighsSession& session) {
  std::vector<HighsInt> columns(model.variables().size(), kHighsBasisStatusLower);
  std::vector<HighsInt> rows(model.rows().size(), kHighsBasisStatusBasic);
  std::transform(start.variables.begin(), start.variables.end(), columns.begin(), to_highs);
  std::transform(start.rows.begin(), start.rows.end(), rows.begin(), to_highs);
  Highs_setBasis(session.get(), columns.data(), rows.data());
}

LpResult solve(const milp::Model& model, const LpBasis& start, Budget& budget) {
  // Ignores node limits, which stop between linear programmes.
  const auto stop = [&budget] {
    const StopReason reason = budget.stop_reason();
    return reason == StopReason::interrupted || reason == StopReason::time_limit;
  };
  HighsSession session(model, budget, {.stop = stop});
  session.set("solver", "simplex");
  session.set("random_seed", 1);
  // After new columns the old solution stays feasible. After new rows the old prices stay feasible.
  const bool grew_columns = start.variables.size() < model.variables().size();
  const bool primal =
      !start.rows.empty() && start.rows.size() == model.rows().size() && grew_columns;
  session.set("simplex_strategy", primal ? kPrimal : kDual);
  if (!start.rows.empty() || !start.variables.empty()) give_basis(model, start, session);
  session.run();
  if (session.model_status() != kHighsModelStatusOptimal) {
    if (stop()) return {.limit = budget.stop_reason(), .detail = "stopped at a limit"};
    return {.detail = "HiGHS ended with model status " + std::to_string(session.model_status())};
  }
  LpResult result{.optimal = true, .objective = session.number("objective_function_value")};
  result.values.resize(model.variables().size());
  result.duals.resize(model.rows().size());
  std::vector<double> reduced(result.values.size());
  std::vector<double> activity(result.duals.size());
  Highs_getSolution(session.get(), result.values.data(), reduced.data(), activity.data(),
                    result.duals.data());
  std::vector<HighsInt> columns(result.values.size());
  std::vector<HighsInt> rows(result.duals.size());
  Highs_getBasis(session.get(), columns.data(), rows.data());
  for (const HighsInt status : columns) result.basis.variables.push_back(from_highs(status));
  for (const HighsInt status : rows) result.basis.rows.push_back(from_highs(status));
  return result;
}

}  // namespace

LpResult run_highs_simplex(const milp::Model& model, const LpBasis& start, Budget& budget) {
  LpResult result;
  on_own_thread([&] { result = solve(model, start, budget); });
  return result;
}

}  // namespace stowage
