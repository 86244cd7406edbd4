// The result of a fit: the cost, its coefficients, errors, outliers and the row to measure next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/scatter/instance.h"

namespace stowage {

struct Coefficient {
  std::string name;  // as in the document: "all_to_all.mib_per_ms.4"
  double value = 0;
  bool determined = true;  // false: the rows cannot separate it from the others
  // The interval with a confidence of 95 %; its ends are infinite if nothing is known.
  double low = 0;
  double high = 0;
};

// The errors |predicted / measured - 1| of held-out rows: each is predicted by a fit of four fifths
// of the rows.
struct ErrorSummary {
  std::int64_t rows = 0;
  double median = 0;
  double mean = 0;
  double p95 = 0;
};

struct ErrorOfDegree {
  int degree = 0;
  ErrorSummary error;
};

// Rows whose longest sequence has from `shortest` to `longest` tokens.
struct ErrorOfLength {
  Tokens shortest = 0;
  Tokens longest = 0;
  ErrorSummary error;
};

// The row to measure next. Of all rows similar to the measured ones, it lowers the variances of the
// coefficients most, each relative to its coefficient (an A-optimal choice).
struct NextRow {
  int degree = 1;
  ExchangeKind exchange = ExchangeKind::none;
  std::int64_t sequences = 1;  // of equal length
  Tokens tokens = 0;           // of each
  std::string narrows;         // the coefficient whose interval shrinks most
  double by = 0;               // the share by which the interval shrinks
};

struct MemoryFit {
  std::int64_t rows = 0;  // rows with a peak
  ModelMemory model;      // states_mib, activation_mib_per_token, sequence_mib, keys and values
  std::vector<Coefficient> coefficients;
  ErrorSummary held_out;
};

struct CostFit {
  ScatterCost cost;
  std::vector<Coefficient> coefficients;
  double noise = 0;                      // standard deviation of a row's relative error
  std::vector<double> predicted_ms;      // by row
  std::vector<double> held_out_ms;       // by row, from a fit without it
  std::vector<std::size_t> outliers;     // rows without influence: too far from the others
  ErrorSummary held_out;                 // of all rows
  ErrorSummary without_outliers;         // of the other rows, as are the next two
  std::vector<ErrorOfDegree> by_degree;  // ascending
  std::vector<ErrorOfLength> by_length;  // ascending
  std::vector<int> missing;              // allowed degrees without a row
  std::optional<NextRow> next;           // no value if no row would narrow a coefficient
  std::optional<MemoryFit> memory;       // if enough rows have a peak
};

}  // namespace stowage
