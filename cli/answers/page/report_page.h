// A plan as one HTML page: its facts, its quality, its pictures, and the results of other methods.
// Two plans of one instance may stand side by side.
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
#include "cli/answers/page/side_by_side.h"
#include "cli/terminal/table.h"
#include "cli/terminal/unit.h"
#include "instances/pictures/drawing/panel.h"

namespace stowage {

// A table of candidates that can be sorted by any column. Each row opens the picture of its plan.
struct Ranking {
  std::string heading;
  Table table;
  std::vector<Picture> plans;  // one for each row of the table
};

struct Report {
  std::string title;
  std::string subtitle;
  std::vector<Fact> facts;
  std::optional<SideBySide> against;  // two plans, in the place of `facts`
  std::optional<Ranking> ranking;
  std::vector<Picture> pictures;  // below those of `against`
  std::optional<Comparison> comparison;
  Unit unit;  // unit of the comparison's objectives
};

std::string report_page(const Report& report);

}  // namespace stowage
