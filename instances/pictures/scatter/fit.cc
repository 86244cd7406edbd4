#include "instances/pictures/scatter/fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/hues.h"
#include "instances/pictures/drawing/style.h"

namespace stowage {
namespace {

constexpr double kDot = 5;  // px
constexpr std::size_t kMaxDots = 12'000;
constexpr double kMaxShown = 1;  // largest relative error that is drawn

// Returns the rows that are drawn: all, or every n-th.
std::vector<std::size_t> drawn(std::size_t rows) {
  const std::size_t step = (rows + kMaxDots - 1) / kMaxDots;
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < rows; i += std::max<std::size_t>(step, 1)) some.push_back(i);
  return some;
}

class Drawing {
 public:
  Drawing(const CostFit& fit, std::span<const TimedRow> rows)
      : fit_(fit), rows_(rows), some_(drawn(rows.size())) {
    std::set<int> degrees;
    for (const TimedRow& row : rows) degrees.insert(row.degree);
    degrees_.assign(degrees.begin(), degrees.end());
    outlier_.assign(rows.size(), false);
    for (const std::size_t i : fit.outliers) outlier_[i] = true;
  }

  Picture times() const {
    Panel panel("Predicted against measured");
    panel.say(
        "Each row is predicted by a fit without it: " + percent_text(fit_.without_outliers.mean) +
        " off on average, 95 % within " + percent_text(fit_.without_outliers.p95) + ". " +
        (fit_.outliers.empty() ? std::string("No row is left out.")
                               : counted(std::ssize(fit_.outliers), "row") +
                                     " too far off to count, with an edge of ink."));
    const Box plot = panel.plot(320);
    double low = kInfinity;
    double high = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (const double ms : {rows_[i].ms, fit_.held_out_ms[i]}) {
        if (!(ms > 0)) continue;
        low = std::min(low, ms);
        high = std::max(high, ms);
      }
    }
    high = std::max(high, 1.01 * low);
    const Scale x = Scale::logarithmic(low, high, plot.x, plot.right());
    const Scale y = Scale::logarithmic(low, high, plot.bottom(), plot.y);
    const Axis axis = logarithmic_axis(low, high, high / low > 50 ? 10 : 2);
    draw_left_axis(panel.svg, plot, y, axis, "predicted ms");
    draw_bottom_axis(panel.svg, plot, x, axis, "measured ms");
    draw_marker(panel.svg, {plot.x, plot.bottom()}, {plot.right(), plot.y}, kBoundLine,
                "predicted as measured");
    const Hues hues(names());
    for (const std::size_t i : some_) {
      dot(panel.svg, {x(rows_[i].ms), y(std::max(fit_.held_out_ms[i], low))}, i, hues);
    }
    panel.legend(hues.legend());
    return std::move(panel).finish();
  }

  Picture residuals() const {
    Panel panel("Errors by degree");
    panel.say("Predicted / measured - 1 of each row, side by side in the order of its tokens.");
    const Box plot = panel.plot(220);
    double most = 0.01;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!outlier_[i]) most = std::max(most, std::abs(error(i)));
    }
    most = std::min(most, kMaxShown);
    const auto columns = static_cast<double>(degrees_.size());
    const Scale x = Scale::linear(0, columns, plot.x, plot.right());
    const Scale y = Scale::linear(-most, most, plot.bottom(), plot.y);
    Axis left;
    for (const double share : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
      left.ticks.push_back({share * most, percent_text(share * most)});
    }
    Axis bottom;
    for (std::size_t d = 0; d < degrees_.size(); ++d) {
      bottom.ticks.push_back({static_cast<double>(d) + 0.5, grouped(degrees_[d])});
    }
    draw_left_axis(panel.svg, plot, y, left, "error; further ones are drawn at the edge");
    draw_bottom_axis(panel.svg, plot, x, bottom, "degree");
    draw_marker(panel.svg, {plot.x, y(0)}, {plot.right(), y(0)}, kBoundLine, "no error");
    const Hues hues(names());
    std::vector<std::size_t> order = some_;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return tokens(i); });
    std::vector<std::size_t> all(degrees_.size(), 0);
    for (const std::size_t i : order) ++all[column(i)];
    std::vector<std::size_t> seen(degrees_.size(), 0);
    for (const std::size_t i : order) {
      const std::size_t own = column(i);
      const double share = (static_cast<double>(seen[own]++) + 0.5) / static_cast<double>(all[own]);
      dot(panel.svg, {x(static_cast<double>(own) + 0.1 + 0.8 * share), y(error(i))}, i, hues);
    }
    return std::move(panel).finish();
  }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const int degree : degrees_) names.push_back("degree " + grouped(degree));
    return names;
  }

  std::size_t column(std::size_t row) const {
    return static_cast<std::size_t>(std::ranges::find(degrees_, rows_[row].degree) -
                                    degrees_.begin());
  }

  double error(std::size_t row) const { return fit_.held_out_ms[row] / rows_[row].ms - 1; }

  Tokens tokens(std::size_t row) const {
    return std::accumulate(rows_[row].lengths.begin(), rows_[row].lengths.end(), Tokens{0});
  }

  void dot(Svg& svg, Point at, std::size_t row, const Hues& hues) const {
    const std::string classes =
        hue_class(hues.of(column(row))) + std::string(outlier_[row] ? kPinned : kOutlined);
    svg.rect({at.x - kDot / 2, at.y - kDot / 2, kDot, kDot}, classes,
             "row " + grouped(static_cast<std::int64_t>(row)) + ", degree " +
                 grouped(rows_[row].degree) + ": " +
                 counted(std::ssize(rows_[row].lengths), "sequence") + ", " + grouped(tokens(row)) +
                 " tokens, measured " + ms_text(rows_[row].ms) + " ms, predicted " +
                 ms_text(fit_.held_out_ms[row]) + " ms" +
                 (outlier_[row] ? ", counts nothing" : ""));
  }

  const CostFit& fit_;
  std::span<const TimedRow> rows_;
  std::vector<std::size_t> some_;
  std::vector<int> degrees_;
  std::vector<bool> outlier_;
};

}  // namespace

std::vector<Picture> fit_pictures(const CostFit& fit, std::span<const TimedRow> rows) {
  const Drawing drawing(fit, rows);
  return {drawing.times(), drawing.residuals()};
}

}  // namespace stowage
