// Axes: the pixel of each value, and the ticks at round values.
//
//   const Scale x = Scale::linear(0, 9806, plot.x, plot.right());
//   const Axis axis = linear_axis(Quantity::time_ms, 0, 9806, 8);    // ticks at 0, 2 s, 4 s, ...
//   draw_bottom_axis(svg, plot, x, axis, "time");
#pragma once

#include <string>
#include <vector>

#include "instances/pictures/drawing/svg.h"

namespace stowage {

class Scale {
 public:
  static Scale linear(double low, double high, double from, double to);
  // Requires 0 < low.
  static Scale logarithmic(double low, double high, double from, double to);

  // Returns the pixel of a value. Values outside [low, high] are drawn at its ends.
  double operator()(double value) const;

 private:
  Scale(double low, double high, double from, double to, bool logarithmic);
  double low_, high_, from_, to_;
  bool logarithmic_;
};

enum class Quantity { count, time_ms, bytes };

struct Tick {
  double value = 0;
  std::string label;
};

struct Axis {
  std::string unit;  // of the labels: "s", "MiB"; empty for counts
  std::vector<Tick> ticks;
};

// Returns at most about `most` ticks, at 1, 2 or 5 times a power of ten of a unit that suits
// `high`. Ticks of bytes are at powers of two, ticks of counts at whole numbers. Requires low <=
// high.
Axis linear_axis(Quantity quantity, double low, double high, int most);

// Returns ticks at powers of `base` (2 or 10) from `low` to `high`. Requires 0 < low <= high.
Axis logarithmic_axis(double low, double high, int base);

// Draws grid lines, and labels below the plot, without those that would touch others. `title` and
// the unit stand below the labels, at the right. Takes kBottomAxisHeight pixels below the plot.
inline constexpr double kBottomAxisHeight = 41;
void draw_bottom_axis(Svg& svg, const Box& plot, const Scale& scale, const Axis& axis,
                      const std::string& title);

// Draws grid lines, and labels at the left of the plot, without those that would touch others.
// `title` and the unit stand above the plot, at the left. Takes kLeftTitleHeight pixels above the
// plot.
inline constexpr double kLeftTitleHeight = 23;
void draw_left_axis(Svg& svg, const Box& plot, const Scale& scale, const Axis& axis,
                    const std::string& title);

}  // namespace stowage
