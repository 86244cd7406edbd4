// Writes the elements of an SVG picture, with numbers and texts escaped and rounded.
//
//   Svg svg;
//   svg.rect({0, 0, 20, 10}, "c0", "sequence 17");
//   svg.text(10, 30, Anchor::middle, "rank");
//   std::string elements = svg.take();
//
// Coordinates are pixels, y grows downwards; they are written with two decimals. The same calls
// give the same bytes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stowage {

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

struct Point {
  double x = 0;
  double y = 0;
};

enum class Anchor { start, middle, end };

// The lines that a viewer shows when it points at a shape. A line end inside a line, as a name may
// have, is a control character and does not begin another line.
class ShapeTitle {
 public:
  ShapeTitle() = default;
  ShapeTitle(std::string line) {  // NOLINT(*-explicit-*)
    if (!line.empty()) lines_.push_back(std::move(line));
  }
  ShapeTitle(std::string_view line) : ShapeTitle(std::string(line)) {}  // NOLINT(*-explicit-*)
  ShapeTitle(const char* line) : ShapeTitle(std::string(line)) {}       // NOLINT(*-explicit-*)

  static ShapeTitle of_lines(std::vector<std::string> lines) {
    ShapeTitle title;
    title.lines_ = std::move(lines);
    return title;
  }

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

// Returns at most two decimals, "12.5", never "-0"; 0 for a value that is not finite.
std::string svg_number(double value);

class Svg {
 public:
  // `classes` are those of style.h.
  void rect(const Box& box, std::string_view classes, const ShapeTitle& title = {});
  void line(Point from, Point to, std::string_view classes, const ShapeTitle& title = {});
  void polyline(const std::vector<Point>& points, std::string_view classes,
                const ShapeTitle& title = {});
  void polygon(const std::vector<Point>& points, std::string_view classes,
               const ShapeTitle& title = {});

  // `y` is the baseline.
  void text(double x, double y, Anchor anchor, std::string_view text,
            std::string_view classes = "i", const ShapeTitle& title = {});

  std::string take() { return std::exchange(out_, {}); }

 private:
  void element(std::string_view name, std::string_view attributes, std::string_view classes,
               const ShapeTitle& title);

  std::string out_;
};

}  // namespace stowage
