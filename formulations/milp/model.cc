#include "formulations/milp/model.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace stowage::milp {

std::vector<Term> summed_terms(std::vector<Term> terms) {
  std::stable_sort(terms.begin(), terms.end(),
                   [](const Term& a, const Term& b) { return a.variable < b.variable; });
  std::vector<Term> out;
  for (std::size_t k = 0; k < terms.size();) {
    const int variable = terms[k].variable;
    long double sum = 0;
    double largest = 0;
    for (; k < terms.size() && terms[k].variable == variable; ++k) {
      sum += terms[k].coefficient;
      largest = std::max(largest, std::fabs(terms[k].coefficient));
    }
    if (std::fabs(sum) > 4e-16 * largest) out.push_back({variable, static_cast<double>(sum)});
  }
  return out;
}

int Model::add_variable(Variable variable) {
  variables_.push_back(std::move(variable));
  return static_cast<int>(variables_.size()) - 1;
}

int Model::add_row(Row row) {
  for ([[maybe_unused]] const Term& term : row.terms) {
    assert(term.variable >= 0 && static_cast<std::size_t>(term.variable) < variables_.size());
  }
  rows_.push_back(std::move(row));
  return static_cast<int>(rows_.size()) - 1;
}

void Model::add_term(int row, Term term) {
  assert(row >= 0 && static_cast<std::size_t>(row) < rows_.size());
  assert(term.variable >= 0 && static_cast<std::size_t>(term.variable) < variables_.size());
  rows_[static_cast<std::size_t>(row)].terms.push_back(term);
}

double Model::objective(const std::vector<double>& values) const {
  assert(values.size() == variables_.size());
  long double sum = offset_;
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    sum += static_cast<long double>(variables_[j].objective) * values[j];
  }
  return static_cast<double>(sum);
}

double Model::violation(const std::vector<double>& values) const {
  assert(values.size() == variables_.size());
  long double worst = 0;
  // The comparisons treat a NaN in `values` as a violation.
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    const Variable& variable = variables_[j];
    const long double x = values[j];
    if (!std::isfinite(values[j])) return kInfinity;
    worst = std::max({worst, variable.lower - x, x - variable.upper});
    if (variable.integer) worst = std::max(worst, std::fabs(x - std::round(x)));
  }
  for (const Row& row : rows_) {
    long double activity = 0;
    for (const Term& term : row.terms) {
      activity += static_cast<long double>(term.coefficient) *
                  values[static_cast<std::size_t>(term.variable)];
    }
    if (!std::isfinite(activity)) return kInfinity;
    if (row.lower > -kInfinity) {
      worst = std::max(worst, (row.lower - activity) / std::max(1.0, std::fabs(row.lower)));
    }
    if (row.upper < kInfinity) {
      worst = std::max(worst, (activity - row.upper) / std::max(1.0, std::fabs(row.upper)));
    }
  }
  return static_cast<double>(worst);
}

}  // namespace stowage::milp
