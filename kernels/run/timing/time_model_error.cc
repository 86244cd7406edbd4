#include "kernels/run/timing/time_model_error.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace stowage::kernels {
namespace {

double mean(const std::vector<double>& errors) {
  return std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
}

}  // namespace

double p95(std::vector<double> errors) {
  const auto rank = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(errors.size())));
  std::ranges::sort(errors);
  return errors[rank - 1];
}

ProportionalFit proportional_fit(const std::vector<TimeSample>& samples) {
  ProportionalFit fit;
  double ratios = 0, squares = 0;
  int used = 0;
  const auto usable = [](const TimeSample& s) { return s.predicted_ms > 0 && s.measured_s > 0; };
  for (const TimeSample& s : samples) {
    if (!usable(s)) continue;
    const double ratio = s.predicted_ms / s.measured_s;
    ratios += ratio;
    squares += ratio * ratio;
    ++used;
  }
  if (used < 2) return fit;
  fit.available = true;
  fit.seconds_per_ms = ratios / squares;
  std::vector<double> errors;
  for (const TimeSample& s : samples) {
    if (usable(s))
      errors.push_back(std::abs(fit.seconds_per_ms * s.predicted_ms / s.measured_s - 1));
  }
  fit.mean_error = mean(errors);
  fit.p95_error = p95(errors);
  return fit;
}

ShapeFit shape_fit(const std::vector<TimeSample>& samples) {
  ShapeFit fit;
  std::vector<TimeSample> used;
  std::ranges::copy_if(samples, std::back_inserter(used),
                       [](const TimeSample& s) { return s.measured_s > 0; });
  fit.samples = static_cast<int>(used.size());
  if (used.empty()) return fit;
  // Every row is divided by its measurement, so that the right-hand side is 1 and the residual is
  // the relative error. Every column is divided by its norm, so that rank decisions do not depend
  // on units.
  Eigen::MatrixXd a(used.size(), 4);
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    const TimeSample& s = used[static_cast<std::size_t>(i)];
    a.row(i) << s.quadratic, s.linear, s.exchange, 1;
    a.row(i) /= s.measured_s;
  }
  Eigen::RowVector4d size = a.colwise().norm();
  for (Eigen::Index c = 0; c < 4; ++c) {
    if (size[c] == 0) size[c] = 1;
    a.col(c) /= size[c];
  }
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver;
  solver.setThreshold(1e-9);
  solver.compute(a);
  fit.terms = static_cast<int>(solver.rank());
  if (fit.samples < fit.terms + 2) return fit;
  fit.available = true;
  const Eigen::MatrixXd inverse = solver.pseudoInverse();
  const Eigen::Vector4d x = inverse * Eigen::VectorXd::Ones(a.rows());
  fit.quadratic_s = x[0] / size[0];
  fit.linear_s = x[1] / size[1];
  fit.exchange_s = x[2] / size[2];
  fit.fixed_s = x[3] / size[3];
  const Eigen::VectorXd residual = (a * x).array() - 1;
  std::vector<double> errors, held_out;
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    // If sample i is left out, its residual grows by this factor, so that no second fit is needed.
    const double leverage = a.row(i).dot(inverse.col(i));
    errors.push_back(std::abs(residual[i]));
    held_out.push_back(std::abs(residual[i]) / std::max(1 - leverage, 1e-9));
  }
  fit.mean_error = mean(errors);
  fit.p95_error = p95(errors);
  fit.held_out_mean_error = mean(held_out);
  fit.held_out_p95_error = p95(held_out);
  return fit;
}

}  // namespace stowage::kernels
