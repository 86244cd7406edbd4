#include "instances/pictures/drawing/panel.h"

#include <algorithm>

#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/text_width.h"
#include "instances/pictures/drawing/xml.h"

namespace stowage {
namespace {

constexpr double kLeft = 72;  // of a plot: room for its labels
constexpr double kLineHeight = 18;
constexpr double kMarkWidth = 20;
constexpr double kMarkGap = 6;
constexpr double kEntryGap = 18;
constexpr double kTextWidth = kPictureWidth - 2 * kPictureMargin;

std::string opening(double height, const std::string& label) {
  const std::string size = svg_number(kPictureWidth) + "\" height=\"" + svg_number(height) +
                           "\" viewBox=\"0 0 " + svg_number(kPictureWidth) + ' ' +
                           svg_number(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size +
         "\" role=\"img\" aria-label=\"" + xml_text(label) + "\">\n";
}

}  // namespace

Panel::Panel(const std::string& heading) : heading_(heading) {
  bottom_ = kPictureMargin + kHeadingSize;
  // Bold text is wider than the estimate.
  const std::string text = shortened(heading, kHeadingSize * 1.15, kTextWidth);
  svg.text(kPictureMargin, bottom_ - 3, Anchor::start, text, kHeading,
           text == heading ? "" : heading);
}

void Panel::say(const std::string& text) {
  for (const std::string& line : wrapped(text, kTextSize, kTextWidth)) {
    bottom_ += kLineHeight;
    svg.text(kPictureMargin, bottom_ - 4, Anchor::start, line);
  }
}

Box Panel::plot(double height) {
  const Box box{kLeft, bottom_ + kLeftTitleHeight + 4, kPictureWidth - kPictureMargin - kLeft,
                height};
  bottom_ = box.bottom() + kBottomAxisHeight;
  return box;
}

void Panel::legend(const std::vector<LegendEntry>& entries) {
  double x = kPictureMargin;
  bottom_ += kLineHeight;
  for (const LegendEntry& entry : entries) {
    const double mark = entry.mark == LegendEntry::Mark::none ? 0 : kMarkWidth + kMarkGap;
    const std::string text = shortened(entry.text, kTextSize, kTextWidth - mark);
    const double width = mark + text_width(text, kTextSize);
    if (x > kPictureMargin && x + width > kPictureWidth - kPictureMargin) {
      x = kPictureMargin;
      bottom_ += kLineHeight;
    }
    const double middle = bottom_ - 8;
    if (entry.mark == LegendEntry::Mark::box) {
      svg.rect({x, middle - 6, kMarkWidth, 12}, entry.classes);
    } else if (entry.mark == LegendEntry::Mark::line) {
      svg.line({x, middle}, {x + kMarkWidth, middle}, entry.classes);
    }
    svg.text(x + mark, bottom_ - 4, Anchor::start, text, kInk,
             text == entry.text ? "" : entry.text);
    x += width + kEntryGap;
  }
}

Picture Panel::finish() && { return {heading_, svg.take(), bottom_ + kPictureMargin / 2}; }

void draw_marker(Svg& svg, Point from, Point to, std::string_view classes,
                 const ShapeTitle& title) {
  svg.line(from, to, kHalo);
  svg.line(from, to, classes, title);
}

std::string svg_document(const std::vector<Picture>& pictures, const std::string& title) {
  double height = 0;
  for (const Picture& picture : pictures) height += picture.height;
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + opening(height, title) +
                     "<style>\n" + std::string(stylesheet()) + "</style>\n";
  Svg background;
  background.rect({0, 0, kPictureWidth, height}, kPaper);
  text += background.take();
  double y = 0;
  for (const Picture& picture : pictures) {
    text += "<g transform=\"translate(0," + svg_number(y) + ")\">\n" + picture.elements + "</g>\n";
    y += picture.height;
  }
  return text + "</svg>\n";
}

std::string svg_figure(const Picture& picture) {
  return opening(picture.height, picture.heading) + picture.elements + "</svg>\n";
}

}  // namespace stowage
