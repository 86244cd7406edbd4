// Parses an SVG or HTML file with a strict XML parser and checks its layout.
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
    int picture = 0;  // index of the <svg> in the file
    Box box;  // by the estimate of instances/pictures/drawing/text_width.h, with the transforms of
              // all parents
    std::string text;
  };
  struct Shape {
    std::string element;
    std::string classes;
    std::string title;
    Box box;  // box of a rectangle; of a line its starting point
  };

  // Returns whether a tooltip contains `part`.
  bool has_tooltip(const std::string& part) const;

  // Returns the rectangles of a class, in the order of the file.
  std::vector<Shape> rects(const std::string& classes) const;

  // Returns the errors, one per line: broken XML, scripts other than that of a page, references to
  // other files, texts that touch each other or leave the canvas. Empty without errors.
  std::string complaints() const;

  std::string error;  // error of the XML parser; empty for a well-formed file
  std::vector<Text> texts;
  std::vector<Shape> shapes;
  std::set<std::string> elements;   // names
  std::vector<std::string> faults;  // attributes that load or run something
  std::vector<double> heights;      // of the canvases
  int scripts = 0;
};

}  // namespace stowage
