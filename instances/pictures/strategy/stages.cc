#include "instances/pictures/strategy/stages.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/tooltip.h"

namespace stowage {
namespace {

constexpr double kStageBar = 18;           // px, of a stage
constexpr std::size_t kMaxStageBars = 40;  // stages that are drawn
constexpr std::size_t kTimeHue = 0;        // by recomputation mode: this hue and the next two
constexpr std::size_t kMemoryHue = 3;
constexpr double kMibBytes = 1 << 20;

std::string title_of(std::size_t index, const StrategyStage& stage) {
  return "stage " + grouped(static_cast<std::int64_t>(index)) + ": " +
         counted(stage.layers, "layer") + ", ZeRO " + grouped(stage.zero) + ", " +
         std::string(kStrategyRecomputes[static_cast<std::size_t>(stage.recompute)]) +
         " recomputation" +
         (stage.stream_chunks > 1 ? " in " + counted(stage.stream_chunks, "chunk") : "") + ", " +
         (stage.offload > 0 ? percent_text(stage.offload) + " of activations on the host, " : "") +
         ms_amount(stage.time_ms) + ", " + bytes_amount(stage.memory_mib * kMibBytes);
}

// Draws one bar per stage, from 0 to its value.
template <class Value, class Hue>
void draw_bars(Panel& panel, const std::vector<StrategyStage>& stages, double most,
               Quantity quantity, const std::string& title, Value value, Hue hue,
               std::optional<double> limit) {
  const std::size_t bars = std::min(stages.size(), kMaxStageBars);
  const Box plot = panel.plot(kStageBar * static_cast<double>(bars));
  const double high = most > 0 ? most : 1;
  const Scale x = Scale::linear(0, high, plot.x, plot.right());
  draw_bottom_axis(panel.svg, plot, x, linear_axis(quantity, 0, high, 8), title);
  for (std::size_t s = 0; s < bars; ++s) {
    const double top = plot.y + kStageBar * static_cast<double>(s);
    panel.svg.rect({plot.x, top + 1, std::max(1.0, x(value(stages[s])) - plot.x), kStageBar - 2},
                   hue_class(hue(stages[s])), title_of(s, stages[s]));
  }
  if (!limit) return;
  draw_marker(panel.svg, {x(*limit), plot.y}, {x(*limit), plot.bottom()}, kLimitLine,
              "memory of a device");
}

}  // namespace

Picture strategy_stages(const StrategyInstance& instance, const StrategyPlan& plan,
                        const ShownBounds& bounds) {
  Panel panel(instance.name.empty() ? "strategy" : instance.name);
  panel.say("pp " + grouped(plan.pp) + ", v " + grouped(plan.v) + ", " +
            counted(plan.micro_batches, "micro-batch", "micro-batches") + ", tp " +
            grouped(plan.tp) + ", cp " + grouped(plan.cp) + ", dp " + grouped(plan.dp) +
            sharing_text(plan) + ", " + counted(plan.logit_chunks, "chunk") + " of logits.");
  Ms slowest = 0;
  Mib most = instance.cluster.memory_mib;
  for (const StrategyStage& stage : plan.stages) {
    slowest = std::max(slowest, stage.time_ms);
    most = std::max(most, stage.memory_mib);
  }
  panel.say("Stages from the first, above, to the last: the time of a mean micro-batch.");
  draw_bars(
      panel, plan.stages, slowest, Quantity::time_ms, "time",
      [](const StrategyStage& stage) { return stage.time_ms; },
      [](const StrategyStage& stage) {
        return kTimeHue + static_cast<std::size_t>(stage.recompute);
      },
      std::nullopt);
  panel.legend({{.classes = hue_class(kTimeHue), .text = "nothing recomputed"},
                {.classes = hue_class(kTimeHue + 1), .text = "selective recomputation"},
                {.classes = hue_class(kTimeHue + 2), .text = "full recomputation"}});
  panel.say("The memory of their devices.");
  draw_bars(
      panel, plan.stages, most * kMibBytes, Quantity::bytes, "memory",
      [](const StrategyStage& stage) { return stage.memory_mib * kMibBytes; },
      [](const StrategyStage&) { return kMemoryHue; }, instance.cluster.memory_mib * kMibBytes);
  panel.legend({{LegendEntry::Mark::line, std::string(kLimitLine),
                 "memory of a device, " + bytes_amount(instance.cluster.memory_mib * kMibBytes)}});
  std::vector<LegendEntry> amounts = bound_legend("step", plan.step_ms, bounds, ms_amount);
  for (LegendEntry& entry : amounts) entry.mark = LegendEntry::Mark::none;
  panel.legend(amounts);
  if (plan.stages.size() > kMaxStageBars) {
    panel.say("Not drawn: " +
              counted(static_cast<std::int64_t>(plan.stages.size() - kMaxStageBars), "stage") +
              '.');
  }
  return std::move(panel).finish();
}

}  // namespace stowage
