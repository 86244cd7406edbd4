#include "instances/pictures/layout/map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "instances/layout/load.h"
#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/hues.h"
#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/tiles.h"
#include "instances/pictures/drawing/tooltip.h"
#include "instances/pictures/layout/memory_profile.h"

namespace stowage {
namespace {

constexpr double kHeight = 340;  // px
// Capacities far above the peak are named and not drawn. Otherwise the map would be a line at the
// bottom.
constexpr double kDrawnCapacity = 2;  // times the peak

// Limits of the kinds of buffers: the share of all steps that they live for.
constexpr std::array<double, 3> kShares = {0.01, 0.1, 0.5};

std::size_t kind_of(double share) {
  return static_cast<std::size_t>(std::lower_bound(kShares.begin(), kShares.end(), share) -
                                  kShares.begin());
}

class MemoryMap {
 public:
  MemoryMap(const LayoutInstance& instance, const LayoutPlan& plan, const Box& plot)
      : instance_(instance),
        plan_(plan),
        profile_(memory_profile(instance, plan)),
        first_(profile_.empty() ? 0 : profile_.front().lower),
        last_(profile_.empty() ? 1 : profile_.back().upper),
        plot_(plot),
        x_(Scale::linear(static_cast<double>(first_), static_cast<double>(last_), plot.x,
                         plot.right())),
        y_(Scale::linear(0, height_of(instance, plan), plot.bottom(), plot.y)) {}

  // Draws the map. Returns the note on merged tiles, empty if none were merged.
  std::string draw(Svg& svg) {
    draw_free(svg);
    draw_bottom_axis(
        svg, plot_, x_,
        linear_axis(Quantity::count, static_cast<double>(first_), static_cast<double>(last_), 9),
        "step");
    draw_left_axis(svg, plot_, y_, linear_axis(Quantity::bytes, 0, height_of(instance_, plan_), 7),
                   "address");
    for (std::size_t i = 0; i < instance_.buffers.size(); ++i) add_buffer(i);
    const Merged merged = draw_tiles(svg, plot_, tiles_, "buffers", [this](std::int64_t item) {
      return title(static_cast<std::size_t>(item));
    });
    return to_string(merged, "buffers");
  }

  void draw_line(Svg& svg, double bytes, std::string_view classes, const std::string& title) const {
    draw_marker(svg, {plot_.x - 4, y_(bytes)}, {plot_.right() + 4, y_(bytes)}, classes, title);
  }

  bool shows(double bytes) const { return bytes <= height_of(instance_, plan_); }
  double free() const { return free_share(profile_); }

  std::vector<LegendEntry> legend() const {
    constexpr std::array<const char*, 4> kNames = {"1% of the steps", "10%", "50%", "longer"};
    std::vector<LegendEntry> entries = {{LegendEntry::Mark::none, "", "Buffers live for at most"}};
    for (std::size_t kind = 0; kind < kNames.size(); ++kind) {
      entries.push_back({.classes = hue_class(kind), .text = kNames[kind]});
    }
    const bool pins = std::ranges::any_of(
        instance_.buffers, [](const Buffer& buffer) { return buffer.offset.has_value(); });
    if (pins)
      entries.push_back({.classes = std::string(kPaper) + std::string(kPinned), .text = "pinned"});
    return entries;
  }

 private:
  // Returns the upper end of the plot.
  static double height_of(const LayoutInstance& instance, const LayoutPlan& plan) {
    const auto peak = static_cast<double>(plan.peak_bytes);
    const double capacity = instance.capacity ? static_cast<double>(*instance.capacity) : 0;
    const double most = capacity <= kDrawnCapacity * peak ? std::max(peak, capacity) : peak;
    return most > 0 ? most : 1;
  }

  // Fills the plot with grey up to the highest byte in use; buffers cover the used part of it.
  // Neighbouring ranges narrower than half a pixel are drawn as the highest of them.
  void draw_free(Svg& svg) const {
    std::vector<Point> points;
    double left = plot_.x;
    Bytes top = 0;
    for (const MemorySegment& stretch : profile_) {
      top = std::max(top, stretch.top);
      const double right = x_(static_cast<double>(stretch.upper));
      if (right - left < 0.5 && stretch.upper != last_) continue;
      const double y = y_(static_cast<double>(top));
      if (points.empty()) points.push_back({left, plot_.bottom()});
      points.push_back({left, y});
      points.push_back({right, y});
      left = right;
      top = 0;
    }
    if (points.empty()) return;
    points.push_back({left, plot_.bottom()});
    svg.polygon(points, kWaste, "free below the highest byte in use");
  }

  void add_buffer(std::size_t i) {
    const Buffer& buffer = instance_.buffers[i];
    const double steps = static_cast<double>(buffer.upper - buffer.lower);
    const double top = y_(static_cast<double>(plan_.offsets[i] + buffer.size));
    const double bottom = y_(static_cast<double>(plan_.offsets[i]));
    for (const Lifetime& need : needs_of(buffer)) {
      const double left = x_(static_cast<double>(need.lower));
      tiles_.push_back(
          {.box = {left, top, x_(static_cast<double>(need.upper)) - left, bottom - top},
           .hue = kind_of(steps / static_cast<double>(last_ - first_)),
           .item = static_cast<std::int64_t>(i),
           .pinned = buffer.offset.has_value()});
    }
  }

  std::string title(std::size_t i) const {
    const Buffer& buffer = instance_.buffers[i];
    const std::string id =
        buffer.id.empty() ? grouped(static_cast<std::int64_t>(i)) : brief(buffer.id);
    return "buffer " + id + ": " + grouped(buffer.size) + " bytes at " + grouped(plan_.offsets[i]) +
           (buffer.offset ? " (pinned)" : "") + ", steps " + grouped(buffer.lower) + " to " +
           grouped(buffer.upper - 1) + (buffer.gaps.empty() ? "" : ", with gaps");
  }

  const LayoutInstance& instance_;
  const LayoutPlan& plan_;
  const std::vector<MemorySegment> profile_;
  const std::int64_t first_;
  const std::int64_t last_;
  const Box plot_;
  const Scale x_;
  const Scale y_;
  std::vector<Tile> tiles_;
};

}  // namespace

Picture layout_map(const LayoutInstance& instance, const LayoutPlan& plan,
                   const ShownBounds& bounds) {
  Panel panel(instance.name.empty() ? "layout" : instance.name);
  MemoryMap map(instance, plan, panel.plot(kHeight));
  const std::string merged = map.draw(panel.svg);
  map.draw_line(panel.svg, static_cast<double>(plan.peak_bytes), kValueLine, "peak");
  if (bounds.proven) map.draw_line(panel.svg, bounds.proven->value, kBoundLine, "bound");
  if (bounds.claimed) map.draw_line(panel.svg, bounds.claimed->value, kClaimLine, "claimed bound");

  std::vector<LegendEntry> legend = map.legend();
  legend.push_back({.classes = std::string(kWaste),
                    .text = "free below the highest byte in use, " + percent_text(map.free())});
  panel.legend(legend);
  std::vector<LegendEntry> lines =
      bound_legend("peak", static_cast<double>(plan.peak_bytes), bounds, bytes_amount);
  std::string beyond;
  if (instance.capacity) {
    const auto capacity = static_cast<double>(*instance.capacity);
    if (map.shows(capacity)) {
      map.draw_line(panel.svg, capacity, kLimitLine, "capacity");
      lines.push_back(
          {LegendEntry::Mark::line, std::string(kLimitLine), "capacity " + bytes_amount(capacity)});
    } else {
      beyond = " The capacity, " + bytes_amount(capacity) + ", is above the picture.";
    }
  }
  panel.legend(lines);
  const auto empty = static_cast<std::size_t>(std::ranges::count_if(
      instance.buffers, [](const Buffer& buffer) { return buffer.size == 0; }));
  panel.say(counted(std::ssize(instance.buffers), "buffer") + '.' +
            (empty > 0 ? ' ' + counted(static_cast<std::int64_t>(empty), "buffer") +
                             " of no bytes not drawn."
                       : "") +
            beyond + (merged.empty() ? "" : ' ' + merged + '.'));
  return std::move(panel).finish();
}

}  // namespace stowage
