#include "instances/regression/robust.h"

#include <Eigen/QR>
#include <algorithm>
#include <cassert>
#include <cmath>

#include "instances/numeric/numbers.h"
#include "instances/regression/non_negative.h"

namespace stowage {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kTukey = 4.685;  // 95 % efficiency for normal errors
// The median of |x| for a standard normal x.
constexpr double kMedianOfNormal = 0.6745;
constexpr double kLeastNoise = 1e-10;  // smaller errors are rounding errors
constexpr double kDependent = 1e-6;    // a column of which others leave less is dependent
constexpr double kLeastFitted = 1e-3;  // errors are relative to at least this share of the measured
// Most steps of the start and of the main iteration.
constexpr int kAbsoluteSteps = 40;
constexpr int kSteps = 100;
// Steps with a new noise; later it is fixed, so that steps converge.
constexpr int kScaleSteps = 25;

double square(double value) { return value * value; }

class Fit {
 public:
  Fit(const DesignAt& design_at, const std::vector<double>& measured)
      : design_at_(design_at), measured_(measured) {}

  Regression run(const std::vector<double>& start) {
    found_.coefficients = start;
    if (start.empty()) {
      absolute();
    } else {
      design_ = design_at_(start);
    }
    leverages();
    bisquare();
    found_.fitted = fitted();
    errors();
    return std::move(found_);
  }

 private:
  std::size_t rows() const { return measured_.size(); }

  std::vector<double> fitted() const {
    std::vector<double> values(rows());
    for (std::size_t i = 0; i < rows(); ++i) values[i] = design_.times(i, found_.coefficients);
    return values;
  }

  // Returns the amount that the error of a row is relative to.
  double unit_of(std::size_t row, double value) const {
    return std::max(value, kLeastFitted * measured_[row]);
  }

  std::vector<double> relative_errors() const {
    std::vector<double> values = fitted();
    for (std::size_t i = 0; i < rows(); ++i) {
      values[i] = (measured_[i] - values[i]) / unit_of(i, values[i]);
    }
    return values;
  }

  // Solves least squares with each row times its factor, on the current pieces of the model.
  void solve(const std::vector<double>& factors) {
    Design scaled = design_;
    std::vector<double> right(rows());
    for (std::size_t i = 0; i < rows(); ++i) {
      right[i] = measured_[i] * factors[i];
      for (std::size_t c = 0; c < scaled.columns; ++c) {
        scaled.values[i * scaled.columns + c] *= factors[i];
      }
    }
    found_.coefficients = non_negative_least_squares(scaled, right);
  }

  // Computes the start. Errors are relative to the measurement, so that a measurement that is far
  // too long has an error of at most 1.
  void absolute() {
    std::vector<double> factors(rows());
    design_ = design_at_({});
    for (std::size_t i = 0; i < rows(); ++i) factors[i] = 1 / measured_[i];
    solve(factors);
    for (int step = 0; step < kAbsoluteSteps; ++step) {
      const std::vector<double> before = found_.coefficients;
      design_ = design_at_(before);
      std::vector<double> off(rows());
      for (std::size_t i = 0; i < rows(); ++i) {
        off[i] = std::abs(1 - design_.times(i, before) / measured_[i]);
      }
      std::vector<double> sorted = off;
      std::ranges::sort(sorted);
      const double least = std::max(0.01 * sorted[rows() / 2], kLeastNoise);
      for (std::size_t i = 0; i < rows(); ++i) {
        factors[i] = 1 / (measured_[i] * std::sqrt(std::max(off[i], least)));
      }
      solve(factors);
      if (close(before)) break;
    }
    design_ = design_at_(found_.coefficients);
  }

  bool close(const std::vector<double>& before) const {
    for (std::size_t c = 0; c < before.size(); ++c) {
      const double now = found_.coefficients[c];
      if (std::abs(now - before[c]) > 1e-9 * std::max(now, before[c])) return false;
    }
    return true;
  }

  Eigen::MatrixXd relative_design() const {
    const std::vector<double> values = fitted();
    Eigen::MatrixXd a =
        Eigen::Map<const Matrix>(design_.values.data(), static_cast<Eigen::Index>(rows()),
                                 static_cast<Eigen::Index>(design_.columns));
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      a.row(i) /= unit_of(row, values[row]);
    }
    return a;
  }

  // Computes the leverages: the share by which a row pulls its own fit towards itself. The row's
  // error appears too small by the factor sqrt(1 - leverage).
  void leverages() {
    Eigen::MatrixXd a = relative_design();
    for (Eigen::Index c = 0; c < a.cols(); ++c) {
      const double size = a.col(c).norm();
      if (size > 0) a.col(c) /= size;
    }
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
    qr.setThreshold(kDependent);
    qr.compute(a);
    Eigen::MatrixXd q = Eigen::MatrixXd::Identity(a.rows(), qr.rank());
    q.applyOnTheLeft(qr.householderQ());
    shown_.resize(rows());
    for (std::size_t i = 0; i < rows(); ++i) {
      const double leverage = q.row(static_cast<Eigen::Index>(i)).squaredNorm();
      shown_[i] = std::sqrt(std::max(1 - leverage, 1e-4));
    }
    rank_ = static_cast<std::size_t>(qr.rank());
  }

  // Returns the median of the absolute errors, without as many of the smallest as there are
  // coefficients: these may be 0 because of the fit.
  double noise_of(const std::vector<double>& errors) const {
    std::vector<double> sizes(errors.size());
    for (std::size_t i = 0; i < errors.size(); ++i) sizes[i] = std::abs(errors[i] / shown_[i]);
    std::ranges::sort(sizes);
    const std::size_t first = std::min(rank_ > 0 ? rank_ - 1 : 0, sizes.size() - 1);
    const std::size_t middle = first + (sizes.size() - first) / 2;
    return std::max(sizes[middle] / kMedianOfNormal, kLeastNoise);
  }

  void weigh(const std::vector<double>& errors) {
    found_.weights.resize(rows());
    for (std::size_t i = 0; i < rows(); ++i) {
      const double u = errors[i] / shown_[i] / (kTukey * found_.noise);
      found_.weights[i] = std::abs(u) < 1 ? square(1 - u * u) : 0;
    }
  }

  // Returns the loss that the weights minimise.
  double loss(const std::vector<double>& errors) const {
    double sum = 0;
    for (std::size_t i = 0; i < rows(); ++i) {
      const double u = std::min(std::abs(errors[i] / shown_[i] / (kTukey * found_.noise)), 1.0);
      sum += 1 - std::pow(1 - u * u, 3);
    }
    return sum;
  }

  void bisquare() {
    std::vector<double> best;
    double least = kInfinity;
    for (int step = 0; step < kSteps; ++step) {
      const std::vector<double> before = found_.coefficients;
      const std::vector<double> errors = relative_errors();
      if (step < kScaleSteps) found_.noise = noise_of(errors);
      weigh(errors);
      if (step >= kScaleSteps && loss(errors) < least) {
        least = loss(errors);
        best = before;
      }
      const std::vector<double> values = fitted();
      std::vector<double> factors(rows());
      for (std::size_t i = 0; i < rows(); ++i) {
        factors[i] = std::sqrt(found_.weights[i]) / unit_of(i, values[i]);
      }
      solve(factors);
      design_ = design_at_(found_.coefficients);
      if (close(before)) return;
    }
    // Reached if the pieces change at every step.
    found_.coefficients = best;
    design_ = design_at_(best);
    weigh(relative_errors());
  }

  // Finds the columns that are determined, and their standard errors.
  void errors() {
    const std::size_t columns = design_.columns;
    found_.determined.assign(columns, false);
    found_.standard_errors.assign(columns, kInfinity);
    Eigen::MatrixXd a = relative_design();
    std::size_t counted = 0;
    for (std::size_t i = 0; i < rows(); ++i) {
      if (found_.weights[i] > 0) {
        ++counted;
      } else {
        a.row(static_cast<Eigen::Index>(i)).setZero();
      }
    }
    std::vector<Eigen::Index> positive;
    Eigen::VectorXd size(a.cols());
    for (Eigen::Index c = 0; c < a.cols(); ++c) {
      size[c] = a.col(c).norm();
      if (size[c] > 0) a.col(c) /= size[c];
      if (found_.coefficients[static_cast<std::size_t>(c)] > 0) positive.push_back(c);
    }
    found_.freedom = static_cast<double>(counted) - static_cast<double>(positive.size());
    if (a.rows() > a.cols()) {  // a rotation keeps all lengths
      const Eigen::HouseholderQR<Eigen::MatrixXd> qr(a);
      a = qr.matrixQR().topRows(a.cols()).triangularView<Eigen::Upper>();
    }
    const double spread = spread_of(counted);
    for (Eigen::Index c = 0; c < a.cols(); ++c) {
      if (!(size[c] > 0) || left_of(a, c, others(c, a.cols())) < kDependent) continue;
      const auto column = static_cast<std::size_t>(c);
      found_.determined[column] = true;
      // Only coefficients above 0 count: those at 0 do not change the others.
      std::vector<Eigen::Index> beside = positive;
      std::erase(beside, c);
      found_.standard_errors[column] = spread / (left_of(a, c, beside) * size[c]);
    }
  }

  static std::vector<Eigen::Index> others(Eigen::Index column, Eigen::Index columns) {
    std::vector<Eigen::Index> all;
    for (Eigen::Index c = 0; c < columns; ++c) {
      if (c != column) all.push_back(c);
    }
    return all;
  }

  // Returns the length of the part of this column that the other columns do not make up.
  static double left_of(const Eigen::MatrixXd& a, Eigen::Index column,
                        const std::vector<Eigen::Index>& beside) {
    if (beside.empty()) return a.col(column).norm();
    Eigen::MatrixXd part(a.rows(), static_cast<Eigen::Index>(beside.size()));
    for (std::size_t k = 0; k < beside.size(); ++k) {
      part.col(static_cast<Eigen::Index>(k)) = a.col(beside[k]);
    }
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
    qr.setThreshold(kDependent);
    qr.compute(part);
    const Eigen::VectorXd left = qr.householderQ().transpose() * a.col(column);
    return left.tail(left.size() - qr.rank()).norm();
  }

  // Returns the standard deviation of an error as it enters the coefficients (Huber 1981, 7.6).
  double spread_of(std::size_t counted) const {
    if (found_.freedom < 1) return kInfinity;
    const std::vector<double> off = relative_errors();
    double squares = 0;
    double slopes = 0;
    double slopes_squared = 0;
    for (std::size_t i = 0; i < rows(); ++i) {
      if (!(found_.weights[i] > 0)) continue;
      const double u = square(off[i] / shown_[i] / (kTukey * found_.noise));
      squares += square(off[i] * found_.weights[i]);
      const double slope = (1 - u) * (1 - 5 * u);
      slopes += slope;
      slopes_squared += slope * slope;
    }
    if (slopes <= 0) return kInfinity;
    const auto count = static_cast<double>(counted);
    const double mean = slopes / count;
    const double variance = slopes_squared / count - mean * mean;
    const double few = 1 + (count - found_.freedom) / count * variance / (mean * mean);
    return few * std::sqrt(squares / found_.freedom) / mean;
  }

  const DesignAt& design_at_;
  const std::vector<double>& measured_;
  Design design_;
  Regression found_;
  std::vector<double> shown_;  // by row: sqrt(1 - leverage)
  std::size_t rank_ = 0;
};

}  // namespace

Regression regress(const DesignAt& design_at, const std::vector<double>& measured,
                   const std::vector<double>& start) {
  assert(!measured.empty());
  return Fit(design_at, measured).run(start);
}

Regression regress(const Design& design, const std::vector<double>& measured) {
  return regress([&design](const std::vector<double>&) { return design; }, measured);
}

}  // namespace stowage
