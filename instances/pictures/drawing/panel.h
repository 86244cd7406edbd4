// One picture of a document: a heading, lines of text, a plot and a legend, one below the other.
//
//   Panel panel("7b-64gpu-code-0");
//   panel.say("9 806 ms, bound 9 333 ms (area), gap 4.82%");
//   const Box plot = panel.plot(300);
//   ... draw into panel.svg ...
//   panel.legend({{.classes = "c0", .text = "degree 8"}});
//   const Picture picture = std::move(panel).finish();
//   std::string file = svg_document({picture}, "the plan");
#pragma once

#include <string>
#include <vector>

#include "instances/pictures/drawing/svg.h"

namespace stowage {

// Elements for a canvas of kPictureWidth by `height` pixels.
struct Picture {
  std::string heading;
  std::string elements;
  double height = 0;
};

struct LegendEntry {
  enum class Mark { box, line, none };
  Mark mark = Mark::box;
  std::string classes;
  std::string text;
};

class Panel {
 public:
  explicit Panel(const std::string& heading);

  Svg svg;

  // Adds a line of text below the panel's content, wrapped if it is too wide.
  void say(const std::string& text);

  // Reserves room for a plot with axes on the left and below, and returns the plot's box. The
  // caller draws its contents.
  Box plot(double height);

  // Adds the entries side by side, in as many rows as needed.
  void legend(const std::vector<LegendEntry>& entries);

  Picture finish() &&;

 private:
  std::string heading_;
  double bottom_ = 0;  // of the content so far
};

// Draws a vertical or horizontal line across fills, on a halo of paper.
void draw_marker(Svg& svg, Point from, Point to, std::string_view classes, const ShapeTitle& title);

// Returns an SVG 1.1 file with the pictures one below the other.
std::string svg_document(const std::vector<Picture>& pictures, const std::string& title);

// Returns the picture as an element of an HTML page whose style is stylesheet().
std::string svg_figure(const Picture& picture);

}  // namespace stowage
