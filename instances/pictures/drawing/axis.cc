#include "instances/pictures/drawing/axis.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/text_width.h"

namespace stowage {
namespace {

constexpr double kLabelGap = 10;  // px between two labels
constexpr double kCapHeight = 4;  // px from a label's middle down to its baseline

constexpr double kFinestStep =
    1e-12;  // of the largest value: the least difference of ticks that doubles resolve

struct Unit {
  double size = 1;
  std::string name;
};

Unit base_unit(Quantity quantity, double high) {
  switch (quantity) {
    case Quantity::time_ms:
      return high >= 5000 ? Unit{1000, "s"} : high >= 5 ? Unit{1, "ms"} : Unit{1e-3, "µs"};
    case Quantity::bytes:
      if (high >= 4 * 0x1p40) return {0x1p40, "TiB"};
      if (high >= 4 * 0x1p30) return {0x1p30, "GiB"};
      if (high >= 4 * 0x1p20) return {0x1p20, "MiB"};
      return high >= 4 * 0x1p10 ? Unit{0x1p10, "KiB"} : Unit{1, "bytes"};
    case Quantity::count:
      break;
  }
  return {};
}

// Returns a unit in which `high` has at most seven digits, so that labels stay narrow.
Unit unit_for(Quantity quantity, double high) {
  Unit unit = base_unit(quantity, high);
  int power = 0;
  for (; high / unit.size >= 1e7; power += 3) unit.size *= 1000;
  if (power > 0) {
    unit.name = "10^" + std::to_string(power) + (unit.name.empty() ? "" : ' ' + unit.name);
  }
  return unit;
}

// Returns 1, 2 or 5 times a power of ten, so that at most `most` steps make `range`.
double nice_step(double range, int most) {
  if (!(range > 0)) return 1;
  const double raw = range / most;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= raw * (1 - 1e-9)) return digit * power;
  }
  return 10 * power;
}

// Returns a power of two, so that at most `most` steps make `range`.
double binary_step(double range, int most) {
  return range > 0 ? std::exp2(std::ceil(std::log2(range / most) - 1e-9)) : 1;
}

// Returns the label of `value`, a multiple of `step`, with no more decimals than the step has.
std::string label_of(double value, double step) {
  const int decimals = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
  if (decimals > 9) return significant(value);
  const double scaled = std::round(value * std::pow(10, decimals));
  if (std::abs(scaled) >= 9e15) return significant(value);
  if (decimals == 0) return grouped(std::llround(value));
  std::string digits = std::to_string(std::llabs(std::llround(scaled)));
  const auto wanted = static_cast<std::size_t>(decimals) + 1;
  if (digits.size() < wanted) digits.insert(0, wanted - digits.size(), '0');
  digits.insert(digits.size() - wanted + 1, ".");
  return (scaled < 0 ? "-" : "") + digits;
}

std::string with_unit(const std::string& title, const Axis& axis) {
  return axis.unit.empty() ? title : title + ", " + axis.unit;
}

}  // namespace

Scale::Scale(double low, double high, double from, double to, bool logarithmic)
    : low_(logarithmic ? std::log(low) : low),
      high_(logarithmic ? std::log(high) : high),
      from_(from),
      to_(to),
      logarithmic_(logarithmic) {}

Scale Scale::linear(double low, double high, double from, double to) {
  return {low, high, from, to, false};
}

Scale Scale::logarithmic(double low, double high, double from, double to) {
  return {low, high, from, to, true};
}

double Scale::operator()(double value) const {
  if (!(high_ > low_)) return from_;
  const double place = logarithmic_ ? std::log(std::max(value, std::exp(low_))) : value;
  return from_ + (to_ - from_) * std::clamp((place - low_) / (high_ - low_), 0.0, 1.0);
}

Axis linear_axis(Quantity quantity, double low, double high, int most) {
  const Unit unit = unit_for(quantity, high);
  const double range = (high - low) / unit.size;
  double step = quantity == Quantity::bytes ? binary_step(range, most) : nice_step(range, most);
  // Bytes, sequences and ranks are whole numbers, so their ticks are too.
  if (quantity == Quantity::count || unit.size == 1) step = std::max(step, 1.0);
  // Between ends that differ only by rounding no label can be distinct.
  step = std::max(step, std::max(std::abs(low), std::abs(high)) / unit.size * kFinestStep);
  Axis axis{.unit = unit.name};
  const auto last = static_cast<std::int64_t>(std::floor(high / unit.size / step + 1e-9));
  for (auto k = static_cast<std::int64_t>(std::ceil(low / unit.size / step - 1e-9)); k <= last;
       ++k) {
    const double value = static_cast<double>(k) * step;
    axis.ticks.push_back({value * unit.size, label_of(value, step)});
  }
  return axis;
}

Axis logarithmic_axis(double low, double high, int base) {
  Axis axis;
  const double log_base = std::log(base);
  const int last = static_cast<int>(std::floor(std::log(high) / log_base + 1e-9));
  for (int k = static_cast<int>(std::ceil(std::log(low) / log_base - 1e-9)); k <= last; ++k) {
    const double value = std::pow(base, k);
    axis.ticks.push_back(
        {value, value >= 1 && value < 9e15 ? grouped(std::llround(value)) : significant(value)});
  }
  return axis;
}

void draw_bottom_axis(Svg& svg, const Box& plot, const Scale& scale, const Axis& axis,
                      const std::string& title) {
  double free = 0;  // where the next label may begin
  for (const Tick& tick : axis.ticks) {
    const double x = scale(tick.value);
    svg.line({x, plot.y}, {x, plot.bottom() + 4}, kGrid);
    const double width = text_width(tick.label, kTextSize);
    const double middle = std::clamp(x, width / 2 + 1, kPictureWidth - width / 2 - 1);
    if (middle - width / 2 < free) continue;
    svg.text(middle, plot.bottom() + 19, Anchor::middle, tick.label);
    free = middle + width / 2 + kLabelGap;
  }
  svg.text(plot.right(), plot.bottom() + 36, Anchor::end, with_unit(title, axis));
}

void draw_left_axis(Svg& svg, const Box& plot, const Scale& scale, const Axis& axis,
                    const std::string& title) {
  double free = kInfinity;  // the next label must end above this
  for (const Tick& tick : axis.ticks) {
    const double y = scale(tick.value);
    svg.line({plot.x - 4, y}, {plot.right(), y}, kGrid);
    // Ticks may ascend or descend.
    if (std::abs(y - free) < kTextSize + 3) continue;
    svg.text(plot.x - 7, y + kCapHeight, Anchor::end, tick.label);
    free = y;
  }
  svg.text(kPictureMargin, plot.y - 12, Anchor::start, with_unit(title, axis));
}

}  // namespace stowage
