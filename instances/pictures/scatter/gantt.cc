#include "instances/pictures/scatter/gantt.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/hues.h"
#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/tiles.h"
#include "instances/pictures/drawing/tooltip.h"
#include "instances/pictures/length_histogram.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/cost/mixed.h"
#include "instances/scatter/table/device_pools.h"

namespace stowage {
namespace {

constexpr double kJoined = 0.75;         // px: narrower neighbours in a group are drawn as one
constexpr std::size_t kMaxEnds = 200;    // micro-batches whose ends are drawn as lines
constexpr std::size_t kMaxFixed = 4000;  // groups whose fixed part is drawn apart

// The degrees in use, ascending, and their names.
struct Degrees {
  explicit Degrees(const ScatterPlan& plan) {
    std::set<int> used;
    for (const ScatterMicroBatch& batch : plan.micro_batches) {
      for (const ScatterGroup& group : batch.groups) used.insert(group.degree);
    }
    for (const int degree : used) {
      degrees.push_back(degree);
      names.push_back("degree " + grouped(degree));
    }
  }

  std::size_t kind(int degree) const {
    const auto at = std::lower_bound(degrees.begin(), degrees.end(), degree);
    return static_cast<std::size_t>(at - degrees.begin());
  }

  std::vector<int> degrees;
  std::vector<std::string> names;
};

// Neighbouring sequences of a group that are drawn as one.
struct Piece {
  std::size_t batch = 0;
  std::size_t group = 0;
  std::size_t first = 0;
  std::size_t count = 0;
};

class Gantt {
 public:
  Gantt(const ScatterInstance& instance, const ScatterPlan& plan, const Box& plot)
      : instance_(instance),
        plan_(plan),
        degrees_(plan),
        hues_(degrees_.names),
        plot_(plot),
        x_(Scale::linear(0, plan.objective_ms, plot.x, plot.right())),
        y_(Scale::linear(0, instance.cluster.devices, plot.y, plot.bottom())) {
    for (const ScatterMicroBatch& batch : plan.micro_batches) groups_ += batch.groups.size();
  }

  // Draws the chart. Returns the note on merged pieces, empty if none were merged.
  std::string draw(Svg& svg) {
    svg.rect({plot_.x, plot_.y, x_(plan_.objective_ms) - plot_.x, plot_.height}, kWaste, "idle");
    if (const double share = pipeline_share(instance_, plan_); share > 0) {
      const double from = x_(plan_.objective_ms * (1 - share));
      svg.rect({from, plot_.y, x_(plan_.objective_ms) - from, plot_.height}, kWaste,
               "filling and draining the pipeline: the longest micro-batch " +
                   counted(instance_.pipeline_stages - 1, "time") + " more");
    }
    draw_bottom_axis(svg, plot_, x_, linear_axis(Quantity::time_ms, 0, plan_.objective_ms, 9),
                     "time");
    draw_left_axis(svg, plot_, y_, rank_axis(), "rank");
    Ms start = 0;
    for (std::size_t b = 0; b < plan_.micro_batches.size(); ++b) {
      const ScatterMicroBatch& batch = plan_.micro_batches[b];
      for (std::size_t g = 0; g < batch.groups.size(); ++g) {
        add_group(svg, extent(start, b, g), b, g);
      }
      start += batch.makespan_ms;
    }
    const Merged merged = draw_tiles(svg, plot_, tiles_, "parts", [this](std::int64_t item) {
      const Piece& piece = pieces_[static_cast<std::size_t>(item)];
      return ShapeTitle::of_lines({names(piece), group_text(piece.batch, piece.group)});
    });
    draw_ends(svg);
    draw_kinds(svg);
    return to_string(merged, "parts of groups");
  }

  void draw_line(Svg& svg, Ms time, std::string_view classes, const std::string& title) const {
    draw_marker(svg, {x_(time), plot_.y - 4}, {x_(time), plot_.bottom() + 4}, classes, title);
  }

  std::vector<LegendEntry> legend() const { return hues_.legend(); }
  std::size_t groups() const { return groups_; }

 private:
  // Returns ticks where nodes begin, as far as there is room.
  Axis rank_axis() const {
    const int devices = instance_.cluster.devices;
    const int node = std::max(instance_.cluster.devices_per_node, 1);
    if (node >= devices) return linear_axis(Quantity::count, 0, devices, 8);
    int step = node;
    while (devices / step > 8) step *= 2;
    Axis axis;
    for (int rank = 0; rank <= devices; rank += step)
      axis.ticks.push_back({1.0 * rank, grouped(rank)});
    return axis;
  }

  // The interval of time that a group is drawn in.
  struct Extent {
    Ms start = 0;
    Ms overhead = 0;
    Ms time = 0;       // with the overhead
    double scale = 1;  // of the time of a sequence
  };

  // Returns the interval of a group. The shared row of a mixed micro-batch is drawn behind the
  // longest own row, without the part of its exchange that own rows hide.
  Extent extent(Ms start, std::size_t b, std::size_t g) const {
    const ScatterGroup& group = plan_.micro_batches[b].groups[g];
    const Ms overhead = std::min(group_overhead_ms(instance_, form(b, g)), group.time_ms);
    const auto mixed = mixed_times(instance_, plan_.micro_batches[b].groups);
    if (!mixed || !is_shared_row(instance_, group.degree)) return {start, overhead, group.time_ms};
    const Ms all = group.time_ms - overhead;
    return {start + mixed->before + mixed->beside, 0, mixed->shared,
            all > 0 ? mixed->shared / all : 1};
  }

  void add_group(Svg& svg, const Extent& where, std::size_t b, std::size_t g) {
    const ScatterGroup& group = plan_.micro_batches[b].groups[g];
    const auto [start, overhead, time, shrunk] = where;
    const double top = y_(group.first_rank);
    const double height = y_(group.first_rank + group.degree) - top;
    Ms at = start;
    if (groups_ <= kMaxFixed && height >= kJoined) {
      // Sequences of a group that are too narrow to see get no part of their own.
      const bool alone = x_(start + time) - x_(start + overhead) < kJoined;
      const double end = x_(start + (alone ? time : overhead));
      const Box box{x_(start), top, end - x_(start), height};
      if (box.width > 0) {
        svg.rect(box, kPaper);
        std::vector<std::string> title = {"before the first sequence: " + ms_amount(overhead),
                                          group_text(b, g)};
        if (alone) title.insert(title.begin(), names({b, g, 0, group.sequences.size()}));
        svg.rect(box, faded_class(hues_.of(degrees_.kind(group.degree)), 2),
                 ShapeTitle::of_lines(std::move(title)));
      }
      if (alone) return;
      at += overhead;
    }
    // The last sequence ends with the group, although the sum of the parts may round differently.
    double left = x_(at);
    Piece piece{b, g, 0, 0};
    const std::size_t before = pieces_.size();
    at = start + overhead;
    const bool by_compute = compute_is_longer(b, g);
    const double scale = scale_of(b, g);
    for (std::size_t i = 0; i < group.sequences.size(); ++i) {
      at += scale == 0 ? shrunk * share(group.sequences[i], form(b, g), by_compute)
                       : scale * sequence_ms(instance_, length(group.sequences[i]), form(b, g));
      const bool last = i + 1 == group.sequences.size();
      const double right = x_(last ? start + time : at);
      ++piece.count;
      if (right - left < kJoined && !last) continue;
      if (right - left < kJoined && pieces_.size() > before) {  // the last piece is too narrow
        tiles_.back().box.width += right - left;
        pieces_.back().count += piece.count;
        break;
      }
      tiles_.push_back({.box = {left, top, right - left, height},
                        .hue = hues_.of(degrees_.kind(group.degree)),
                        .item = static_cast<std::int64_t>(pieces_.size())});
      pieces_.push_back(piece);
      piece.first = i + 1;
      piece.count = 0;
      left = right;
    }
  }

  Ms share(std::int64_t id, GroupForm form, bool by_compute) const {
    const Load load = sequence_load(instance_, length(id), form);
    return by_compute ? load.compute : load.transfer;
  }

  // If times are measured, sequences share the group's time in proportion to their times alone.
  // Returns the group's time without overhead per ms of these times; 0 if there is no table.
  double scale_of(std::size_t b, std::size_t g) const {
    if (instance_.cost.table.empty()) return 0;
    const ScatterGroup& group = plan_.micro_batches[b].groups[g];
    Ms alone = 0;
    for (const std::int64_t id : group.sequences) {
      alone += sequence_ms(instance_, length(id), form(b, g));
    }
    return alone > 0 ? (group.time_ms - group_overhead_ms(instance_, form(b, g))) / alone : 0;
  }

  // Returns whether the sum of compute, and not of transfer, is the time of the group. A sequence
  // is as wide as its part of that sum.
  bool compute_is_longer(std::size_t b, std::size_t g) const {
    const ScatterGroup& group = plan_.micro_batches[b].groups[g];
    if (group.exchange == ExchangeKind::none) return true;
    Load sum;
    for (const std::int64_t id : group.sequences) {
      sum += sequence_load(instance_, length(id), form(b, g));
    }
    return sum.compute >= sum.transfer;
  }

  // Draws the borders between nodes of different kinds, and the kind of each rank.
  void draw_kinds(Svg& svg) const {
    const Cluster& cluster = instance_.cluster;
    for (std::size_t k = 0; k < cluster.kinds.size(); ++k) {
      const double from = y_(first_rank_of_kind(cluster, static_cast<int>(k)));
      const double to = y_(first_rank_of_kind(cluster, static_cast<int>(k) + 1));
      const DeviceKind& kind = cluster.kinds[k];
      const std::string title = (kind.name.empty() ? "kind " + text_of(k) : kind.name) +
                                ": speed " + shortest(kind.speed) + ", " +
                                shortest(kind.memory_mib) + " MiB";
      svg.rect({plot_.x - 4, from, 4, to - from}, faded_class(hues_.of(0), k % 2 == 0 ? 2 : 1),
               title);
      if (k > 0) draw_marker(svg, {plot_.x - 4, from}, {plot_.right(), from}, kValueLine, title);
    }
  }
  static std::string text_of(std::size_t k) { return std::to_string(k); }

  void draw_ends(Svg& svg) const {
    if (plan_.micro_batches.size() > kMaxEnds) return;
    Ms end = 0;
    for (const ScatterMicroBatch& batch : plan_.micro_batches) {
      end += batch.makespan_ms;
      draw_line(svg, end, kValueLine,
                "micro-batch of " + ms_amount(batch.makespan_ms) + recomputing(batch));
    }
  }

  GroupForm form(std::size_t b, std::size_t g) const {
    const ScatterMicroBatch& batch = plan_.micro_batches[b];
    return form_of(instance_, batch, batch.groups[g]).value_or(batch.groups[g].degree);
  }

  // Returns ", recomputes full"; empty if there is no choice.
  static std::string recomputing(const ScatterMicroBatch& batch) {
    return batch.recomputation.empty() ? "" : ", recomputes " + batch.recomputation;
  }

  Tokens length(std::int64_t id) const {
    return padded_length(instance_, instance_.lengths[static_cast<std::size_t>(id)]);
  }

  std::string group_text(std::size_t b, std::size_t g) const {
    const ScatterGroup& group = plan_.micro_batches[b].groups[g];
    return "micro-batch " + grouped(static_cast<std::int64_t>(b)) + ", degree " +
           grouped(group.degree) + ", " +
           (group.degree == 1 ? "rank " + grouped(group.first_rank)
                              : "ranks " + grouped(group.first_rank) + " to " +
                                    grouped(group.first_rank + group.degree - 1)) +
           ", " + counted(group.tokens, "token") + ", " + ms_amount(group.time_ms) +
           recomputing(plan_.micro_batches[b]);
  }

  std::string names(const Piece& piece) const {
    const ScatterGroup& group = plan_.micro_batches[piece.batch].groups[piece.group];
    const auto ids = std::span(group.sequences).subspan(piece.first, piece.count);
    Tokens tokens = 0;
    for (const std::int64_t id : ids) tokens += length(id);
    return sequence_names(ids, ids_per_tooltip(instance_.lengths.size())) + ", " + grouped(tokens) +
           " tokens";
  }

  const ScatterInstance& instance_;
  const ScatterPlan& plan_;
  const Degrees degrees_;
  const Hues hues_;
  const Box plot_;
  const Scale x_;
  const Scale y_;
  std::size_t groups_ = 0;
  std::vector<Tile> tiles_;
  std::vector<Piece> pieces_;
};

std::string pipeline_text(const ScatterInstance& instance, const ScatterPlan& plan) {
  if (instance.pipeline_stages == 1) return "";
  return "The last " + percent_text(pipeline_share(instance, plan)) +
         " fill and drain a pipeline of " + counted(instance.pipeline_stages, "stage") + ". ";
}

}  // namespace

double idle_share(const ScatterInstance& instance, const ScatterPlan& plan) {
  long double busy = 0;
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    busy += busy_device_ms(instance, batch.groups);
  }
  const long double all = static_cast<long double>(plan.objective_ms) * instance.cluster.devices;
  return all > 0 ? std::max(0.0, static_cast<double>(1 - busy / all)) : 0;
}

double pipeline_share(const ScatterInstance& instance, const ScatterPlan& plan) {
  if (instance.pipeline_stages == 1 || !(plan.objective_ms > 0)) return 0;
  Ms longest = 0;
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    longest = std::max(longest, batch.makespan_ms);
  }
  return (instance.pipeline_stages - 1) * longest / plan.objective_ms;
}

Picture scatter_gantt(const ScatterInstance& instance, const ScatterPlan& plan,
                      const ShownBounds& bounds) {
  Panel panel(instance.name.empty() ? "scatter plan" : instance.name);
  const Box plot = panel.plot(std::clamp(6.0 * instance.cluster.devices, 96.0, 320.0));
  Gantt gantt(instance, plan, plot);
  const std::string merged = gantt.draw(panel.svg);
  if (bounds.proven) gantt.draw_line(panel.svg, bounds.proven->value, kBoundLine, "bound");
  if (bounds.claimed)
    gantt.draw_line(panel.svg, bounds.claimed->value, kClaimLine, "claimed bound");

  std::vector<LegendEntry> legend = gantt.legend();
  legend.push_back({LegendEntry::Mark::none, "", "half tone: fixed cost of a group"});
  legend.push_back({.classes = std::string(kWaste),
                    .text = "idle, " + percent_text(idle_share(instance, plan)) + " of rank time"});
  panel.legend(legend);
  panel.legend(bound_legend("ends of micro-batches; step", plan.objective_ms, bounds, ms_amount));
  panel.say(counted(std::ssize(instance.lengths), "sequence") + " in " +
            counted(static_cast<std::int64_t>(gantt.groups()), "group") + " of " +
            counted(std::ssize(plan.micro_batches), "micro-batch", "micro-batches") + " on " +
            counted(instance.cluster.devices, "device") + ". " + pipeline_text(instance, plan) +
            (merged.empty() ? "" : merged + '.'));
  return std::move(panel).finish();
}

Picture scatter_lengths(const ScatterInstance& instance, const ScatterPlan& plan) {
  const Degrees degrees(plan);
  std::vector<PlacedLength> lengths;
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    for (const ScatterGroup& group : batch.groups) {
      for (const std::int64_t id : group.sequences) {
        lengths.push_back(
            {instance.lengths[static_cast<std::size_t>(id)], degrees.kind(group.degree)});
      }
    }
  }
  return length_histogram("Lengths and the degree they went to", lengths, degrees.names,
                          Hues(degrees.names));
}

}  // namespace stowage
