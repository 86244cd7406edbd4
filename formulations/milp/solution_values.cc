#include "formulations/milp/solution_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

#include "formulations/milp/column_names.h"
#include "formulations/milp/export_text.h"
#include "instances/json/errors.h"

namespace stowage::milp {
namespace {

// Tolerance for integrality, bounds and rows, relative to the largest number involved or 1. GLPK
// writes six digits. A plan made of the values is verified exactly later.
constexpr double kTolerance = 1e-5;

bool is_within(double value, double lower, double upper, double scale) {
  const double slack = kTolerance * std::max(1.0, scale);
  return value >= lower - slack && value <= upper + slack;
}

bool is_integer(const Model& model, const Row& row) {
  return std::ranges::all_of(row.terms, [&](const Term& term) {
    return model.variables()[static_cast<std::size_t>(term.variable)].integer;
  });
}

}  // namespace

Result<std::vector<double>> values_of(const Model& model, const SolutionFile& file) {
  const ColumnNames names = column_names(model);
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t j = 0; j < names.variables.size(); ++j) index.emplace(names.variables[j], j);
  const std::size_t offset = names.variables.size();
  index.emplace(names.offset, offset);
  std::vector<bool> seen(offset + 1);
  std::vector<double> values(offset + 1, 0.0);
  ErrorList errors;
  for (const SolutionFile::Value& value : file.values) {
    const std::string place = file.name + ':' + std::to_string(value.line);
    const auto found = index.find(value.column);
    if (found == index.end()) {
      errors.add(
          kSolutionColumn, place,
          "must be a column of the model, is \"" + value.column +
              (errors.empty() ? "\"; export and import need the same instance and flags" : "\""));
    } else if (seen[found->second]) {
      errors.add(kSolutionColumn, place, "must be given once, is \"" + value.column + "\" again");
    } else {
      seen[found->second] = true;
      values[found->second] = value.value;
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  values.resize(offset);
  for (std::size_t j = 0; j < values.size(); ++j) {
    const Variable& variable = model.variables()[j];
    const double whole = std::round(values[j]);
    if (!variable.integer) continue;
    const double scale = std::fabs(values[j]);
    if (!is_within(values[j], whole, whole, 1)) {
      errors.add(kSolutionValue, file.name,
                 names.variables[j] + " must be a whole number, is " + number_text(values[j]));
      continue;
    }
    values[j] = whole;
    if (!is_within(values[j], variable.lower, variable.upper, scale)) {
      errors.add(kSolutionValue, file.name,
                 names.variables[j] + " must be from " + number_text(variable.lower) + " to " +
                     (variable.upper < kInfinity ? number_text(variable.upper) : "infinity") +
                     ", is " + number_text(values[j]));
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  for (const Row& row : model.rows()) {
    if (!is_integer(model, row)) continue;
    double sum = 0;
    double scale = 0;
    for (const Term& term : row.terms) {
      const double part = term.coefficient * values[static_cast<std::size_t>(term.variable)];
      sum += part;
      scale = std::max(scale, std::fabs(part));
    }
    if (!is_within(sum, row.lower, row.upper, scale)) {
      errors.add(kSolutionValue, file.name,
                 "must keep row " + row.name + ", which is " + number_text(sum) + " and not " +
                     (sum < row.lower ? "at least " + number_text(row.lower)
                                      : "at most " + number_text(row.upper)));
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return values;
}

}  // namespace stowage::milp
