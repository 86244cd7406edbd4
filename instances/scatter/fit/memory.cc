#include "instances/scatter/fit/memory.h"

#include <algorithm>
#include <cmath>

#include "instances/numeric/numbers.h"
#include "instances/regression/interval.h"
#include "instances/regression/robust.h"
#include "instances/scatter/fit/errors.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

// The terms, in the order of the columns.
enum MemoryTerm : std::size_t { kStates, kActivation, kKeysValues, kSequence, kTermCount };
constexpr const char* kTermNames[] = {"states_mib", "activation_mib_per_token",
                                      "keys_values_mib_per_token", "sequence_mib"};

// Returns the design with these columns; each row of tokens and sequences once.
Design design_of(std::span<const TimedRow> rows, const ScatterInstance& like,
                 const std::vector<MemoryTerm>& columns) {
  Design design{.columns = columns.size()};
  for (const TimedRow& row : rows) {
    double tokens = 0;
    for (const Tokens length : row.lengths) {
      tokens += static_cast<double>(padded_length(like, length, {row.degree, row.exchange}));
    }
    const double share = tokens / row.degree;
    double held = 0;  // keys and values of other devices
    if (row.exchange == ExchangeKind::ring || row.exchange == ExchangeKind::two_level) held = share;
    if (row.exchange == ExchangeKind::all_gather) held = tokens;
    const double all[kTermCount] = {1, share, held, static_cast<double>(row.lengths.size())};
    for (const MemoryTerm column : columns) design.values.push_back(all[column]);
  }
  return design;
}

Regression regression_of(std::span<const TimedRow> rows, const ScatterInstance& like,
                         const std::vector<MemoryTerm>& columns) {
  std::vector<double> peaks;
  for (const TimedRow& row : rows) peaks.push_back(*row.mib);
  return regress(design_of(rows, like, columns), peaks);
}

void set(ModelMemory& model, MemoryTerm column, double value) {
  switch (column) {
    case kStates:
      model.states_mib = value;
      break;
    case kActivation:
      model.activation_mib_per_token = value;
      break;
    case kKeysValues:
      model.keys_values_mib_per_token = value;
      break;
    case kSequence:
      model.sequence_mib = value;
      break;
    case kTermCount:
      break;
  }
}

ErrorSummary held_out(std::span<const TimedRow> rows, const ScatterInstance& like,
                      const std::vector<MemoryTerm>& columns) {
  const std::vector<std::size_t> parts = parts_of(rows);
  std::vector<double> errors;
  for (std::size_t part = 0; part < kParts; ++part) {
    std::vector<TimedRow> fitted;
    std::vector<TimedRow> left;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      (parts[i] == part ? left : fitted).push_back(rows[i]);
    }
    if (left.empty() || fitted.size() < columns.size()) continue;
    const Regression found = regression_of(fitted, like, columns);
    const Design design = design_of(left, like, columns);
    for (std::size_t i = 0; i < left.size(); ++i) {
      errors.push_back(std::abs(design.times(i, found.coefficients) / *left[i].mib - 1));
    }
  }
  return summary_of(std::move(errors));
}

}  // namespace

std::optional<MemoryFit> fit_memory(std::span<const TimedRow> all, const ScatterInstance& like) {
  std::vector<TimedRow> rows;
  bool holds_others = false;
  for (const TimedRow& row : all) {
    if (!row.mib) continue;
    rows.push_back(row);
    holds_others = holds_others || row.exchange == ExchangeKind::ring ||
                   row.exchange == ExchangeKind::all_gather ||
                   row.exchange == ExchangeKind::two_level;
  }
  std::vector<MemoryTerm> columns = {kStates, kActivation};
  if (holds_others) columns.push_back(kKeysValues);
  if (rows.size() < columns.size() + 2) return std::nullopt;
  Regression found = regression_of(rows, like, columns);
  if (rows.size() >= columns.size() + 3) {
    columns.push_back(kSequence);
    Regression with = regression_of(rows, like, columns);
    if (with.determined.back() && interval95(with, columns.size() - 1).low > 0) {
      found = std::move(with);
    } else {
      columns.pop_back();
    }
  }
  MemoryFit fit{.rows = std::ssize(rows)};
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Interval likely = interval95(found, c);
    fit.coefficients.push_back({.name = kTermNames[columns[c]],
                                .value = found.coefficients[c],
                                .determined = found.determined[c],
                                .low = likely.low,
                                .high = likely.high});
    set(fit.model, columns[c], found.coefficients[c]);
  }
  fit.held_out = held_out(rows, like, columns);
  return fit;
}

}  // namespace stowage
