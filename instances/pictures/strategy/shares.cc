#include "instances/pictures/strategy/shares.h"

#include <algorithm>
#include <array>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/text_width.h"
#include "instances/pictures/drawing/tooltip.h"

namespace stowage {
namespace {

constexpr double kBar = 22;           // px, of a configuration
constexpr std::size_t kMaxBars = 20;  // configurations that are drawn
constexpr std::size_t kComputeHue = 0;
constexpr std::size_t kExchangeHue = 4;
constexpr std::size_t kIdleHue = 3;

}  // namespace

Picture strategy_shares(const std::vector<TimeShares>& configurations) {
  Panel panel("Where the time goes");
  panel.say("The configurations that were planned on the true lengths, the fastest above.");
  const std::size_t bars = std::min(configurations.size(), kMaxBars);
  Ms longest = 0;
  for (const TimeShares& each : configurations) longest = std::max(longest, each.step_ms);
  const Ms high = longest > 0 ? longest : 1;
  const Box plot = panel.plot(2 * kBar * static_cast<double>(bars));
  const Scale x = Scale::linear(0, high, plot.x, plot.right());
  draw_bottom_axis(panel.svg, plot, x, linear_axis(Quantity::time_ms, 0, high, 8), "time");
  for (std::size_t c = 0; c < bars; ++c) {
    const TimeShares& each = configurations[c];
    const double top = plot.y + 2 * kBar * static_cast<double>(c);
    panel.svg.text(plot.x, top + kBar - 5, Anchor::start,
                   shortened(each.name + ": " + ms_amount(each.step_ms), kTextSize, plot.width),
                   kInk);
    const Ms waits = each.exchange_ms + each.idle_ms + each.bubble_ms;
    const std::array<std::pair<std::string, Ms>, 4> parts = {
        {{"compute", std::max(0.0, each.step_ms - waits)},
         {"exchange", each.exchange_ms},
         {"waiting for longer groups", each.idle_ms},
         {"bubble", each.bubble_ms}}};
    const std::array<std::string, 4> classes = {hue_class(kComputeHue), hue_class(kExchangeHue),
                                                hue_class(kIdleHue), std::string(kWaste)};
    Ms from = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const Ms to = std::min(each.step_ms, from + parts[k].second);
      if (to > from) {
        panel.svg.rect(
            {x(from), top + kBar, x(to) - x(from), kBar - 2}, classes[k],
            parts[k].first + ", " + ms_amount(parts[k].second) + " of " + ms_amount(each.step_ms));
      }
      from = std::max(from, to);
    }
  }
  panel.legend({{.classes = hue_class(kComputeHue), .text = "compute"},
                {.classes = hue_class(kExchangeHue), .text = "exchange"},
                {.classes = hue_class(kIdleHue), .text = "waiting for longer groups"},
                {.classes = std::string(kWaste), .text = "bubble of the pipeline"}});
  if (configurations.size() > bars) {
    panel.say("Not drawn: " +
              counted(static_cast<std::int64_t>(configurations.size() - bars), "configuration") +
              '.');
  }
  return std::move(panel).finish();
}

}  // namespace stowage
