#include "instances/pictures/scatter/pipeline.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/tiles.h"
#include "instances/pictures/drawing/tooltip.h"
#include "instances/pipeline/schedule.h"

namespace stowage {
namespace {

constexpr std::size_t kForward = 0;  // hues
constexpr std::size_t kBackward = 1;
constexpr double kThirds = 1 + kBackwardPerForward;  // thirds of a makespan, the unit of passes
// With more passes, only the first stage is drawn: every stage works equally long.
constexpr std::size_t kMostPasses = 200'000;

struct Pass {
  std::size_t micro_batch = 0;
  std::size_t stage = 0;
  bool backward = false;
  Ms time = 0;
};

std::string title_of(const Pass& pass) {
  return std::string(pass.backward ? "backward" : "forward") + " pass of micro-batch " +
         grouped(static_cast<std::int64_t>(pass.micro_batch)) + ", stage " +
         grouped(static_cast<std::int64_t>(pass.stage)) + ", " + ms_amount(pass.time);
}

}  // namespace

Picture scatter_pipeline(const ScatterInstance& instance, const ScatterPlan& plan) {
  const auto stages = static_cast<std::size_t>(instance.pipeline_stages);
  const bool first_only = 2 * stages * plan.micro_batches.size() > kMostPasses;
  const std::size_t lanes = first_only ? 1 : stages;
  std::vector<PipelineItem> items;
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    items.push_back(
        {.forward = batch.makespan_ms, .backward = kBackwardPerForward * batch.makespan_ms});
  }
  std::vector<std::pair<PipelinePass, Pass>> passes;
  const PipelineRun run = run_pipeline(items, instance.pipeline_stages, [&](PipelinePass pass) {
    if (pass.stage >= lanes) return;
    passes.push_back({pass,
                      {.micro_batch = pass.item,
                       .stage = pass.stage,
                       .backward = pass.kind == PipelinePass::Kind::backward,
                       .time = (pass.end - pass.start) / kThirds}});
  });
  const Ms end = run.end / kThirds;

  Panel panel("Pipeline of the step");
  const Box plot = panel.plot(std::clamp(18.0 * static_cast<double>(lanes), 36.0, 360.0));
  const Ms high = end > 0 ? end : 1;
  const Scale x = Scale::linear(0, high, plot.x, plot.right());
  const Scale y = Scale::linear(0, static_cast<double>(lanes), plot.y, plot.bottom());
  panel.svg.rect({plot.x, plot.y, x(end) - plot.x, plot.height}, kWaste, "bubble");
  draw_bottom_axis(panel.svg, plot, x, linear_axis(Quantity::time_ms, 0, high, 9), "time");
  draw_left_axis(panel.svg, plot, y, {}, "stages, the first above");
  std::vector<Tile> tiles;
  for (std::size_t p = 0; p < passes.size(); ++p) {
    const auto& [pass, told] = passes[p];
    const double left = x(pass.start / kThirds);
    const double top = y(static_cast<double>(pass.stage));
    tiles.push_back({.box = {left, top, x(pass.end / kThirds) - left,
                             y(static_cast<double>(pass.stage + 1)) - top},
                     .hue = told.backward ? kBackward : kForward,
                     .item = static_cast<std::int64_t>(p)});
  }
  const Merged merged = draw_tiles(panel.svg, plot, tiles, "passes", [&](std::int64_t item) {
    return title_of(passes[static_cast<std::size_t>(item)].second);
  });
  panel.legend({{.classes = hue_class(kForward), .text = "forward"},
                {.classes = hue_class(kBackward), .text = "backward"},
                {.classes = std::string(kWaste),
                 .text = "bubble, " + percent_text(run.bubble()) + " of the devices' time"}});
  const std::string too_small = to_string(merged, "passes");
  panel.say(counted(std::ssize(plan.micro_batches), "micro-batch", "micro-batches") + " through " +
            counted(static_cast<std::int64_t>(stages), "stage") +
            " in the order of the plan; simulated 1F1B ends at " + ms_amount(end) +
            ", the objective is " + ms_amount(plan.objective_ms) + '.' +
            (first_only ? " Only the first stage is drawn." : "") +
            (too_small.empty() ? "" : ' ' + too_small + '.'));
  return std::move(panel).finish();
}

}  // namespace stowage
