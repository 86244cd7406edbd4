#include "instances/pictures/order/memory.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/order/memory/lifetimes.h"
#include "instances/order/memory/memory_reuse.h"
#include "instances/order/memory/peak_by_length.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/memory/transfer_times.h"
#include "instances/order/planning_table.h"
#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/tooltip.h"

namespace stowage {
namespace {

constexpr double kHeight = 260;       // px, of the memory
constexpr double kBar = 14;           // px, of a tensor
constexpr std::size_t kMaxBars = 20;  // tensors alive at the peak
// Capacities far above the peak are named and not drawn. Otherwise the plot would be a line at the
// bottom.
constexpr double kDrawnCapacity = 2;  // times the peak

constexpr std::size_t kLiveHue = 0;
constexpr std::size_t kAddedHue = 1;
constexpr std::size_t kOtherHue = 2;
constexpr std::size_t kAgainHue = 3;
constexpr std::size_t kAwayHue = 4;
constexpr int kCurvePoints = 24;    // points of a row's curve
constexpr double kOneLength = 3;    // px, half the dash of a row with a single length
constexpr double kAgainHeight = 6;  // px, of the marks of repeated runs

class OrderPicture {
 public:
  OrderPicture(const OrderInstance& instance, const OrderPlan& plan)
      : instance_(instance),
        plan_(plan),
        table_(instance),
        order_(plan.order.begin(), plan.order.end()),
        needs_(needs_of(table_, order_, plan.transfers)),
        program_(needs_of(table_, table_.program_order())),
        peak_step_(peak_step(table_, plan.order, plan.transfers)),
        steps_(std::max<double>(1, static_cast<double>(order_.size()))) {
    for (const Bytes need : program_) program_peak_ = std::max(program_peak_, need);
    for (const TensorLife& life : lifetimes(table_, plan.order, plan.transfers)) {
      if (life.at(peak_step_) && table_.size(life.tensor) > 0) alive_.push_back(life);
    }
    std::ranges::stable_sort(alive_, [this](const TensorLife& a, const TensorLife& b) {
      return table_.size(a.tensor) > table_.size(b.tensor);
    });
  }

  void draw_memory(Panel& panel, const ShownBounds& bounds) const {
    const Box plot = panel.plot(kHeight);
    const Scale x = Scale::linear(0, steps_, plot.x, plot.right());
    const Scale y = Scale::linear(0, height(), plot.bottom(), plot.y);
    std::vector<Bytes> live;
    const std::vector<Bytes> added = added_by(table_, plan_.in_place);
    for (std::size_t k = 0; k < needs_.size(); ++k) {
      live.push_back(needs_[k] - added[at(order_[k])]);
    }
    area(panel.svg, plot, x, y, needs_, hue_class(kAddedHue), "outputs and workspace");
    area(panel.svg, plot, x, y, live, hue_class(kLiveHue), "live before the step");
    draw_bottom_axis(panel.svg, plot, x, linear_axis(Quantity::count, 0, steps_, 9), "step");
    draw_left_axis(panel.svg, plot, y, linear_axis(Quantity::bytes, 0, height(), 7), "memory");
    const std::string dashed = stroke_class(kOtherHue) + std::string(kDashed);
    panel.svg.polyline(outline(plot, x, y, program_), dashed, "order of the list");
    const auto line = [&](double bytes, std::string_view classes, const char* title) {
      draw_marker(panel.svg, {plot.x - 4, y(bytes)}, {plot.right() + 4, y(bytes)}, classes, title);
    };
    line(peak(), kValueLine, "peak");
    // Bounds of the time cannot be drawn on an axis of bytes.
    const bool timed = plan_.time_ms.has_value();
    if (bounds.proven && !timed) line(bounds.proven->value, kBoundLine, "bound");
    if (bounds.claimed && !timed) line(bounds.claimed->value, kClaimLine, "claimed bound");
    draw_again(panel, plot, x);
    draw_away(panel, plot, x);
    panel.legend(
        {{.classes = hue_class(kLiveHue), .text = "live before the step"},
         {.classes = hue_class(kAddedHue), .text = "outputs and workspace of its operator"},
         {LegendEntry::Mark::line, dashed,
          "order of the list, peak " + bytes_amount(static_cast<double>(program_peak_))}});
    std::vector<LegendEntry> lines =
        bound_legend("peak", peak(), timed ? ShownBounds() : bounds, bytes_amount);
    if (shows_capacity()) {
      line(capacity(), kLimitLine, "capacity");
      lines.push_back({LegendEntry::Mark::line, std::string(kLimitLine),
                       "capacity " + bytes_amount(capacity())});
    }
    panel.legend(lines);
    if (timed) {
      std::string text =
          std::string(plan_.transfers.empty() ? "All runs take " : "All runs, with stalls, take ") +
          ms_amount(*plan_.time_ms);
      if (bounds.proven) text += "; proven bound " + ms_amount(bounds.proven->value);
      if (bounds.claimed) text += "; claimed bound " + ms_amount(bounds.claimed->value);
      panel.say(text + '.');
    }
    if (instance_.capacity && !shows_capacity()) {
      panel.say("The capacity, " + bytes_amount(capacity()) + ", is above the picture.");
    }
  }

  // Draws the peak of each row's order, and its bound, over the lengths.
  void draw_lengths(Panel& panel) const {
    if (!instance_.tokens || instance_.tokens->from == instance_.tokens->to) return;
    const auto from = static_cast<double>(instance_.tokens->from);
    const auto to = static_cast<double>(instance_.tokens->to);
    panel.say("The peak by length: " + counted(std::ssize(plan_.rows), "row") +
              ", each with an order of its own or a bound of its own.");
    const Box plot = panel.plot(kHeight);
    const Scale x = Scale::logarithmic(from, to, plot.x, plot.right());
    const Scale y = Scale::linear(0, std::max(peak(), 1.0), plot.bottom(), plot.y);
    draw_bottom_axis(panel.svg, plot, x, logarithmic_axis(from, to, 2), "tokens");
    draw_left_axis(panel.svg, plot, y, linear_axis(Quantity::bytes, 0, std::max(peak(), 1.0), 7),
                   "peak");
    for (const OrderRow& row : plan_.rows) {
      const PeakByLength curve(instance_, std::vector<int>(row.order.begin(), row.order.end()));
      std::vector<Point> peaks;
      std::vector<Point> bounds;
      for (const Tokens length : drawn_lengths(row)) {
        const double left = x(static_cast<double>(length));
        const double part = row.to == row.from ? 0
                                               : static_cast<double>(length - row.from) /
                                                     static_cast<double>(row.to - row.from);
        const double bound = static_cast<double>(row.bound_at_from) +
                             part * static_cast<double>(row.bound_at_to - row.bound_at_from);
        peaks.push_back({left, y(static_cast<double>(curve.at(length)))});
        bounds.push_back({left, y(bound)});
      }
      if (row.from == row.to) {  // a dash, because a line to the same point would be invisible
        for (std::vector<Point>* line : {&peaks, &bounds}) {
          line->push_back({line->front().x + kOneLength, line->front().y});
          line->front().x -= kOneLength;
        }
      }
      const std::string title = lengths_text(row);
      panel.svg.polyline(bounds, std::string(kBoundLine), "bound, " + title);
      panel.svg.polyline(peaks, std::string(kValueLine), "peak, " + title);
      if (row.from == instance_.tokens->from) continue;
      const double left = x(static_cast<double>(row.from));
      draw_marker(panel.svg, {left, plot.y}, {left, plot.bottom()},
                  stroke_class(kOtherHue) + std::string(kDashed), "a row begins: " + title);
    }
    panel.legend({{LegendEntry::Mark::line, std::string(kValueLine), "peak of the row's order"},
                  {LegendEntry::Mark::line, std::string(kBoundLine), "bound of the row"},
                  {LegendEntry::Mark::line, stroke_class(kOtherHue) + std::string(kDashed),
                   "where a row begins"}});
  }

  // Draws the repeated runs at the foot of the plot.
  void draw_again(Panel& panel, const Box& plot, const Scale& x) const {
    const std::vector<std::int64_t> again = steps_again(table_, plan_.order);
    if (again.empty()) return;
    Ms ms = 0;
    for (const std::int64_t step : again) {
      const int op = order_[at(step)];
      ms += table_.ms(op);
      const double left = x(static_cast<double>(step));
      const double wide = std::max(1.0, x(static_cast<double>(step + 1)) - left);
      panel.svg.rect({left, plot.bottom() - kAgainHeight, wide, kAgainHeight}, hue_class(kAgainHue),
                     "operator " + operator_name(op) + " runs again");
    }
    panel.legend({{.classes = hue_class(kAgainHue),
                   .text = counted(std::ssize(again), "run") + " again, " + ms_amount(ms) +
                           " more than " + ms_amount(table_.work_ms())}});
  }

  // Draws the tensors that only the host holds, above the repeated runs.
  void draw_away(Panel& panel, const Box& plot, const Scale& x) const {
    if (plan_.transfers.empty()) return;
    const TransferTimes times = transfer_times(table_, order_, plan_.transfers);
    const double top = plot.bottom() - 2 * kAgainHeight - 1;
    for (const OrderTransfer& its : plan_.transfers) {
      const double left = x(static_cast<double>(its.freed));
      const double wide = std::max(1.0, x(static_cast<double>(its.in)) - left);
      panel.svg.rect({left, top, wide, kAgainHeight}, hue_class(kAwayHue),
                     "tensor " + tensor_name(static_cast<int>(its.tensor)) +
                         " on the host, steps " + grouped(its.freed) + " to " +
                         grouped(its.in - 1));
    }
    const HostUse use = host_use(table_, order_, plan_.transfers);
    panel.legend({{.classes = hue_class(kAwayHue),
                   .text = counted(std::ssize(plan_.transfers), "transfer") + ", at most " +
                           bytes_amount(static_cast<double>(use.peak_bytes)) +
                           " on the host, stalls of " + ms_amount(times.stall_ms)}});
  }

  void draw_alive(Panel& panel) const {
    if (alive_.empty() || order_.empty()) return;
    const std::size_t bars = std::min(alive_.size(), kMaxBars);
    panel.say("Alive at step " + grouped(peak_step_) + ", while operator " +
              operator_name(order_[at(peak_step_)]) +
              " runs: " + counted(std::ssize(alive_), "tensor") + '.');
    const Box plot = panel.plot(kBar * static_cast<double>(bars));
    const Scale x = Scale::linear(0, steps_, plot.x, plot.right());
    draw_bottom_axis(panel.svg, plot, x, linear_axis(Quantity::count, 0, steps_, 9), "step");
    for (std::size_t k = 0; k < bars; ++k) {
      const TensorLife& life = alive_[k];
      const double left = x(static_cast<double>(life.first));
      const double right = x(static_cast<double>(life.last + 1));
      const double top = plot.y + kBar * static_cast<double>(k);
      panel.svg.rect({left, top + 1, std::max(1.0, right - left), kBar - 2}, hue_class(kLiveHue),
                     title(life));
    }
    const double middle = x(static_cast<double>(peak_step_) + 0.5);
    draw_marker(panel.svg, {middle, plot.y}, {middle, plot.bottom()}, kValueLine, "the peak");
    Bytes rest = 0;
    for (std::size_t k = bars; k < alive_.size(); ++k) rest += table_.size(alive_[k].tensor);
    std::string names;
    for (std::size_t k = 0; k < std::min<std::size_t>(bars, 3); ++k) {
      names += (names.empty() ? "" : ", ") + tensor_name(alive_[k].tensor);
    }
    panel.say("The largest first: " + names +
              (rest > 0 ? ". Not drawn: " +
                              counted(static_cast<std::int64_t>(alive_.size() - bars), "tensor") +
                              " of together " + bytes_amount(static_cast<double>(rest)) + '.'
                        : "."));
  }

 private:
  double peak() const { return static_cast<double>(plan_.peak_bytes); }
  double capacity() const { return static_cast<double>(instance_.capacity.value_or(0)); }
  bool shows_capacity() const {
    return instance_.capacity && capacity() <= kDrawnCapacity * std::max(peak(), 1.0);
  }
  double height() const {
    double most = std::max(peak(), static_cast<double>(program_peak_));
    if (shows_capacity()) most = std::max(most, capacity());
    return most > 0 ? most : 1;
  }

  // Returns "5 to 8 tokens".
  static std::string lengths_text(const OrderRow& row) {
    if (row.from == row.to) return counted(row.from, "token");
    return grouped(row.from) + " to " + grouped(row.to) + " tokens";
  }
  // Returns lengths, ascending, each once, and closer where the row begins: the axis is
  // logarithmic.
  static std::vector<Tokens> drawn_lengths(const OrderRow& row) {
    std::vector<Tokens> lengths;
    for (int k = 0; k <= kCurvePoints; ++k) {
      const double share = static_cast<double>(k) / kCurvePoints;
      const auto more = static_cast<Tokens>(static_cast<double>(row.to - row.from) * share * share);
      if (lengths.empty() || row.from + more > lengths.back()) lengths.push_back(row.from + more);
    }
    return lengths;
  }

  std::string operator_name(int op) const {
    const std::string& id = instance_.operators[at(op)].id;
    return id.empty() ? grouped(op) : brief(id);
  }
  std::string tensor_name(int t) const {
    const std::string& id = instance_.tensors[at(t)].id;
    return id.empty() ? grouped(t) : brief(id);
  }
  std::string title(const TensorLife& life) const {
    return "tensor " + tensor_name(life.tensor) + ": " + grouped(table_.size(life.tensor)) +
           " bytes, steps " + grouped(life.first) + " to " + grouped(life.last);
  }

  // Returns stairs; neighbouring steps narrower than half a pixel are drawn as the highest of them.
  static std::vector<Point> outline(const Box& plot, const Scale& x, const Scale& y,
                                    const std::vector<Bytes>& values) {
    std::vector<Point> points;
    double left = plot.x;
    Bytes top = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      top = std::max(top, values[k]);
      const double right = x(static_cast<double>(k + 1));
      if (right - left < 0.5 && k + 1 < values.size()) continue;
      points.push_back({left, y(static_cast<double>(top))});
      points.push_back({right, y(static_cast<double>(top))});
      left = right;
      top = 0;
    }
    return points;
  }

  static void area(Svg& svg, const Box& plot, const Scale& x, const Scale& y,
                   const std::vector<Bytes>& values, const std::string& classes,
                   std::string_view title) {
    std::vector<Point> points = outline(plot, x, y, values);
    if (points.empty()) return;
    points.insert(points.begin(), {plot.x, plot.bottom()});
    points.push_back({points.back().x, plot.bottom()});
    svg.polygon(points, classes, title);
  }

  const OrderInstance& instance_;
  const OrderPlan& plan_;
  const OrderTable table_;
  const std::vector<int> order_;
  const std::vector<Bytes> needs_;
  const std::vector<Bytes> program_;  // bytes of each step of program order
  const std::int64_t peak_step_;
  const double steps_;
  Bytes program_peak_ = 0;
  std::vector<TensorLife> alive_;  // at the peak, the largest first
};

}  // namespace

Picture order_memory(const OrderInstance& instance, const OrderPlan& plan,
                     const ShownBounds& bounds) {
  Panel panel(instance.name.empty() ? "order" : instance.name);
  const OrderPicture picture(instance, plan);
  picture.draw_memory(panel, bounds);
  picture.draw_alive(panel);
  picture.draw_lengths(panel);
  if (instance.tokens) {
    panel.say("Steps and tensors are drawn at the longest length, " + grouped(instance.tokens->to) +
              " tokens.");
  }
  panel.say(counted(std::ssize(instance.operators), "operator") + ", " +
            counted(std::ssize(instance.tensors), "tensor") + '.');
  return std::move(panel).finish();
}

}  // namespace stowage
