#include "instances/pictures/strategy/passes.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/tiles.h"
#include "instances/pictures/drawing/tooltip.h"

namespace stowage {
namespace {

// With more passes, only the first stages are drawn.
constexpr std::size_t kMaxDrawn = 100'000;
constexpr double kBytesOfMib = 1 << 20;

constexpr const char* kKinds[] = {"forward", "backward", "weights'"};

std::string pass_text(const PassDone& pass, bool chunked) {
  return std::string(kKinds[static_cast<std::size_t>(pass.kind)]) + " pass of micro-batch " +
         grouped(static_cast<std::int64_t>(pass.row)) + ", stage " +
         grouped(static_cast<std::int64_t>(pass.stage)) +
         (chunked ? ", chunk " + grouped(static_cast<std::int64_t>(pass.chunk)) : "") + ", " +
         ms_amount(pass.end - pass.start);
}

// Draws the lanes of one schedule. Returns the note on merged passes and left-out stages.
std::string draw_schedule(Panel& panel, const StrategySchedule& its, Ms high) {
  const auto stages = static_cast<std::size_t>(its.pipeline.stages);
  const auto chunks = static_cast<std::size_t>(its.pipeline.chunks);
  const std::size_t lanes =
      std::clamp<std::size_t>(kMaxDrawn / (3 * chunks * its.pipeline.rows.size()), 1, stages);
  std::vector<PassDone> passes;
  simulate_passes(its.pipeline, [&](const PassDone& pass) {
    if (pass.stage < lanes) passes.push_back(pass);
  });
  const Box plot = panel.plot(std::clamp(14.0 * static_cast<double>(lanes), 28.0, 240.0));
  const Scale x = Scale::linear(0, high, plot.x, plot.right());
  const Scale y = Scale::linear(0, static_cast<double>(lanes), plot.y, plot.bottom());
  panel.svg.rect({plot.x, plot.y, x(its.run.end) - plot.x, plot.height}, kWaste, "bubble");
  draw_bottom_axis(panel.svg, plot, x, linear_axis(Quantity::time_ms, 0, high, 9), "time");
  draw_left_axis(panel.svg, plot, y, {}, "stages");
  std::vector<Tile> tiles;
  for (std::size_t k = 0; k < passes.size(); ++k) {
    const double top = y(static_cast<double>(passes[k].stage));
    const double left = x(passes[k].start);
    tiles.push_back({.box = {left, top, x(passes[k].end) - left,
                             y(static_cast<double>(passes[k].stage + 1)) - top},
                     .hue = static_cast<std::size_t>(passes[k].kind),
                     .item = static_cast<std::int64_t>(k)});
  }
  const Merged merged = draw_tiles(panel.svg, plot, tiles, "passes", [&](std::int64_t item) {
    return pass_text(passes[at(item)], chunks > 1);
  });
  std::string said = to_string(merged, "passes");
  if (lanes < stages) {
    said += (said.empty() ? "" : ". ") + std::string("Drawn: the first ") +
            counted(static_cast<std::int64_t>(lanes), "stage");
  }
  return said.empty() ? "" : ' ' + said + '.';
}

}  // namespace

Picture strategy_passes(const StrategyInstance& instance,
                        const std::vector<StrategySchedule>& schedules) {
  Panel panel("Pipeline, pass by pass");
  Ms high = 0;
  for (const StrategySchedule& its : schedules) high = std::max(high, its.run.end);
  if (high <= 0) high = 1;
  for (const StrategySchedule& its : schedules) {
    double busy = 0;
    for (const Ms stage : its.run.busy) busy += stage;
    const double whole = its.run.end * static_cast<double>(its.pipeline.stages);
    const bool fits = its.memory_mib <= instance.cluster.memory_mib;
    panel.say(std::string(kPassScheduleNames[static_cast<std::size_t>(its.pipeline.schedule)]) +
              (&its == &schedules.front() ? ", as planned: " : ", not planned: ") +
              ms_amount(its.run.end) + ", bubble " +
              percent_text(whole > 0 ? 1 - busy / whole : 0) + ", the heaviest stage needs " +
              bytes_amount(its.memory_mib * kBytesOfMib) +
              (fits ? "." : ", more than a device has."));
    const std::string said = draw_schedule(panel, its, high);
    if (!said.empty()) panel.say(said);
  }
  panel.legend({{.classes = hue_class(0), .text = "forward"},
                {.classes = hue_class(1), .text = "backward, of the input where it is split"},
                {.classes = hue_class(2), .text = "of the weights"},
                {.classes = std::string(kWaste), .text = "bubble"}});
  panel.say("Mean micro-batches, without the exchange of states behind the last pass.");
  return std::move(panel).finish();
}

}  // namespace stowage
