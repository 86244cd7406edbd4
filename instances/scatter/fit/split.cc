#include "instances/scatter/fit/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "instances/model/machine.h"
#include "instances/model/transformer.h"
#include "instances/scatter/cost/machine_costs.h"

namespace stowage {
namespace {

constexpr double kSamePrediction = 1e-6;  // relative difference of predictions that count as equal
constexpr double kUnseen = 1e-9;          // of a row's time: smaller times cannot be split

bool can_be_split(CostTerm::Kind kind) {
  return kind == CostTerm::Kind::quadratic || kind == CostTerm::Kind::linear ||
         kind == CostTerm::Kind::fixed;
}

// Returns ratios of quadratic, linear and fixed time, all above 0.
ScatterCost ratios_of(const ScatterCost& like) {
  if (like.table.empty() && like.quadratic_ms > 0 && like.linear_ms > 0) return like;
  return machine_cost(*transformer_shape("llama-7b"), *machine_named("a100-80"), 1);
}

}  // namespace

std::vector<std::string> split_undetermined(const Terms& terms, const std::vector<TimedRow>& rows,
                                            const ScatterCost& like, Regression& found) {
  std::vector<std::size_t> columns;
  std::vector<std::string> keys;
  for (std::size_t t = 0; t < terms.terms().size(); ++t) {
    if (found.determined[t] || !can_be_split(terms.terms()[t].kind)) continue;
    columns.push_back(t);
    keys.push_back(terms.terms()[t].name());
  }
  if (columns.size() < 2) return keys;
  std::vector<std::size_t> all(rows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Design design = terms.design(all, found.coefficients);
  std::vector<double> wanted = found.coefficients;
  const std::vector<double> ratios = terms.coefficients(ratios_of(like));
  // Finds the multiple of the ratios that takes as long as the coefficients, in the rows that
  // count.
  double products = 0;
  double squares = 0;
  const auto time_of = [&](std::size_t row, const std::vector<double>& coefficients) {
    std::vector<double> only(coefficients.size(), 0);
    for (const std::size_t t : columns) only[t] = coefficients[t];
    return design.times(row, only);
  };
  for (const std::size_t row : all) {
    if (!(found.weights[row] > 0)) continue;
    const double its = time_of(row, found.coefficients) / found.fitted[row];
    const double ratio = time_of(row, ratios) / found.fitted[row];
    products += its * ratio;
    squares += ratio * ratio;
  }
  if (!(squares > kUnseen)) return keys;
  for (const std::size_t t : columns) wanted[t] = ratios[t] * products / squares;
  for (const std::size_t row : all) {
    if (!(found.weights[row] > 0)) continue;
    const double change = std::abs(design.times(row, wanted) - found.fitted[row]);
    if (change > kSamePrediction * found.fitted[row]) return keys;
  }
  found.coefficients = std::move(wanted);
  return keys;
}

}  // namespace stowage
