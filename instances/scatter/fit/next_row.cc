#include "instances/scatter/fit/next_row.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

// Coefficients with less than this share of the mean row need no better value.
constexpr double kLeastShare = 0.05;

struct Range {
  Tokens least = kMaxExact;
  Tokens most = 1;

  void include(Tokens tokens) {
    least = std::min(least, tokens);
    most = std::max(most, tokens);
  }
};

std::vector<TimedRow> candidates(std::span<const TimedRow> rows, const ScatterInstance& like,
                                 const Terms& terms) {
  Range shares;  // tokens on a device
  Range lengths;
  for (const TimedRow& row : rows) {
    Tokens all = 0;
    for (const Tokens length : row.lengths) {
      lengths.include(length);
      all += length;
    }
    shares.include(std::max<Tokens>(all / row.degree, 1));
  }
  const auto middle = static_cast<Tokens>(
      std::sqrt(static_cast<double>(shares.least) * static_cast<double>(shares.most)));
  std::vector<TimedRow> all;
  for (const GroupForm form : group_forms(like)) {
    if (!terms.knows(form.degree)) continue;
    for (const Tokens share : {shares.most, middle, shares.least}) {
      for (const std::int64_t sequences : {1, 8, 64}) {
        const Tokens each = share * form.degree / sequences;
        if (each < lengths.least) continue;
        all.push_back({.degree = form.degree,
                       .lengths = std::vector<Tokens>(static_cast<std::size_t>(sequences), each),
                       .ms = 1,
                       .exchange = form.exchange});
      }
    }
  }
  return all;
}

// Returns, by column, the size that an error of the coefficient is relative to.
Eigen::VectorXd sizes_of(const Design& design, const Regression& found) {
  Eigen::VectorXd sizes(static_cast<Eigen::Index>(design.columns));
  for (std::size_t c = 0; c < design.columns; ++c) {
    double shares = 0;
    for (std::size_t i = 0; i < design.rows(); ++i) {
      shares += design.at(i, c) / std::max(found.fitted[i], 1e-300);
    }
    const double least = shares > 0 ? kLeastShare * static_cast<double>(design.rows()) / shares : 1;
    sizes[static_cast<Eigen::Index>(c)] = std::max(found.coefficients[c], least);
  }
  return sizes;
}

// Returns the information of a row on the coefficients: its terms relative to its time, in units of
// the noise.
Eigen::VectorXd information(const Design& design, std::size_t row, double fitted,
                            const Eigen::VectorXd& sizes, double noise) {
  Eigen::VectorXd terms(sizes.size());
  for (Eigen::Index c = 0; c < sizes.size(); ++c) {
    terms[c] = design.at(row, static_cast<std::size_t>(c)) * sizes[c] / (fitted * noise);
  }
  return terms;
}

}  // namespace

std::optional<NextRow> next_row(std::span<const TimedRow> rows, const ScatterInstance& like,
                                const Terms& terms, const Regression& found) {
  constexpr double kLeastNoise = 1e-3;  // clocks are less precise
  std::vector<std::size_t> every(rows.size());
  std::iota(every.begin(), every.end(), std::size_t{0});
  const Design design = terms.design(every, found.coefficients);
  const Eigen::VectorXd sizes = sizes_of(design, found);
  const double noise = std::max(found.noise, kLeastNoise);
  // The prior, that each coefficient is known to its own size, keeps the matrix regular.
  Eigen::MatrixXd known = Eigen::MatrixXd::Identity(sizes.size(), sizes.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!(found.weights[i] > 0)) continue;
    const Eigen::VectorXd row = information(design, i, found.fitted[i], sizes, noise);
    known += row * row.transpose();
  }
  const Eigen::MatrixXd variance = known.inverse();

  const std::vector<TimedRow> some = candidates(rows, like, terms);
  const Terms its(terms, some);
  std::optional<NextRow> best;
  double most = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const std::size_t alone[] = {i};
    const Design own = its.design(alone, found.coefficients);
    const double fitted = own.times(0, found.coefficients);
    if (!(fitted > 0)) continue;
    const Eigen::VectorXd row = information(own, 0, fitted, sizes, noise);
    const Eigen::VectorXd moved = variance * row;
    // The formula of Sherman and Morrison gives the decrease of the variances.
    const Eigen::VectorXd gain = moved.cwiseAbs2() / (1 + row.dot(moved));
    if (gain.sum() <= most) continue;
    most = gain.sum();
    Eigen::Index narrowed = 0;
    gain.maxCoeff(&narrowed);
    const double left = 1 - gain[narrowed] / variance(narrowed, narrowed);
    best = NextRow{.degree = some[i].degree,
                   .exchange = some[i].exchange,
                   .sequences = std::ssize(some[i].lengths),
                   .tokens = some[i].lengths.front(),
                   .narrows = terms.terms()[static_cast<std::size_t>(narrowed)].name(),
                   .by = 1 - std::sqrt(std::max(left, 0.0))};
  }
  return best;
}

}  // namespace stowage
