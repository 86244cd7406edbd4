#include "instances/scatter/fit/fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "instances/numeric/numbers.h"
#include "instances/regression/interval.h"
#include "instances/regression/robust.h"
#include "instances/scatter/fit/errors.h"
#include "instances/scatter/fit/json/check.h"
#include "instances/scatter/fit/memory.h"
#include "instances/scatter/fit/next_row.h"
#include "instances/scatter/fit/split.h"
#include "instances/scatter/fit/terms.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

std::vector<std::size_t> all_of(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// Rows with a structure of the cost.
class Model {
 public:
  Model(const ScatterInstance& like, const std::vector<TimedRow>& rows, const ExtraTerms& extra)
      : rows_(rows), terms_(like, rows, extra) {}

  const Terms& terms() const { return terms_; }

  Regression fit(const std::vector<std::size_t>& some,
                 const std::vector<double>& start = {}) const {
    std::vector<double> measured;
    measured.reserve(some.size());
    for (const std::size_t row : some) measured.push_back(rows_[row].ms);
    return regress(
        [&](const std::vector<double>& coefficients) { return terms_.design(some, coefficients); },
        measured, start);
  }

  Regression fit_all(const std::vector<double>& start = {}) const {
    return fit(all_of(rows_.size()), start);
  }

  std::vector<double> predicted(const std::vector<double>& coefficients,
                                const std::vector<std::size_t>& some) const {
    const Design design = terms_.design(some, coefficients);
    std::vector<double> ms(some.size());
    for (std::size_t i = 0; i < some.size(); ++i) ms[i] = design.times(i, coefficients);
    return ms;
  }

 private:
  const std::vector<TimedRow>& rows_;
  Terms terms_;
};

// Returns the sum of squares of relative errors, each at most `most`.
double squares_of(const Regression& found, const std::vector<TimedRow>& rows, double most) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double off = std::min(std::abs(rows[i].ms / found.fitted[i] - 1), most);
    sum += off * off;
  }
  return sum;
}

// The share of an exchange that hides, and its interval with a confidence of 95 %.
struct Overlap {
  double value = 0;
  double low = 0;
  double high = 1;
};

// Tries every step of 0.04, and finer steps near the best. Returns 0 if that explains the rows
// equally well.
Overlap fit_overlap(const ScatterInstance& like, const std::vector<TimedRow>& rows,
                    ExtraTerms extra) {
  constexpr int kSteps = 25;
  constexpr double kFar = 4.685;  // standard deviations
  std::vector<Regression> found;
  double noise = kInfinity;
  for (int step = 0; step <= kSteps; ++step) {
    const std::vector<double> start = step == 0 ? std::vector<double>() : found.back().coefficients;
    extra.overlap = 1.0 * step / kSteps;
    found.push_back(Model(like, rows, extra).fit_all(start));
    noise = std::min(noise, found.back().noise);
  }
  std::vector<double> squares;
  for (const Regression& each : found) squares.push_back(squares_of(each, rows, kFar * noise));
  const auto best = std::ranges::min_element(squares) - squares.begin();
  const double t = student975(found[at(best)].freedom - 1);
  const double allowed =
      squares[at(best)] * (1 + t * t / std::max(found[at(best)].freedom - 1, 1.0));
  Overlap overlap;
  overlap.low = 1;
  overlap.high = 0;
  for (int step = 0; step <= kSteps; ++step) {
    if (squares[at(step)] > allowed) continue;
    overlap.low = std::min(overlap.low, 1.0 * step / kSteps);
    overlap.high = std::max(overlap.high, 1.0 * step / kSteps);
  }
  if (overlap.low == 0) return overlap;
  // A ternary search between the neighbours of the best step.
  double low = std::max(0.0, 1.0 * static_cast<double>(best - 1) / kSteps);
  double high = std::min(1.0, 1.0 * static_cast<double>(best + 1) / kSteps);
  for (int step = 0; step < 12; ++step) {
    const double a = low + (high - low) / 3;
    const double b = high - (high - low) / 3;
    const auto squares_at = [&](double value) {
      extra.overlap = value;
      return squares_of(Model(like, rows, extra).fit_all(found[at(best)].coefficients), rows,
                        kFar * noise);
    };
    if (squares_at(a) < squares_at(b)) {
      high = b;
    } else {
      low = a;
    }
  }
  overlap.value = (low + high) / 2;
  return overlap;
}

Coefficient coefficient_of(const CostTerm& term, const Regression& found, std::size_t column) {
  const double value = found.coefficients[column];
  const Interval likely = interval95(found, column);
  Coefficient made{.name = term.name(),
                   .value = value,
                   .determined = found.determined[column],
                   .low = likely.low,
                   .high = likely.high};
  if (term.inverse()) {
    made.value = value > 0 ? std::min(1 / value, kFreeMibPerMs) : kFreeMibPerMs;
    made.low = likely.high > 0 ? 1 / likely.high : kFreeMibPerMs;
    made.high = likely.low > 0 ? 1 / likely.low : kInfinity;
  }
  return made;
}

bool can_hide(const ScatterInstance& like, const std::vector<TimedRow>& rows) {
  return like.cost.exchange && std::ranges::any_of(rows, [](const TimedRow& row) {
           return row.exchange == ExchangeKind::all_to_all ||
                  row.exchange == ExchangeKind::all_gather;
         });
}

// Returns the prediction of each row by a fit without its part.
std::vector<double> held_out_ms(const Model& model, const std::vector<TimedRow>& rows) {
  const std::vector<std::size_t> parts = parts_of(rows);
  std::vector<double> ms(rows.size(), 0);
  for (std::size_t part = 0; part < kParts; ++part) {
    std::vector<std::size_t> fitted;
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      (parts[i] == part ? left : fitted).push_back(i);
    }
    if (left.empty() || fitted.empty()) continue;
    const std::vector<double> its = model.predicted(model.fit(fitted).coefficients, left);
    for (std::size_t k = 0; k < left.size(); ++k) ms[left[k]] = its[k];
  }
  return ms;
}

void summarise(const std::vector<TimedRow>& rows, const Regression& found, CostFit& fit) {
  std::vector<double> errors;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    errors.push_back(std::abs(fit.held_out_ms[i] / rows[i].ms - 1));
    if (found.weights[i] > 0) {
      kept.push_back(i);
    } else {
      fit.outliers.push_back(i);
    }
  }
  std::vector<double> of_kept;
  for (const std::size_t i : kept) of_kept.push_back(errors[i]);
  fit.held_out = summary_of(errors);
  fit.without_outliers = summary_of(std::move(of_kept));
  fit.by_degree = errors_by_degree(rows, kept, errors);
  fit.by_length = errors_by_length(rows, kept, errors);
}

// Returns whether the coefficient of a term is above 0 with confidence. With as few rows as
// coefficients none is.
bool shows(CostTerm::Kind kind, const ScatterInstance& like, const std::vector<TimedRow>& rows,
           const ExtraTerms& extra) {
  const Model with(like, rows, extra);
  if (with.terms().terms().size() >= rows.size()) return false;
  const Regression found = with.fit_all();
  for (std::size_t t = 0; t < with.terms().terms().size(); ++t) {
    if (with.terms().terms()[t].kind != kind) continue;
    return found.determined[t] && interval95(found, t).low > 0;
  }
  return false;
}

}  // namespace

ScatterInstance structure_of(const std::vector<TimedRow>& rows, Mib mib_per_token) {
  std::set<int> degrees = {1};
  for (const TimedRow& row : rows) degrees.insert(row.degree);
  ScatterInstance like{.model = {.activation_mib_per_token = 1}};
  like.cluster.degrees.assign(degrees.begin(), degrees.end());
  like.cluster.devices = *degrees.rbegin();
  like.cluster.aligned = false;
  like.cost.all_to_all.mib_per_token = mib_per_token;
  return like;
}

Result<CostFit> fit_cost(std::vector<TimedRow> rows, const ScatterInstance& like,
                         const FitOptions& options) {
  if (auto errors = check_samples(like, options.places, rows); !errors.empty()) return errors;

  Overlap overlap;
  ExtraTerms extra{.per_sequence = options.per_sequence,
                   .split = options.split && like.cost.exchange.has_value()};
  // With fewer rows than coefficients none is determined.
  if (Terms(like, rows, extra).terms().size() >= rows.size()) extra.split = false;
  const bool hides = options.overlap && can_hide(like, rows);
  if (hides) overlap = fit_overlap(like, rows, extra);
  extra.overlap = overlap.value;
  extra.split = extra.split && shows(CostTerm::Kind::split, like, rows, extra);
  extra.per_sequence =
      extra.per_sequence && shows(CostTerm::Kind::sequence_fixed, like, rows, extra);
  const Model model(like, rows, extra);
  Regression found = model.fit_all();
  const std::vector<std::string> undetermined =
      split_undetermined(model.terms(), rows, like.cost, found);
  const std::vector<CostTerm>& terms = model.terms().terms();

  CostFit fit{.cost = model.terms().cost(found.coefficients),
              .noise = found.noise,
              .predicted_ms = found.fitted,
              .held_out_ms = held_out_ms(model, rows)};
  fit.cost.undetermined = undetermined;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    fit.coefficients.push_back(coefficient_of(terms[t], found, t));
  }
  if (hides) {
    fit.coefficients.push_back({.name = "exchange.overlap",
                                .value = overlap.value,
                                .low = overlap.low,
                                .high = overlap.high});
  }
  summarise(rows, found, fit);
  for (const int degree : allowed_degrees(like)) {
    if (!model.terms().knows(degree)) fit.missing.push_back(degree);
  }
  fit.next = next_row(rows, like, model.terms(), found);
  fit.memory = fit_memory(rows, like);
  return fit;
}

}  // namespace stowage
