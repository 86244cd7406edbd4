#include "instances/pictures/performance_profile.h"

#include <algorithm>
#include <array>

#include "instances/numbers.h"
#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/style.h"

namespace stowage {
namespace {

constexpr double kHeight = 180;     // px
constexpr double kLeastGap = 1e-4;  // left end of the axis
// Those that stand out from the paper first; methods beyond them share hues and are dashed.
constexpr std::array<std::size_t, kHues> kOrder = {1, 5, 2, 6, 4, 0, 3};

std::string line_class(std::size_t style) {
  return stroke_class(kOrder[style % kHues]) + (style / kHues % 2 == 1 ? std::string(kDashed) : "");
}

}  // namespace

Picture performance_profile(const std::string& heading, std::size_t instances,
                            const std::vector<ProfiledMethod>& methods) {
  Panel panel(heading);
  double most = 10 * kLeastGap;
  for (const ProfiledMethod& method : methods) {
    for (const double gap : method.gaps) most = std::max(most, gap);
  }
  const Box plot = panel.plot(kHeight);
  const Scale x = Scale::logarithmic(kLeastGap, most, plot.x, plot.right());
  const Scale y = Scale::linear(0, 1, plot.bottom(), plot.y);
  draw_left_axis(panel.svg, plot, y, linear_axis(Quantity::share, 0, 1, 5),
                 "instances within the gap");
  draw_bottom_axis(panel.svg, plot, x, logarithmic_axis(Quantity::share, kLeastGap, most, 10),
                   "gap to the best proven bound");
  std::vector<LegendEntry> legend;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    std::vector<double> gaps = methods[m].gaps;
    std::ranges::sort(gaps);
    std::vector<Point> points = {{plot.x, plot.bottom()}};
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      points.push_back({x(gaps[i]), points.back().y});
      points.push_back(
          {x(gaps[i]), y(static_cast<double>(i + 1) / static_cast<double>(instances))});
    }
    points.push_back({plot.right(), points.back().y});
    panel.svg.polyline(points, line_class(methods[m].style),
                       methods[m].name + ": " + grouped(static_cast<std::int64_t>(gaps.size())) +
                           " of " + grouped(static_cast<std::int64_t>(instances)) +
                           " instances planned");
    legend.push_back({LegendEntry::Mark::line, line_class(methods[m].style), methods[m].name});
  }
  panel.legend(legend);
  return std::move(panel).finish();
}

}  // namespace stowage
