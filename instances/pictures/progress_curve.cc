#include "instances/pictures/progress_curve.h"

#include <algorithm>
#include <cmath>

#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/tooltip.h"

namespace stowage {
namespace {

constexpr double kCurveHeight = 150;    // px
constexpr double kBelowTheBound = 0.3;  // of the axis' length above the last bound
constexpr double kProven = 1e-9;        // of the plan: a bound this close has reached it
constexpr double kFirstSecond = 1e-3;   // left end of the time axis: earlier points are drawn there

class Curves {
 public:
  Curves(const ProgressHistory& progress, Quantity quantity)
      : progress_(progress), quantity_(quantity) {
    timed_ =
        std::ranges::all_of(progress.points, [](const auto& p) { return p.seconds.has_value(); });
    for (const ProgressPoint& point : progress.points) {
      if (std::isfinite(point.bound)) most_ = std::max(most_, point.bound);
      if (point.objective && std::isfinite(*point.objective)) {
        most_ = std::max(most_, *point.objective);
        cut_ = true;
      }
    }
    if (cut_) {
      // Values far below the last bound are cut off, so that the last plan and bound stay distinct.
      double bound = 0;
      for (const ProgressPoint& point : progress.points) {
        if (std::isfinite(point.bound)) bound = std::max(bound, point.bound);
      }
      least_ = std::max(0.0, bound - kBelowTheBound * (most_ - bound));
      if (!(most_ - least_ > kProven * most_)) least_ = 0.9 * most_;
    }
    if (timed_) {
      last_ = progress.end_seconds.value_or(0);
      for (const ProgressPoint& point : progress.points) last_ = std::max(last_, *point.seconds);
      last_ = std::max(last_, 10 * kFirstSecond);
    } else {
      last_ = static_cast<double>(progress.points.size());
    }
  }

  void draw(Panel& panel) const {
    const Box plot = panel.plot(kCurveHeight);
    const Scale x = timed_ ? Scale::logarithmic(kFirstSecond, last_, plot.x, plot.right())
                           : Scale::linear(1, last_, plot.x, plot.right());
    const Scale y = Scale::linear(least_, most_, plot.bottom(), plot.y);
    draw_left_axis(panel.svg, plot, y, linear_axis(quantity_, least_, most_, 5),
                   least_ > 0 ? "best so far (not from 0)" : "best so far");
    draw_bottom_axis(panel.svg, plot, x,
                     timed_ ? logarithmic_axis(kFirstSecond, last_, 10)
                            : linear_axis(Quantity::count, 1, last_, 9),
                     timed_ ? "time in seconds (logarithmic)" : "improvements, without times");
    std::vector<Point> bound;
    std::vector<Point> best;
    for (std::size_t i = 0; i < progress_.points.size(); ++i) {
      const ProgressPoint& point = progress_.points[i];
      const double at = x(time_of(i));
      if (std::isfinite(point.bound)) step_to(bound, {at, y(std::max(least_, point.bound))});
      if (point.objective && std::isfinite(*point.objective)) {
        step_to(best, {at, y(*point.objective)});
      }
    }
    for (std::vector<Point>* line : {&bound, &best}) {
      if (!line->empty()) line->push_back({plot.right(), line->back().y});
    }
    if (!bound.empty()) panel.svg.polyline(bound, stroke_class(1) + std::string(kDashed));
    if (!best.empty()) panel.svg.polyline(best, stroke_class(5));
    draw_dots(panel.svg, x, y);
  }

 private:
  double time_of(std::size_t i) const {
    return timed_ ? *progress_.points[i].seconds : static_cast<double>(i + 1);
  }

  static void step_to(std::vector<Point>& line, Point to) {
    if (!line.empty() && line.back().y == to.y) return;
    if (!line.empty()) line.push_back({to.x, line.back().y});
    line.push_back(to);
  }

  // Draws a dot with the name of the method at each improvement.
  void draw_dots(Svg& svg, const Scale& x, const Scale& y) const {
    const auto dot = [&](std::size_t i, double value, std::size_t hue, const std::string& what) {
      if (!std::isfinite(value)) return;
      const std::string when = timed_ ? " after " + ms_amount(time_of(i) * 1000) : "";
      svg.rect({x(time_of(i)) - 3, y(std::max(least_, value)) - 3, 6, 6}, hue_class(hue),
               what + ' ' + amount(value) + " by " + progress_.points[i].by + when);
    };
    for (std::size_t i = 0; i < progress_.points.size(); ++i) {
      const ProgressPoint& now = progress_.points[i];
      const ProgressPoint before = i == 0 ? ProgressPoint{} : progress_.points[i - 1];
      if (i == 0 || now.bound != before.bound) dot(i, now.bound, 1, "bound");
      if (now.objective && now.objective != before.objective) dot(i, *now.objective, 5, "best");
    }
  }

  std::string amount(double value) const {
    return quantity_ == Quantity::bytes ? bytes_amount(value) : ms_amount(value);
  }

  const ProgressHistory& progress_;
  const Quantity quantity_;
  bool timed_ = false;
  bool cut_ = false;  // with a plan the axis may begin above zero
  double least_ = 0;
  double most_ = 0;
  double last_ = 1;
};

}  // namespace

Picture progress_curve(const ProgressHistory& progress, Quantity quantity) {
  Panel panel("The search");
  if (progress.points.empty()) {
    panel.say("The outcome lists no improvements.");
    return std::move(panel).finish();
  }
  Curves(progress, quantity).draw(panel);
  constexpr auto kLine = LegendEntry::Mark::line;
  panel.legend({{kLine, stroke_class(5), "best plan"},
                {kLine, stroke_class(1) + std::string(kDashed), "best bound"}});
  return std::move(panel).finish();
}

}  // namespace stowage
