// A plan as one HTML page: its facts, its quality, its pictures, and the results of other methods.
//
//   const std::string html = report_page({.title = "7b-64gpu-code-0", .facts = facts, ...});
//
// The page is well-formed XML and self-contained. Its script (page_script.h) loads nothing; without
// the script the page has all pictures and titles. Equal reports give the same bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/answers/page/comparison.h"
#include "cli/terminal/unit.h"
#include "instances/pictures/drawing/panel.h"

namespace stowage {

struct Fact {
  std::string label;  // "objective"
  std::string text;   // "9 806 ms"
};

struct Report {
  std::string title;
  std::string subtitle;
  std::vector<Fact> facts;
  std::vector<Picture> pictures;
  std::optional<Comparison> comparison;
  Unit unit;  // unit of the comparison's objectives
};

std::string report_page(const Report& report);

}  // namespace stowage
