#include "instances/scatter/fit/refit.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "instances/json/errors.h"
#include "instances/numeric/numbers.h"
#include "instances/regression/median.h"
#include "instances/regression/non_negative.h"
#include "instances/scatter/fit/json/check.h"
#include "instances/scatter/fit/terms.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

// See instances/regression/robust.cc.
constexpr double kTukey = 4.685;
constexpr double kMedianOfNormal = 0.6745;
constexpr double kLeastNoise = 1e-3;  // clocks of training loops are less precise
// Move, as a share of a coefficient, that weighs as one deviation.
constexpr double kMove = 0.25;
constexpr double kLeastShareOfStep = 0.01;  // of a step: the size of a coefficient that was 0

class Drift {
 public:
  Drift(const ScatterInstance& old, const std::vector<TimedStep>& steps)
      : stages_(old.pipeline_stages), steps_(steps) {
    for (const TimedStep& step : steps) {
      std::vector<std::vector<std::size_t>> batches;
      for (const std::vector<TimedRow>& groups : step.micro_batches) {
        batches.emplace_back();
        for (const TimedRow& group : groups) {
          batches.back().push_back(rows_.size());
          rows_.push_back(group);
        }
      }
      places_.push_back(std::move(batches));
    }
    const ExtraTerms extra{.per_sequence = old.cost.sequence_fixed_ms > 0,
                           .split = old.cost.split_ms > 0,
                           .overlap = old.cost.exchange ? old.cost.exchange->overlap : 0};
    terms_.emplace(Terms(old, rows_of_all_degrees(old), extra), rows_);
    before_ = terms_->coefficients(old.cost);
  }

  Refit run() {
    constexpr int kSteps = 50;
    std::vector<double> x = before_;
    Refit refit;
    refit.old_mean_error = mean_error(errors(design(x), x));
    std::vector<double> ratios;
    const Design old_design = design(x);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      ratios.push_back(steps_[i].ms / std::max(old_design.times(i, x), 1e-300));
    }
    refit.factor = median(ratios);
    for (double& own : x) own *= refit.factor;
    const std::vector<double> centre = x;
    for (int step = 0; step < kSteps; ++step) {
      const Design now = design(x);
      const std::vector<double> off = errors(now, x);
      refit.noise =
          step == 0 ? noise_of(off) : noise_of(left_out(now, x, off, centre, refit.noise));
      if (step == 0) {
        // This is the standard error of a median.
        const double error = 1.2533 * refit.noise / std::sqrt(static_cast<double>(steps_.size()));
        refit.drifted = std::abs(refit.factor - 1) > 2 * error;
      }
      x = moved(now, x, off, centre, refit.noise);
    }
    refit.mean_error = mean_error(errors(design(x), x));
    refit.cost = terms_->cost(x);
    return refit;
  }

 private:
  // Adds rows so that every coefficient of the old cost has a term.
  std::vector<TimedRow> rows_of_all_degrees(const ScatterInstance& old) const {
    std::vector<TimedRow> rows = rows_;
    const auto add = [&](int degree, ExchangeKind kind) {
      rows.push_back({.degree = degree, .lengths = {1}, .ms = 1, .exchange = kind});
    };
    for (const auto& [degree, rate] : old.cost.all_to_all.mib_per_ms) {
      add(degree, ExchangeKind::none);
    }
    for (const auto& [degree, ms] : old.cost.all_to_all.latency_ms) {
      add(degree, ExchangeKind::none);
    }
    for (const GroupForm form : group_forms(old)) add(form.degree, form.exchange);
    return rows;
  }

  // Returns a row for each step: the sum of the slowest groups of its micro-batches, plus the
  // longest of them for every stage of the pipeline but one.
  Design design(const std::vector<double>& x) const {
    std::vector<std::size_t> every(rows_.size());
    std::iota(every.begin(), every.end(), std::size_t{0});
    const Design groups = terms_->design(every, x);
    Design made{.columns = groups.columns,
                .values = std::vector<double>(groups.columns * steps_.size(), 0)};
    for (std::size_t s = 0; s < places_.size(); ++s) {
      const auto add = [&](std::size_t row, double times) {
        for (std::size_t c = 0; c < groups.columns; ++c) {
          made.values[s * groups.columns + c] += times * groups.at(row, c);
        }
      };
      std::size_t longest = places_[s].front().front();
      for (const std::vector<std::size_t>& batch : places_[s]) {
        const std::size_t slowest = *std::ranges::max_element(
            batch, {}, [&](std::size_t row) { return groups.times(row, x); });
        if (groups.times(slowest, x) > groups.times(longest, x)) longest = slowest;
        add(slowest, 1);
      }
      if (stages_ > 1) add(longest, stages_ - 1);
    }
    return made;
  }

  // Returns the errors relative to the prediction.
  std::vector<double> errors(const Design& now, const std::vector<double>& x) const {
    std::vector<double> off;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      off.push_back((steps_[i].ms - now.times(i, x)) / fitted(now, x, i));
    }
    return off;
  }

  static double mean_error(const std::vector<double>& off) {
    double sum = 0;
    for (const double own : off) sum += std::abs(own);
    return sum / static_cast<double>(off.size());
  }

  static double noise_of(const std::vector<double>& off) {
    std::vector<double> sizes;
    for (const double own : off) sizes.push_back(std::abs(own));
    return std::max(median(std::move(sizes)) / kMedianOfNormal, kLeastNoise);
  }

  // Returns the share of the mean step that a coefficient of size 1 has.
  std::vector<double> shares_of(const Design& now, const std::vector<double>& x) const {
    std::vector<double> shares(now.columns, 0);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (std::size_t c = 0; c < now.columns; ++c) {
        shares[c] += now.at(i, c) / (fitted(now, x, i) * static_cast<double>(steps_.size()));
      }
    }
    return shares;
  }

  double fitted(const Design& now, const std::vector<double>& x, std::size_t step) const {
    return std::max(now.times(step, x), 1e-3 * steps_[step].ms);
  }

  // Returns, by coefficient, the move that weighs as much as an error of one deviation.
  std::vector<double> moves_of(const Design& now, const std::vector<double>& x,
                               const std::vector<double>& centre) const {
    const std::vector<double> shares = shares_of(now, x);
    std::vector<double> moves(now.columns);
    for (std::size_t c = 0; c < now.columns; ++c) {
      const double size = centre[c] > 0   ? centre[c]
                          : shares[c] > 0 ? kLeastShareOfStep / shares[c]
                                          : 1;
      moves[c] = kMove * size;
    }
    return moves;
  }

  static double weight(double off, double noise) {
    const double u = off / (kTukey * noise);
    return std::abs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
  }

  // Returns the errors of steps by a fit of the other steps, from the leverage of each: with few
  // steps a fit shows too little noise.
  std::vector<double> left_out(const Design& now, const std::vector<double>& x,
                               const std::vector<double>& off, const std::vector<double>& centre,
                               double noise) const {
    const std::vector<double> moves = moves_of(now, x, centre);
    const auto columns = static_cast<Eigen::Index>(now.columns);
    Eigen::MatrixXd rows(static_cast<Eigen::Index>(steps_.size()), columns);
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const auto step = static_cast<std::size_t>(i);
      const double factor = std::sqrt(weight(off[step], noise)) / (fitted(now, x, step) * noise);
      for (Eigen::Index c = 0; c < columns; ++c) {
        const auto column = static_cast<std::size_t>(c);
        rows(i, c) = factor * now.at(step, column) * moves[column];
      }
    }
    const Eigen::MatrixXd inverse =
        (rows.transpose() * rows + Eigen::MatrixXd::Identity(columns, columns)).inverse();
    std::vector<double> left(off);
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const double leverage = rows.row(i) * inverse * rows.row(i).transpose();
      left[static_cast<std::size_t>(i)] /= std::max(1 - leverage, 1e-3);
    }
    return left;
  }

  // Makes one step of reweighted least squares, with a row for each coefficient that holds it at
  // its centre.
  std::vector<double> moved(const Design& now, const std::vector<double>& x,
                            const std::vector<double>& off, const std::vector<double>& centre,
                            double noise) const {
    const std::vector<double> moves = moves_of(now, x, centre);
    Design all{.columns = now.columns};
    std::vector<double> right;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const double factor = std::sqrt(weight(off[i], noise)) / (fitted(now, x, i) * noise);
      for (std::size_t c = 0; c < now.columns; ++c) all.values.push_back(factor * now.at(i, c));
      right.push_back(factor * steps_[i].ms);
    }
    for (std::size_t c = 0; c < now.columns; ++c) {
      for (std::size_t k = 0; k < now.columns; ++k) {
        all.values.push_back(k == c ? 1 / moves[c] : 0);
      }
      right.push_back(centre[c] / moves[c]);
    }
    return non_negative_least_squares(all, right);
  }

  int stages_;
  const std::vector<TimedStep>& steps_;
  std::vector<TimedRow> rows_;                                 // of all groups
  std::vector<std::vector<std::vector<std::size_t>>> places_;  // by step and micro-batch
  std::optional<Terms> terms_;
  std::vector<double> before_;
};

}  // namespace

Result<Refit> refit_cost(const ScatterInstance& old, std::vector<TimedStep> measured) {
  ErrorList errors;
  if (!old.cost.table.empty()) {
    errors.add(
        code::kTable, "/cost/table",
        "must be a cost by formula, whose coefficients can drift, is a table: measure again");
    return std::move(errors).take();
  }
  if (measured.empty()) {
    errors.add(code::kFewSamples, "/measured", "must be at least one step, are 0");
  }
  for (std::size_t s = 0; s < measured.size(); ++s) {
    const auto place = [s](std::size_t, std::string_view member) {
      return "/measured/" + std::to_string(s) + '/' + std::string(member);
    };
    if (measured[s].micro_batches.empty()) {
      errors.add(code::kFewSamples, place(0, "micro_batches"), "must be at least one, are 0");
    }
    for (std::vector<TimedRow>& groups : measured[s].micro_batches) {
      if (groups.empty()) {
        errors.add(code::kFewSamples, place(0, "groups"), "must be at least one, are 0");
      }
      for (TimedRow& group : groups) {
        group.ms = measured[s].ms;
        group.mib.reset();
        check_sample(old, place, 0, group, errors);
      }
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return Drift(old, measured).run();
}

}  // namespace stowage
