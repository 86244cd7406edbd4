#include "instances/pictures/drawing/svg.h"

#include <cmath>
#include <cstdint>

#include "instances/pictures/drawing/xml.h"

namespace stowage {
namespace {

std::string attribute(std::string_view name, double value) {
  return ' ' + std::string(name) + "=\"" + svg_number(value) + '"';
}

std::string points_attribute(const std::vector<Point>& points) {
  std::string text = " points=\"";
  for (const Point& point : points) {
    if (text.back() != '"') text += ' ';
    text += svg_number(point.x) + ',' + svg_number(point.y);
  }
  return text + '"';
}

std::string title_element(const ShapeTitle& title) {
  std::string text;
  for (const std::string& line : title.lines()) text += (text.empty() ? "" : "\n") + xml_text(line);
  return "<title>" + text + "</title>";
}

}  // namespace

std::string svg_number(double value) {
  if (!std::isfinite(value)) return "0";
  const std::int64_t hundredths = std::llround(value * 100);
  std::string text = std::to_string(std::abs(hundredths) / 100);
  if (const std::int64_t rest = std::abs(hundredths) % 100; rest != 0) {
    text += '.';
    text += static_cast<char>('0' + rest / 10);
    if (rest % 10 != 0) text += static_cast<char>('0' + rest % 10);
  }
  return hundredths < 0 ? '-' + text : text;
}

void Svg::rect(const Box& box, std::string_view classes, const ShapeTitle& title) {
  element("rect",
          attribute("x", box.x) + attribute("y", box.y) + attribute("width", box.width) +
              attribute("height", box.height),
          classes, title);
}

void Svg::line(Point from, Point to, std::string_view classes, const ShapeTitle& title) {
  element("line",
          attribute("x1", from.x) + attribute("y1", from.y) + attribute("x2", to.x) +
              attribute("y2", to.y),
          classes, title);
}

void Svg::polyline(const std::vector<Point>& points, std::string_view classes,
                   const ShapeTitle& title) {
  element("polyline", points_attribute(points), classes, title);
}

void Svg::polygon(const std::vector<Point>& points, std::string_view classes,
                  const ShapeTitle& title) {
  element("polygon", points_attribute(points), classes, title);
}

void Svg::text(double x, double y, Anchor anchor, std::string_view text, std::string_view classes,
               const ShapeTitle& title) {
  out_ += "<text class=\"" + std::string(classes) + '"' + attribute("x", x) + attribute("y", y);
  if (anchor != Anchor::start) {
    out_ += anchor == Anchor::middle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
  }
  out_ += '>' + xml_text(text);
  if (!title.lines().empty()) out_ += title_element(title);
  out_ += "</text>\n";
}

void Svg::element(std::string_view name, std::string_view attributes, std::string_view classes,
                  const ShapeTitle& title) {
  out_ += '<';
  out_ += name;
  out_ += " class=\"";
  out_ += classes;
  out_ += '"';
  out_ += attributes;
  if (title.lines().empty()) {
    out_ += "/>\n";
    return;
  }
  out_ += '>' + title_element(title) + "</";
  out_ += name;
  out_ += ">\n";
}

}  // namespace stowage
