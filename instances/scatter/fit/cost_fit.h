// What a fit says: the cost, its coefficients, errors, outliers and the row to measure next.
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
  bool determined = true;  // false: the rows cannot tell it from the others
  // With a confidence of 95 %; infinite ends where nothing is known.
  double low = 0;
  double high = 0;
};

// |predicted / measured - 1| of rows that were not fitted: each is predicted by a fit of four
// fifths of the rows.
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

// The row to measure next: of those that are like the ones measured, it lowers the variances of the
// coefficients most, each relative to its coefficient (an A-optimal choice).
struct NextRow {
  int degree = 1;
  ExchangeKind exchange = ExchangeKind::none;
  std::int64_t sequences = 1;  // of equal length
  Tokens tokens = 0;           // of each
  std::string narrows;         // the coefficient whose interval gains most
  double by = 0;               // the share of the interval that goes
};

struct MemoryFit {
  std::int64_t rows = 0;  // that have a peak
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
  std::vector<std::size_t> outliers;     // rows that count nothing: too far from the others
  ErrorSummary held_out;                 // of all rows
  ErrorSummary without_outliers;         // of the others, as what follows
  std::vector<ErrorOfDegree> by_degree;  // ascending
  std::vector<ErrorOfLength> by_length;  // ascending
  std::vector<int> missing;              // allowed degrees without a row
  std::optional<NextRow> next;           // nothing where the rows leave nothing open
  std::optional<MemoryFit> memory;       // if enough rows have a peak
};

}  // namespace stowage
