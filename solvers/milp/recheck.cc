#include "solvers/milp/recheck.h"

#include <algorithm>
#include <cmath>

namespace stowage {

bool close(double a, double b, double tolerance) {
  return std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(a));
}

bool round_integers(const milp::Model& model, std::vector<double>& values) {
  for (std::size_t j = 0; j < values.size(); ++j) {
    const milp::Variable& variable = model.variables()[j];
    double& x = values[j];
    if (!std::isfinite(x)) return false;
    if (variable.integer) {
      const double whole = std::round(x);
      if (std::fabs(x - whole) > kIntegralityTolerance) return false;
      x = whole;
    } else if (x < variable.lower && x >= variable.lower - kFeasibilityTolerance) {
      x = variable.lower;
    } else if (x > variable.upper && x <= variable.upper + kFeasibilityTolerance) {
      x = variable.upper;
    }
    x += 0.0;  // no negative zero, since the same plan must print the same bytes
  }
  return true;
}

std::string worst_break(const milp::Model& model, const std::vector<double>& values) {
  std::string where = "nothing";
  double worst = 0;
  const auto consider = [&](const char* kind, const std::string& name, std::size_t index,
                            double by) {
    if (by <= worst) return;
    worst = by;
    where = std::string(kind) + ' ' + (name.empty() ? '#' + std::to_string(index) : name);
  };
  for (std::size_t j = 0; j < values.size(); ++j) {
    const milp::Variable& v = model.variables()[j];
    if (!std::isfinite(values[j])) {
      return "variable " + (v.name.empty() ? '#' + std::to_string(j) : v.name) + " is not finite";
    }
    consider("bound of", v.name, j, std::max(v.lower - values[j], values[j] - v.upper));
    if (v.integer) {
      consider("integrality of", v.name, j, std::fabs(values[j] - std::round(values[j])));
    }
  }
  for (std::size_t i = 0; i < model.rows().size(); ++i) {
    const milp::Row& row = model.rows()[i];
    milp::Model one;  // measured by the code that decides
    for (const milp::Term& term : row.terms) {
      const double x = values[static_cast<std::size_t>(term.variable)];
      one.add_variable({.lower = x, .upper = x});
    }
    std::vector<double> point;
    milp::Row copy{.lower = row.lower, .upper = row.upper};
    for (std::size_t k = 0; k < row.terms.size(); ++k) {
      point.push_back(one.variables()[k].lower);
      copy.terms.push_back({static_cast<int>(k), row.terms[k].coefficient});
    }
    one.add_row(std::move(copy));
    consider("row", row.name, i, one.violation(point));
  }
  return where + " by " + std::to_string(worst);
}

milp::Model with_integers_fixed(const milp::Model& model, const std::vector<double>& values) {
  milp::Model fixed;
  for (std::size_t j = 0; j < values.size(); ++j) {
    milp::Variable variable = model.variables()[j];
    if (variable.integer) variable.lower = variable.upper = values[j];
    variable.integer = false;
    fixed.add_variable(std::move(variable));
  }
  for (const milp::Row& row : model.rows()) fixed.add_row(row);
  fixed.set_offset(model.offset());
  return fixed;
}

milp::Model recession_model(const milp::Model& model) {
  milp::Model cone;
  for (const milp::Variable& v : model.variables()) {
    cone.add_variable({.name = v.name,
                       .lower = v.lower > -kInfinity ? 0.0 : -1.0,
                       .upper = v.upper < kInfinity ? 0.0 : 1.0,
                       .objective = v.objective});
  }
  for (const milp::Row& row : model.rows()) {
    cone.add_row({.name = row.name,
                  .lower = row.lower > -kInfinity ? 0 : -kInfinity,
                  .upper = row.upper < kInfinity ? 0 : kInfinity,
                  .terms = row.terms});
  }
  return cone;
}

}  // namespace stowage
