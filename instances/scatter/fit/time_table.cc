#include "instances/scatter/fit/time_table.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/regression/robust.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/fit/errors.h"
#include "instances/scatter/fit/json/check.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

// Most pieces of each sum: 1, 2, 4 and 8 are tried.
constexpr std::size_t kMaxPieces = 8;
constexpr std::size_t kRowsOfAPiece = 6;  // least number, for each of the two sums
constexpr std::size_t kFewestRows = 4;    // one more than the coefficients of one piece each

struct Point {
  double tokens = 0;
  double squares = 0;
};

Point point_of(const ScatterInstance& like, const TimedRow& row) {
  Point point;
  for (const Tokens length : row.lengths) {
    const auto padded =
        static_cast<double>(padded_length(like, length, {row.degree, row.exchange}));
    point.tokens += padded;
    point.squares += padded * padded;
  }
  return point;
}

// Returns the beginnings of the pieces of a sum: 0 and quantiles, each above the one before.
std::vector<double> beginnings(std::vector<double> values, std::size_t pieces) {
  std::ranges::sort(values);
  std::vector<double> starts = {0};
  for (std::size_t k = 1; k < pieces; ++k) {
    const double start = values[k * values.size() / pieces];
    if (start > starts.back()) starts.push_back(start);
  }
  return starts;
}

// Appends the part of the value that lies in each piece.
void add_pieces(const std::vector<double>& starts, double value, std::vector<double>& shares) {
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const double end = k + 1 < starts.size() ? starts[k + 1] : kInfinity;
    shares.push_back(std::clamp(value - starts[k], 0.0, end - starts[k]));
  }
}

// The piecewise linear times of one degree.
class Pieces {
 public:
  Pieces(const std::vector<Point>& points, std::size_t pieces) {
    std::vector<double> tokens;
    std::vector<double> squares;
    for (const Point& point : points) {
      tokens.push_back(point.tokens);
      squares.push_back(point.squares);
    }
    tokens_ = beginnings(std::move(tokens), pieces);
    squares_ = beginnings(std::move(squares), pieces);
  }

  std::size_t columns() const { return 1 + tokens_.size() + squares_.size(); }

  void fit(const std::vector<Point>& points, const std::vector<double>& ms) {
    Design design{.columns = columns()};
    for (const Point& point : points) {
      const std::vector<double> row = row_of(point);
      design.values.insert(design.values.end(), row.begin(), row.end());
    }
    coefficients_ = regress(design, ms).coefficients;
  }

  double at(const Point& point) const {
    const std::vector<double> row = row_of(point);
    double ms = 0;
    for (std::size_t c = 0; c < row.size(); ++c) ms += row[c] * coefficients_[c];
    return ms;
  }

  // Returns a grid with entries where pieces begin, and one at the end of each sum.
  TimeGrid grid(const Point& end) const {
    TimeGrid made{.tokens = with_end(tokens_, end.tokens),
                  .squares = with_end(squares_, end.squares)};
    for (const double tokens : made.tokens) {
      for (const double squares : made.squares) made.ms.push_back(at({tokens, squares}));
    }
    return made;
  }

 private:
  std::vector<double> row_of(const Point& point) const {
    std::vector<double> row = {1};
    add_pieces(tokens_, point.tokens, row);
    add_pieces(squares_, point.squares, row);
    return row;
  }

  static std::vector<double> with_end(std::vector<double> starts, double end) {
    if (end > starts.back()) {
      starts.push_back(end);
    } else if (starts.size() == 1) {
      starts.push_back(1);
    }
    return starts;
  }

  std::vector<double> tokens_;
  std::vector<double> squares_;
  std::vector<double> coefficients_;
};

// The rows of one degree.
struct OfDegree {
  std::vector<std::size_t> rows;
  std::vector<Point> points;
  std::vector<double> ms;
};

// Returns the error of each row by a fit without its part; empty if a part leaves too few rows.
std::vector<double> held_out_errors(const OfDegree& own, const std::vector<std::size_t>& parts,
                                    std::size_t pieces) {
  std::vector<double> errors(own.rows.size(), 0);
  for (std::size_t part = 0; part < kParts; ++part) {
    OfDegree fitted;
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < own.rows.size(); ++i) {
      if (parts[own.rows[i]] == part) {
        left.push_back(i);
        continue;
      }
      fitted.points.push_back(own.points[i]);
      fitted.ms.push_back(own.ms[i]);
    }
    if (left.empty()) continue;
    Pieces its(fitted.points, pieces);
    if (fitted.ms.size() < its.columns()) return {};
    its.fit(fitted.points, fitted.ms);
    for (const std::size_t i : left) {
      errors[i] = std::abs(its.at(own.points[i]) / own.ms[i] - 1);
    }
  }
  return errors;
}

TableReach reach_of(const OfDegree& own) {
  TableReach reach;
  for (const Point& point : own.points) {
    reach.tokens = std::max(reach.tokens, point.tokens);
    reach.squares = std::max(reach.squares, point.squares);
  }
  return reach;
}

// Returns the reach of the rows, extended to the groups that `like` may hold.
Point end_of(const ScatterInstance& like, int degree, const TableReach& reach) {
  const Point end{reach.tokens, reach.tokens * reach.tokens};
  if (!(like.cluster.memory_mib > 0)) return end;
  const GroupForm form(degree);
  const Tokens most = group_capacity(like, form);
  const auto tokens = static_cast<double>(most);
  const auto longest = static_cast<double>(std::min(longest_in_group(like, form), most));
  return {std::max(end.tokens, tokens), std::max(reach.squares, tokens * longest)};
}

std::vector<InputError> check_degrees(const std::map<int, OfDegree>& degrees,
                                      const std::vector<TimedRow>& rows,
                                      const SamplePlaces& places) {
  ErrorList errors;
  for (const auto& [degree, own] : degrees) {
    for (const std::size_t row : own.rows) {
      const ExchangeKind kind = rows[row].exchange;
      if (kind == rows[own.rows.front()].exchange) continue;
      const auto name = [](ExchangeKind its) {
        return std::string(exchange_names()[static_cast<std::size_t>(its)]);
      };
      errors.add(code::kSampleExchange, places(row, "exchange"),
                 "must be " + name(rows[own.rows.front()].exchange) +
                     " as in the first row of degree " + std::to_string(degree) +
                     ", as a table has no kinds of exchange, is " + name(kind) +
                     ": keep the rows of one kind");
      break;
    }
    if (own.rows.size() >= kFewestRows) continue;
    errors.add(code::kFewSamples, "/samples",
               "must have at least " + std::to_string(kFewestRows) + " rows of degree " +
                   std::to_string(degree) + " for a table, has " + std::to_string(own.rows.size()) +
                   ": measure more");
  }
  if (errors.empty()) return {};
  return std::move(errors).take();
}

}  // namespace

Result<TableFit> fit_table(std::vector<TimedRow> rows, const ScatterInstance& like,
                           const SamplePlaces& places) {
  if (auto errors = check_samples(like, places, rows); !errors.empty()) return errors;
  std::map<int, OfDegree> degrees;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    OfDegree& own = degrees[rows[i].degree];
    own.rows.push_back(i);
    own.points.push_back(point_of(like, rows[i]));
    own.ms.push_back(rows[i].ms);
  }
  if (auto errors = check_degrees(degrees, rows, places); !errors.empty()) return errors;

  const std::vector<std::size_t> parts = parts_of(rows);
  TableFit fit;
  std::vector<double> errors;
  for (const auto& [degree, own] : degrees) {
    std::vector<double> best;
    std::size_t pieces = 1;
    for (std::size_t count = 1; count <= kMaxPieces; count *= 2) {
      if (count > 1 && count * kRowsOfAPiece > own.rows.size()) break;
      std::vector<double> its = held_out_errors(own, parts, count);
      if (its.empty()) break;
      if (!best.empty() && summary_of(its).mean >= summary_of(best).mean) continue;
      best = std::move(its);
      pieces = count;
    }
    errors.insert(errors.end(), best.begin(), best.end());
    Pieces its(own.points, pieces);
    its.fit(own.points, own.ms);
    fit.reach[degree] = reach_of(own);
    TimeGrid& grid = fit.table[degree] = its.grid(end_of(like, degree, fit.reach[degree]));
    if (grid.ms.back() <= static_cast<double>(kMaxExact)) continue;
    return std::vector<InputError>{
        {code::kTable, "/samples",
         "must lead to times of at most 2^53 ms, leads to more for the largest groups of degree " +
             std::to_string(degree) + ": measure larger rows, or set rules.max_tokens_per_rank"}};
  }
  fit.held_out = summary_of(std::move(errors));
  return fit;
}

}  // namespace stowage
