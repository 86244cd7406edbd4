#include "instances/regression/non_negative.h"

#include <Eigen/QR>
#include <algorithm>
#include <cassert>

namespace stowage {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kLeftOfColumn = 1e-9;  // a column of which others leave less is dependent
constexpr double kNoGain = 1e-12;       // smaller slopes are rounding errors

class ActiveSet {
 public:
  ActiveSet(Eigen::MatrixXd a, Eigen::VectorXd b)
      : a_(std::move(a)),
        b_(std::move(b)),
        x_(Eigen::VectorXd::Zero(a_.cols())),
        blocked_(static_cast<std::size_t>(a_.cols()), false) {}

  Eigen::VectorXd solve() {
    const Eigen::Index most = 10 * a_.cols() + 10;
    for (Eigen::Index step = 0; step < most; ++step) {
      const Eigen::Index entering = steepest();
      if (entering < 0) break;
      if (enter(entering)) {
        blocked_.assign(blocked_.size(), false);
      } else {
        blocked_[static_cast<std::size_t>(entering)] = true;
      }
    }
    return x_;
  }

 private:
  bool positive(Eigen::Index c) const { return std::ranges::find(used_, c) != used_.end(); }

  // Returns the column whose coefficient lowers the sum of squares most as it grows from 0, or -1.
  Eigen::Index steepest() const {
    const Eigen::VectorXd slope = a_.transpose() * (b_ - a_ * x_);
    Eigen::Index best = -1;
    double most = kNoGain * b_.norm();
    for (Eigen::Index c = 0; c < a_.cols(); ++c) {
      if (slope[c] <= most || positive(c) || blocked_[static_cast<std::size_t>(c)]) continue;
      most = slope[c];
      best = c;
    }
    return best;
  }

  // Computes the least squares of the positive columns only. Returns false if they depend on each
  // other.
  bool unconstrained(Eigen::VectorXd& found) const {
    Eigen::MatrixXd part(a_.rows(), static_cast<Eigen::Index>(used_.size()));
    for (std::size_t k = 0; k < used_.size(); ++k) {
      part.col(static_cast<Eigen::Index>(k)) = a_.col(used_[k]);
    }
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
    qr.setThreshold(kLeftOfColumn);
    qr.compute(part);
    if (qr.rank() < part.cols()) return false;
    found = qr.solve(b_);
    return true;
  }

  // Makes the column positive, and other columns 0 where that is better. Returns false, with
  // nothing changed, if the column lowers nothing.
  bool enter(Eigen::Index entering) {
    const std::vector<Eigen::Index> before = used_;
    used_.push_back(entering);
    Eigen::VectorXd found;
    if (!unconstrained(found) || found[found.size() - 1] <= 0) {
      used_ = before;
      return false;
    }
    while (found.size() > 0 && found.minCoeff() <= 0) {
      // Moves towards `found` until a coefficient turns 0; such coefficients leave the set.
      double share = 1;
      for (std::size_t k = 0; k < used_.size(); ++k) {
        const double to = found[static_cast<Eigen::Index>(k)];
        if (to <= 0) share = std::min(share, x_[used_[k]] / (x_[used_[k]] - to));
      }
      std::vector<Eigen::Index> left;
      for (std::size_t k = 0; k < used_.size(); ++k) {
        const double to = found[static_cast<Eigen::Index>(k)];
        double& own = x_[used_[k]];
        const bool leaves = to <= 0 && own / (own - to) <= share;
        own = leaves ? 0 : own + share * (to - own);
        if (!leaves) left.push_back(used_[k]);
      }
      used_ = left;
      if (used_.empty()) return true;
      unconstrained(found);  // independent columns stay independent without some of them
    }
    for (std::size_t k = 0; k < used_.size(); ++k) {
      x_[used_[k]] = found[static_cast<Eigen::Index>(k)];
    }
    return true;
  }

  Eigen::MatrixXd a_;
  Eigen::VectorXd b_;
  Eigen::VectorXd x_;
  std::vector<Eigen::Index> used_;  // columns of positive coefficients
  std::vector<bool> blocked_;       // by column: it lowers nothing beside these
};

}  // namespace

std::vector<double> non_negative_least_squares(const Design& a, const std::vector<double>& b) {
  assert(b.size() == a.rows());
  const auto rows = static_cast<Eigen::Index>(a.rows());
  const auto columns = static_cast<Eigen::Index>(a.columns);
  if (rows == 0) return std::vector<double>(a.columns, 0);
  Eigen::MatrixXd matrix = Eigen::Map<const Matrix>(a.values.data(), rows, columns);
  // Scales the columns, so that units do not decide which columns are dependent.
  Eigen::VectorXd size(columns);
  for (Eigen::Index c = 0; c < columns; ++c) {
    size[c] = matrix.col(c).norm();
    if (!(size[c] > 0)) size[c] = 1;
    matrix.col(c) /= size[c];
  }
  Eigen::VectorXd right = Eigen::Map<const Eigen::VectorXd>(b.data(), rows);
  if (rows > columns) {  // a rotation that zeroes the rows below the columns
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(matrix);
    right = (qr.householderQ().transpose() * right).head(columns).eval();
    matrix = qr.matrixQR().topRows(columns).triangularView<Eigen::Upper>();
  }
  const Eigen::VectorXd x = ActiveSet(std::move(matrix), std::move(right)).solve();
  std::vector<double> found(a.columns);
  for (Eigen::Index c = 0; c < columns; ++c) {
    found[static_cast<std::size_t>(c)] = x[c] / size[c];
  }
  return found;
}

}  // namespace stowage
