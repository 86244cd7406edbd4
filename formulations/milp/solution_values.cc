#include "formulations/milp/solution_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "formulations/milp/column_names.h"
#include "formulations/milp/export_text.h"
#include "formulations/milp/write_lp.h"
#include "formulations/milp/write_mps.h"
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

// Returns the file with names in place of the numbers of columns. E424 for a number that no column
// has, and for an offset other than 1: then the file numbers other columns.
Result<SolutionFile> with_names(const std::vector<std::string>& columns, const std::string& offset,
                                const SolutionFile& file) {
  SolutionFile named = file;
  named.by_number = false;
  for (SolutionFile::Value& value : named.values) {
    const auto refuse = [&](const std::string& message) {
      return InputError{kSolutionColumn, file.name + ':' + std::to_string(value.line), message};
    };
    std::size_t number = 0;
    const char* const last = value.column.data() + value.column.size();
    const auto [end, problem] = std::from_chars(value.column.data(), last, number);
    if (problem != std::errc() || end != last || number == 0 || number > columns.size()) {
      return refuse("must be the number of a column of the model, from 1 to " +
                    std::to_string(columns.size()) + ", is \"" + value.column + "\"");
    }
    value.column = columns[number - 1];
    if (value.column == offset && !is_within(value.value, 1, 1, 1)) {
      return refuse("must be 1, the value of " + offset + ", is " + number_text(value.value));
    }
  }
  return named;
}

Result<std::vector<double>> named_values(const Model& model, const SolutionFile& file) {
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
                 names.variables[j] + " must be a whole number, is " + number_text(values[j]) +
                     file.remedy);
      continue;
    }
    values[j] = whole;
    if (!is_within(values[j], variable.lower, variable.upper, scale)) {
      errors.add(kSolutionValue, file.name,
                 names.variables[j] + " must be from " + number_text(variable.lower) + " to " +
                     (variable.upper < kInfinity ? number_text(variable.upper) : "infinity") +
                     ", is " + number_text(values[j]) + file.remedy);
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
                                      : "at most " + number_text(row.upper)) +
                     file.remedy);
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return values;
}

}  // namespace

Result<std::vector<double>> values_of(const Model& model, const SolutionFile& file) {
  if (!file.by_number) return named_values(model, file);
  // The file does not tell which of the two it numbers. The checks of named_values() do, and the
  // plan of the values is verified.
  const std::string offset = column_names(model).offset;
  std::optional<Result<std::vector<double>>> refused;
  for (const std::vector<std::string>& columns : {columns_of_lp(model), columns_of_mps(model)}) {
    const Result<SolutionFile> named = with_names(columns, offset, file);
    Result<std::vector<double>> values =
        named ? named_values(model, *named) : Result<std::vector<double>>(named.errors().front());
    if (values) return values;
    if (!refused) refused = std::move(values);
  }
  return *std::move(refused);
}

}  // namespace stowage::milp
