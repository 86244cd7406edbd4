// An SVG or HTML file as a strict XML parser sees it, and what is wrong with its layout.
//
//   const SvgDocument document(bytes);
//   EXPECT_EQ(document.complaints(), "");
//   EXPECT_TRUE(document.has_tooltip("sequence 17"));
#pragma once

#include <set>
#include <string>
#include <vector>

#include "instances/pictures/drawing/svg.h"

namespace stowage {

class SvgDocument {
 public:
  explicit SvgDocument(const std::string& bytes);

  struct Text {
    int picture = 0;  // which <svg> of the file
    Box box;  // by the estimate of instances/pictures/drawing/text_width.h, with the transforms of
              // all parents
    std::string text;
  };
  struct Shape {
    std::string element;
    std::string classes;
    std::string title;
    Box box;  // of rectangles; of lines where they begin
  };

  // Whether `part` stands in some tooltip.
  bool has_tooltip(const std::string& part) const;

  // Rectangles of a class, in the order of the file.
  std::vector<Shape> rects(const std::string& classes) const;

  // Broken XML, scripts other than that of a page, references to other files, texts that touch each
  // other or leave the canvas: a line each. Empty if all is well.
  std::string complaints() const;

  std::string error;  // of the XML parser; empty for a well-formed file
  std::vector<Text> texts;
  std::vector<Shape> shapes;
  std::set<std::string> elements;   // names
  std::vector<std::string> faults;  // attributes that load or run something
  std::vector<double> heights;      // of the canvases
  int scripts = 0;
};

}  // namespace stowage
