#include "solvers/lp/dense_simplex.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "instances/numeric/random.h"

namespace stowage {
namespace {

constexpr double kFeasible = 1e-9;
constexpr double kPivot = 1e-9;
constexpr double kPerturbation = 1e-7;
constexpr std::size_t kPivotsPerRow = 20;
constexpr std::size_t kAskEvery = 32;  // pivots between two readings of the budget
// Smaller pivots mean that the start is no basis of this model.
constexpr double kStartPivot = 1e-7;
// Share of the largest cost; reduced costs down to minus this are rounding errors.
constexpr double kStartCost = 1e-9;

bool is_covering(const milp::Model& model) {
  for (const milp::Variable& v : model.variables()) {
    if (v.lower != 0 || v.upper != milp::kInfinity || v.objective < 0 || v.integer) return false;
  }
  return std::ranges::all_of(model.rows(), [](const milp::Row& row) {
    return std::isfinite(row.lower) && row.upper == milp::kInfinity;
  });
}

class Tableau {
 public:
  explicit Tableau(const milp::Model& model)
      : rows_(model.rows().size()),
        columns_(model.variables().size()),
        cells_(rows_ * columns_),
        value_(rows_),
        cost_(columns_) {
    for (const milp::Variable& v : model.variables()) largest_ = std::max(largest_, v.objective);
    std::mt19937_64 random(1);
    for (std::size_t j = 0; j < columns_; ++j) {
      const double share = 0.5 + static_cast<double>(draw(random, 1000)) / 2000;
      cost_[j] = model.variables()[j].objective + largest_ * kPerturbation * share;
      outside_.push_back(j);
    }
    for (std::size_t i = 0; i < rows_; ++i) {
      for (const milp::Term& term : model.rows()[i].terms) {
        at(i, static_cast<std::size_t>(term.variable)) += term.coefficient;
      }
      value_[i] = -model.rows()[i].lower;
      basic_.push_back(columns_ + i);
    }
  }

  std::size_t rows() const { return rows_; }

  // Changes to a basis that was optimal before rows were added. Returns false, with an invalid
  // tableau, if it is no basis of this model or not dual feasible, because columns or costs differ.
  bool adopt(const LpBasis& start) {
    std::vector<std::size_t> tight;
    for (std::size_t i = 0; i < std::min(rows_, start.rows.size()); ++i) {
      if (start.rows[i] != LpPlace::basic) tight.push_back(i);
    }
    for (std::size_t j = 0; j < std::min(columns_, start.variables.size()); ++j) {
      if (start.variables[j] != LpPlace::basic) continue;
      const auto row =
          std::ranges::max_element(tight, {}, [&](std::size_t i) { return std::abs(at(i, j)); });
      if (row == tight.end() || std::abs(at(*row, j)) < kStartPivot) return false;
      pivot(*row, j);
      tight.erase(row);
    }
    if (!tight.empty()) return false;
    for (double& cost : cost_) {
      if (cost < -kStartCost * largest_) return false;
      cost = std::max(0.0, cost);
    }
    return true;
  }

  // Makes one pivot. Returns false if the point is feasible, and so optimal, or if no pivot is
  // possible.
  bool step() {
    const std::size_t row = most_negative();
    if (row == rows_) return false;
    std::size_t enter = columns_;
    double least = milp::kInfinity;
    const double* line = &at(row, 0);
    for (std::size_t j = 0; j < columns_; ++j) {
      if (line[j] <= kPivot) continue;
      const double ratio = cost_[j] / line[j];
      if (ratio < least) {
        least = ratio;
        enter = j;
      }
    }
    if (enter == columns_) {
      infeasible_ = true;
      return false;
    }
    pivot(row, enter);
    for (const std::size_t j : touched_) cost_[j] = std::max(0.0, cost_[j]);
    return true;
  }

  bool infeasible() const { return infeasible_; }

  // Writes the values of the variables, the prices of the rows, and the basis.
  void read(LpResult& result) const {
    result.basis.variables.assign(columns_, LpPlace::lower);
    result.basis.rows.assign(rows_, LpPlace::lower);
    for (const std::size_t basic : basic_) {
      (basic < columns_ ? result.basis.variables[basic] : result.basis.rows[basic - columns_]) =
          LpPlace::basic;
    }
    result.values.assign(columns_, 0);
    result.duals.assign(rows_, 0);
    for (std::size_t i = 0; i < rows_; ++i) {
      if (basic_[i] < columns_) result.values[basic_[i]] = std::max(0.0, value_[i]);
    }
    for (std::size_t j = 0; j < columns_; ++j) {
      if (outside_[j] >= columns_) result.duals[outside_[j] - columns_] = cost_[j];
    }
  }

 private:
  double& at(std::size_t row, std::size_t column) { return cells_[row * columns_ + column]; }

  std::size_t most_negative() const {
    std::size_t row = rows_;
    double most = -kFeasible;
    for (std::size_t i = 0; i < rows_; ++i) {
      if (value_[i] < most) {
        most = value_[i];
        row = i;
      }
    }
    return row;
  }

  // The row means basic = value + line . outside. Solves it for the entering variable and
  // substitutes that everywhere.
  void pivot(std::size_t row, std::size_t enter) {
    double* line = &at(row, 0);
    const double factor = line[enter];
    touched_.clear();
    for (std::size_t j = 0; j < columns_; ++j) {
      if (j == enter || line[j] == 0) continue;
      line[j] /= -factor;
      if (std::abs(line[j]) < 1e-13) {
        line[j] = 0;
      } else {
        touched_.push_back(j);
      }
    }
    line[enter] = 1 / factor;
    value_[row] /= -factor;
    for (std::size_t i = 0; i < rows_; ++i) {
      if (i == row) continue;
      double* other = &at(i, 0);
      const double weight = other[enter];
      if (weight == 0) continue;
      for (const std::size_t j : touched_) other[j] += weight * line[j];
      other[enter] = weight * line[enter];
      value_[i] += weight * value_[row];
    }
    const double price = cost_[enter];
    for (const std::size_t j : touched_) cost_[j] += price * line[j];
    cost_[enter] = price * line[enter];
    std::swap(basic_[row], outside_[enter]);
  }

  std::size_t rows_;
  std::size_t columns_;
  std::vector<double> cells_;
  std::vector<double> value_;         // of the basic variables
  std::vector<double> cost_;          // reduced costs of the variables outside the basis
  std::vector<std::size_t> basic_;    // variable, or columns_ + row for its slack
  std::vector<std::size_t> outside_;  // variable, or columns_ + row for its slack
  std::vector<std::size_t> touched_;
  double largest_ = 0;  // largest cost of the model
  bool infeasible_ = false;
};

}  // namespace

LpResult run_dense_simplex(const milp::Model& model, const LpBasis& start, Budget& budget) {
  if (!is_covering(model)) return {.detail = "not a covering model"};
  Tableau tableau(model);
  if (!start.variables.empty() && !tableau.adopt(start)) tableau = Tableau(model);
  LpResult result;
  for (std::size_t pivots = 0; tableau.step(); ++pivots) {
    if (pivots % kAskEvery != 0) continue;
    const StopReason stop = budget.stop_reason();
    if (stop == StopReason::time_limit || stop == StopReason::interrupted) {
      return {.limit = stop, .detail = "stopped at a limit"};
    }
    if (pivots > kPivotsPerRow * tableau.rows()) return {.detail = "too many pivots"};
  }
  if (tableau.infeasible()) return {.detail = "infeasible"};
  tableau.read(result);
  result.optimal = true;
  result.objective = model.objective(result.values);
  return result;
}

}  // namespace stowage
