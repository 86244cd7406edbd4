#include "formulations/milp/scaling.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "instances/numeric/numbers.h"

namespace stowage::milp {
namespace {

constexpr int kPasses = 12;  // usually fewer passes suffice
// Binary exponent; other terms of an objective get as large.
constexpr int kLargestConstantExponent = 40;

bool inside(const Range& range) {
  return range.empty() || (range.min >= kSmallestCoefficient && range.max <= kLargestCoefficient);
}

// Binary exponent of the middle of the target interval, 10^1.5 or nearly 2^5. With this centre, the
// smallest number of the widest accepted spread is far above the solvers' absolute tolerances.
constexpr int kAim = 5;

// Returns the exponent that moves the geometric middle of `range` to the target.
int to_aim(const Range& range) {
  if (range.empty()) return 0;
  return kAim - static_cast<int>(std::lround((std::log2(range.min) + std::log2(range.max)) / 2));
}

void balance(const Model& model, Scaling& scaling) {
  std::vector<Range> columns(model.variables().size());
  for (int pass = 0; pass < kPasses; ++pass) {
    bool moved = false;
    columns.assign(columns.size(), Range{});
    for (std::size_t i = 0; i < model.rows().size(); ++i) {
      const std::vector<Term>& terms = model.rows()[i].terms;
      Range range;
      for (const Term& term : terms) {
        range.include(std::ldexp(term.coefficient, scaling.column[at(term.variable)]));
      }
      const int exponent = to_aim(range);
      moved = moved || exponent != scaling.row[i];
      scaling.row[i] = exponent;
      for (const Term& term : terms) {
        columns[at(term.variable)].include(std::ldexp(term.coefficient, exponent));
      }
    }
    for (std::size_t j = 0; j < columns.size(); ++j) {
      if (model.variables()[j].integer) continue;
      const int exponent = to_aim(columns[j]);
      moved = moved || exponent != scaling.column[j];
      scaling.column[j] = exponent;
    }
    if (!moved) break;
  }
}

// Returns the smaller of `exponent` and the exponent that scales the objective's constant down to a
// size that backends can handle.
int with_constant(int exponent, double offset) {
  if (offset == 0) return exponent;
  return std::min(exponent, kLargestConstantExponent - std::ilogb(offset) - 1);
}

std::string to_string(const Range& range) {
  if (range.empty()) return "none";
  char text[64];
  std::snprintf(text, sizeof text, "%.3g..%.3g", range.min, range.max);
  return text;
}

}  // namespace

void Range::include(double number) {
  const double magnitude = std::fabs(number);
  if (magnitude == 0 || !std::isfinite(magnitude)) return;
  min = empty() ? magnitude : std::min(min, magnitude);
  max = std::max(max, magnitude);
}

RangeReport coefficient_ranges(const Model& model) {
  RangeReport report;
  for (const Variable& variable : model.variables()) {
    report.objective.include(variable.objective);
    report.bounds.include(variable.lower);
    report.bounds.include(variable.upper);
  }
  for (const Row& row : model.rows()) {
    for (const Term& term : row.terms) report.rows.include(term.coefficient);
    report.bounds.include(row.lower);
    report.bounds.include(row.upper);
  }
  report.constant.include(model.offset());
  return report;
}

RangeVerdict judge(const RangeReport& report) {
  const double ratio = std::max(report.rows.ratio(), report.objective.ratio());
  if (ratio > kRefuseRatio) return RangeVerdict::refuse;
  if (report.constant.max > kRefuseConstantRatio * report.objective.min &&
      !report.objective.empty()) {
    return RangeVerdict::refuse;
  }
  return ratio > kWarnRatio || report.bounds.ratio() > kRefuseRatio ? RangeVerdict::warn
                                                                    : RangeVerdict::good;
}

std::string to_string(const RangeReport& report) {
  std::string text = "coef " + to_string(report.rows) + ", obj " + to_string(report.objective) +
                     ", bounds " + to_string(report.bounds);
  if (!report.constant.empty()) text += ", constant " + to_string(report.constant);
  return text;
}

Scaling find_scaling(const Model& model) {
  Scaling scaling{.row = std::vector<int>(model.rows().size()),
                  .column = std::vector<int>(model.variables().size())};
  if (!inside(coefficient_ranges(model).rows)) balance(model, scaling);
  Range objective;
  for (std::size_t j = 0; j < model.variables().size(); ++j) {
    objective.include(std::ldexp(model.variables()[j].objective, scaling.column[j]));
  }
  if (!inside(objective)) scaling.objective = to_aim(objective);
  scaling.objective = with_constant(scaling.objective, model.offset());
  return scaling;
}

Model apply(const Scaling& scaling, const Model& model) {
  Model scaled;
  for (std::size_t j = 0; j < model.variables().size(); ++j) {
    Variable variable = model.variables()[j];
    variable.lower = std::ldexp(variable.lower, -scaling.column[j]);
    variable.upper = std::ldexp(variable.upper, -scaling.column[j]);
    variable.objective = std::ldexp(variable.objective, scaling.column[j] + scaling.objective);
    scaled.add_variable(std::move(variable));
  }
  for (std::size_t i = 0; i < model.rows().size(); ++i) {
    Row row = model.rows()[i];
    row.lower = std::ldexp(row.lower, scaling.row[i]);
    row.upper = std::ldexp(row.upper, scaling.row[i]);
    for (Term& term : row.terms) {
      term.coefficient =
          std::ldexp(term.coefficient, scaling.row[i] + scaling.column[at(term.variable)]);
    }
    scaled.add_row(std::move(row));
  }
  scaled.set_offset(std::ldexp(model.offset(), scaling.objective));
  return scaled;
}

std::vector<double> scale(const Scaling& scaling, std::vector<double> values) {
  for (std::size_t j = 0; j < values.size(); ++j) {
    values[j] = std::ldexp(values[j], -scaling.column[j]);
  }
  return values;
}

std::vector<double> unscale(const Scaling& scaling, std::vector<double> values) {
  for (std::size_t j = 0; j < values.size(); ++j) {
    values[j] = std::ldexp(values[j], scaling.column[j]);
  }
  return values;
}

}  // namespace stowage::milp
