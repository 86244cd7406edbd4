#include "instances/pictures/assign/pipelines.h"

#include <algorithm>
#include <map>

#include "instances/assign/chunks/chunk_flow.h"
#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/hues.h"
#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/text_width.h"
#include "instances/pictures/drawing/tiles.h"
#include "instances/pictures/drawing/tooltip.h"
#include "instances/pictures/length_histogram.h"
#include "instances/pipeline/schedule.h"

namespace stowage {
namespace {

constexpr std::size_t kForward = 0;  // hues
constexpr std::size_t kBackward = 1;
constexpr double kLabelWidth = 60;  // px at the left of the plot
// With more passes, only the first stage of each pipeline is drawn: every stage works equally long.
constexpr std::size_t kMostPasses = 2'000'000;

struct Pass {
  std::size_t replica = 0;
  std::size_t row = 0;
  std::size_t stage = 0;
  PipelinePass::Kind kind = PipelinePass::Kind::forward;
  Ms time = 0;
};

const Scheme& scheme_of(const AssignInstance& instance, const AssignReplica& replica) {
  return *std::ranges::find(instance.schemes, replica.scheme, &Scheme::name);
}

// Returns the items of a replica. Times are in thirds, as in simulate_1f1b(), so that whole times
// stay whole.
std::vector<PipelineItem> items_of(const AssignInstance& instance, const AssignReplica& replica) {
  if (const std::optional<ChunkRule>& rule = instance.constraints.chunks) {
    return chunk_items(chunks_of(instance, replica.rows), scheme_of(instance, replica),
                       static_cast<std::size_t>(rule->retained), {});
  }
  std::vector<PipelineItem> items;
  for (const AssignRow& row : replica.rows) {
    items.push_back({.forward = row.time_ms, .backward = kBackwardPerForward * row.time_ms});
  }
  return items;
}

constexpr double kThirds = 1 + kBackwardPerForward;

std::string name_of(PipelinePass::Kind kind) {
  return kind == PipelinePass::Kind::backward    ? "backward"
         : kind == PipelinePass::Kind::recompute ? "second forward"
                                                 : "forward";
}

class Pipelines {
 public:
  Pipelines(const AssignInstance& instance, const AssignPlan& plan)
      : instance_(instance), plan_(plan) {
    std::size_t passes = 0;
    std::size_t ids = 0;
    for (const AssignReplica& replica : plan.replicas) {
      const auto times = 2 * static_cast<std::size_t>(scheme_of(instance, replica).pp);
      passes += times * replica.rows.size();
      for (const AssignRow& row : replica.rows) ids += times * row.sequences.size();
    }
    listed_ = ids_per_tooltip(ids);
    first_only_ = passes > kMostPasses;
    for (const AssignReplica& replica : plan.replicas) {
      first_lane_.push_back(lanes_);
      lanes_ += lanes_of(replica);
    }
  }

  double height() const { return std::clamp(12.0 * static_cast<double>(lanes_), 72.0, 360.0); }
  bool first_only() const { return first_only_; }

  // Draws the pipelines. Returns the note on merged tiles, empty if none were merged.
  std::string draw(Svg& svg, const Box& plot) {
    const Ms end = std::max(plan_.objective_ms, plan_.simulated_1f1b_ms);
    const Scale x = Scale::linear(0, end, plot.x, plot.right());
    const Scale y = Scale::linear(0, static_cast<double>(lanes_), plot.y, plot.bottom());
    svg.rect({plot.x, plot.y, x(plan_.simulated_1f1b_ms) - plot.x, plot.height}, kWaste, "bubble");
    draw_bottom_axis(svg, plot, x, linear_axis(Quantity::time_ms, 0, end, 9), "time");
    draw_left_axis(svg, plot, y, {}, "replicas by scheme");
    for (std::size_t r = 0; r < plan_.replicas.size(); ++r) add_replica(r, x, y);
    const Merged merged = draw_tiles(svg, plot, tiles_, "passes", [this](std::int64_t item) {
      return title(passes_[static_cast<std::size_t>(item)]);
    });
    draw_labels(svg, plot, y);
    return to_string(merged, "passes");
  }

 private:
  std::size_t lanes_of(const AssignReplica& replica) const {
    return first_only_ ? 1 : static_cast<std::size_t>(scheme_of(instance_, replica).pp);
  }

  void add_replica(std::size_t r, const Scale& x, const Scale& y) {
    const AssignReplica& replica = plan_.replicas[r];
    const auto watch = [&](const PipelinePass& pass) {
      if (pass.stage >= lanes_of(replica)) return;
      const double left = x(pass.start / kThirds);
      const auto lane = static_cast<double>(first_lane_[r] + pass.stage);
      const bool backward = pass.kind == PipelinePass::Kind::backward;
      tiles_.push_back({.box = {left, y(lane), x(pass.end / kThirds) - left, y(lane + 1) - y(lane)},
                        .hue = backward ? kBackward : kForward,
                        .item = static_cast<std::int64_t>(passes_.size())});
      passes_.push_back({r, pass.item, pass.stage, pass.kind, (pass.end - pass.start) / kThirds});
    };
    run_pipeline(items_of(instance_, replica), scheme_of(instance_, replica).pp, watch);
  }

  // Draws a line above each run of replicas of one scheme, and the scheme's name if there is room.
  void draw_labels(Svg& svg, const Box& plot, const Scale& y) const {
    double free = plot.y;  // where the next label may begin
    for (std::size_t r = 0; r < plan_.replicas.size();) {
      const std::size_t first = r;
      const std::string& scheme = plan_.replicas[r].scheme;
      while (r < plan_.replicas.size() && plan_.replicas[r].scheme == scheme) ++r;
      const double top = y(static_cast<double>(first_lane_[first]));
      const double bottom =
          y(static_cast<double>(r < first_lane_.size() ? first_lane_[r] : lanes_));
      svg.line({plot.x - 4, top}, {plot.right(), top}, kValueLine);
      const std::string times =
          r - first == 1 ? "" : " ×" + grouped(static_cast<std::int64_t>(r - first));
      const double middle = (top + bottom) / 2;
      if (middle - kTextSize / 2 < free) continue;
      const std::string label =
          shortened(scheme, kTextSize, kLabelWidth - text_width(times, kTextSize)) + times;
      svg.text(plot.x - 7, middle + 4, Anchor::end, label, kInk, "scheme " + scheme);
      free = middle + kTextSize / 2 + 3;
    }
    // Draws gaps between replicas of one scheme, if they are wide enough to be seen.
    for (const std::size_t lane : first_lane_) {
      const double top = y(static_cast<double>(lane));
      if (plot.height / static_cast<double>(first_lane_.size()) < 4) break;
      svg.line({plot.x, top}, {plot.right(), top}, kGrid);
    }
  }

  ShapeTitle title(const Pass& pass) const {
    const AssignReplica& replica = plan_.replicas[pass.replica];
    const AssignRow& row = replica.rows[pass.row];
    std::string names = sequence_names(row.sequences, listed_);
    if (row.part) {
      names += " from token " + grouped(row.part->begin) + " to " + grouped(row.part->end);
    }
    return ShapeTitle::of_lines(
        {names + ", " + counted(row.tokens, "token"),
         name_of(pass.kind) + " pass of row " + grouped(static_cast<std::int64_t>(pass.row)) +
             ", stage " + grouped(static_cast<std::int64_t>(pass.stage)) + " of replica " +
             grouped(static_cast<std::int64_t>(pass.replica)) + " (" + brief(replica.scheme) +
             "), " + ms_amount(pass.time)});
  }

  const AssignInstance& instance_;
  const AssignPlan& plan_;
  bool first_only_ = false;
  std::size_t listed_ = 0;  // ids of a tooltip
  std::size_t lanes_ = 0;
  std::vector<std::size_t> first_lane_;  // of each replica
  std::vector<Tile> tiles_;
  std::vector<Pass> passes_;
};

}  // namespace

double bubble_share(const AssignInstance& instance, const AssignPlan& plan) {
  long double busy = 0;
  long double all = 0;
  for (const AssignReplica& replica : plan.replicas) {
    const Scheme& scheme = scheme_of(instance, replica);
    const int devices = scheme.tp * scheme.pp;
    for (const AssignRow& row : replica.rows) {
      busy += static_cast<long double>(row.time_ms) * devices;
    }
    all += static_cast<long double>(plan.simulated_1f1b_ms) * devices;
  }
  return all > 0 ? std::max(0.0, static_cast<double>(1 - busy / all)) : 0;
}

Picture assign_pipelines(const AssignInstance& instance, const AssignPlan& plan,
                         const ShownBounds& bounds) {
  Panel panel(instance.name.empty() ? "assign plan" : instance.name);
  Pipelines pipelines(instance, plan);
  const Box plot = panel.plot(pipelines.height());
  const std::string merged = pipelines.draw(panel.svg, plot);
  const Ms end = std::max(plan.objective_ms, plan.simulated_1f1b_ms);
  const Scale x = Scale::linear(0, end, plot.x, plot.right());
  const auto line = [&](Ms time, std::string_view classes, std::string_view title) {
    draw_marker(panel.svg, {x(time), plot.y - 4}, {x(time), plot.bottom() + 4}, classes, title);
  };
  line(plan.objective_ms, kValueLine, "estimate");
  if (bounds.proven) line(bounds.proven->value, kBoundLine, "bound");
  if (bounds.claimed) line(bounds.claimed->value, kClaimLine, "claimed bound");

  panel.legend({{.classes = hue_class(kForward), .text = "forward"},
                {.classes = hue_class(kBackward), .text = "backward"},
                {.classes = std::string(kWaste),
                 .text = "bubble, " + percent_text(bubble_share(instance, plan)) +
                         " of the replicas' device time under 1F1B"}});
  panel.legend(bound_legend("estimate", plan.objective_ms, bounds, ms_amount));
  std::size_t rows = 0;
  for (const AssignReplica& replica : plan.replicas) rows += replica.rows.size();
  panel.say(counted(std::ssize(instance.lengths), "sequence") + " in " +
            counted(static_cast<std::int64_t>(rows), "row") + " of " +
            counted(std::ssize(plan.replicas), "replica") + " (strategy " + plan.strategy +
            "); simulated 1F1B ends at " + ms_amount(plan.simulated_1f1b_ms) + '.' +
            (pipelines.first_only() ? " Only the first stage of each pipeline is drawn." : "") +
            (merged.empty() ? "" : ' ' + merged + '.'));
  return std::move(panel).finish();
}

Picture assign_lengths(const AssignInstance& instance, const AssignPlan& plan) {
  std::map<std::string_view, std::size_t> kinds;  // schemes in use, in the instance's order
  std::vector<std::string> names;
  for (const Scheme& scheme : instance.schemes) {
    const auto uses = [&](const AssignReplica& replica) {
      return replica.scheme == scheme.name && !replica.rows.empty();
    };
    if (!std::ranges::any_of(plan.replicas, uses)) continue;
    kinds.emplace(scheme.name, names.size());
    names.push_back("scheme " + scheme.name);
  }
  std::vector<PlacedLength> lengths;
  for (const AssignReplica& replica : plan.replicas) {
    for (const AssignRow& row : replica.rows) {
      if (row.part && row.part->begin > 0) continue;  // the sequence counts once
      for (const std::int64_t id : row.sequences) {
        lengths.push_back(
            {instance.lengths[static_cast<std::size_t>(id)], kinds.at(replica.scheme)});
      }
    }
  }
  // The first two hues are those of the passes.
  return length_histogram("Lengths and the scheme they went to", lengths, names, Hues(names, 2));
}

}  // namespace stowage
