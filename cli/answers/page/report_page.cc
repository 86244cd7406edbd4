#include "cli/answers/page/report_page.h"

#include <array>
#include <cstddef>

#include "cli/answers/page/page_script.h"
#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/xml.h"
#include "solvers/outcome.h"

namespace stowage {
namespace {

constexpr std::string_view kPageStyle = R"(:root{color-scheme:light dark}
body{font:15px/1.5 "DejaVu Sans",Verdana,Helvetica,Arial,sans-serif;max-width:832px;margin:0 auto;padding:16px;background:#ffffff;color:#1b1b1b}
th{white-space:nowrap}h1{font-size:22px;margin:8px 0;overflow-wrap:anywhere}h2{font-size:17px;margin:28px 0 8px}
p{margin:4px 0}table{border-collapse:collapse;display:block;overflow-x:auto}td,th{text-align:left;padding:3px 18px 3px 0;vertical-align:top;overflow-wrap:break-word}
tr{border-bottom:1px solid #d7dade}td.amount,th.amount{text-align:right;white-space:nowrap}
figure{margin:16px 0}svg{display:block;max-width:100%;height:auto}
form{display:flex;flex-wrap:wrap;gap:8px 18px;margin:16px 0}output:empty{display:none}
output{position:fixed;left:0;right:0;bottom:0;padding:8px 16px;background:#1b1b1b;color:#ffffff}
body{padding-bottom:64px}svg .mark,svg :focus-visible{stroke:#d55e00;stroke-width:3;outline:none}.dim{opacity:.12}
th button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer;text-decoration:underline dotted}
[aria-sort=ascending] button::after{content:" \2191"}[aria-sort=descending] button::after{content:" \2193"}
tbody tr:has(+tr details){border:0;cursor:pointer}
figcaption{font-weight:bold;overflow-wrap:anywhere}.pair{display:grid}.pair figure{min-width:0}
@media (min-width:1000px){.two{max-width:1680px}.pair{grid-template-columns:repeat(2,minmax(0,1fr));gap:0 16px}}
@media (max-width:600px){figure{overflow-x:auto}svg{max-width:none}}
@media (prefers-color-scheme:dark){body{background:#15181c;color:#e8e8e8}tr{border-color:#3d434b}}
)";

std::string element(std::string_view name, std::string_view text,
                    std::string_view attributes = "") {
  return '<' + std::string(name) + std::string(attributes) + '>' + xml_text(text) + "</" +
         std::string(name) + '>';
}

std::string facts_table(const std::vector<Fact>& facts) {
  std::string html = "<table>\n";
  for (const Fact& fact : facts) {
    html +=
        "<tr>" + element("th", fact.label, " scope=\"row\"") + element("td", fact.text) + "</tr>\n";
  }
  return html + "</table>\n";
}

std::string side_by_side_table(const SideBySide& both) {
  std::string html = "<table>\n<tr><td></td>";
  for (const std::string& name : both.names) html += element("th", name, " scope=\"col\"");
  html += element("th", "difference", " scope=\"col\"") + "</tr>\n";
  for (const ComparedFact& fact : both.facts) {
    html += "<tr>" + element("th", fact.label, " scope=\"row\"");
    for (const std::string& text : fact.texts) html += element("td", text);
    html += element("td", fact.difference) + "</tr>\n";
  }
  return html + "</table>\n";
}

std::string figure_pair(const PicturePair& pair, const std::array<std::string, 2>& names) {
  std::string html = "<div class=\"pair\">\n";
  for (std::size_t i = 0; i < pair.size(); ++i) {
    html += "<figure data-plan=\"" + xml_text(names[i]) + "\">\n" +
            element("figcaption", names[i]) + '\n' +
            (pair[i] ? svg_figure(*pair[i]) : element("p", "There is no such picture.")) +
            "</figure>\n";
  }
  return html + "</div>\n";
}

// Each row and its picture are one <tbody>, so that sorting keeps them together.
std::string ranking_rows(const Ranking& ranking) {
  const std::vector<Table::Column>& columns = ranking.table.columns();
  const auto classes = [&columns](std::size_t column) {
    return columns[column].align == Align::right ? " class=\"amount\"" : "";
  };
  std::string html = element("h2", ranking.heading) + "\n<table class=\"ranking\">\n<thead><tr>";
  for (std::size_t c = 0; c < columns.size(); ++c) {
    html += element("th", columns[c].title, std::string(" scope=\"col\"") + classes(c));
  }
  html += "</tr></thead>\n";
  for (std::size_t r = 0; r < ranking.plans.size(); ++r) {
    const std::vector<std::string>& cells = ranking.table.rows()[r];
    html += "<tbody><tr>";
    for (std::size_t c = 0; c < cells.size(); ++c) html += element("td", cells[c], classes(c));
    html += "</tr>\n<tr><td colspan=\"" + std::to_string(columns.size()) +
            "\"><details><summary>plan of a step</summary>\n<figure>\n" +
            svg_figure(ranking.plans[r]) + "</figure></details></td></tr></tbody>\n";
  }
  return html + "</table>\n";
}

std::string comparison_table(const Comparison& comparison, const Unit& unit) {
  constexpr std::string_view kNumber = " class=\"amount\"";
  std::string html = "<h2>Other methods on this instance</h2>\n";
  html += element("p", "As stowage compare printed them; gaps are to its best bound, " +
                           with_unit(comparison.bound, unit) + " (" + comparison.bound_by + ").");
  html += "\n<table>\n<tr>";
  for (const std::string_view title : {"method", "kind", "status"}) html += element("th", title);
  for (const std::string& title :
       {std::string(unit.name), std::string("gap"), std::string("time")}) {
    html += element("th", title, kNumber);
  }
  html += "</tr>\n";
  for (const ComparedMethod& method : comparison.methods) {
    const std::optional<double> gap =
        method.objective ? std::optional(relative_gap(*method.objective, comparison.bound))
                         : std::nullopt;
    html += "<tr>" + element("td", method.method + (method.best ? " (best)" : "")) +
            element("td", method.kind) + element("td", method.status) +
            element("td", amount_text(method.objective, unit), kNumber) +
            element("td", percent_text(gap), kNumber) +
            element("td", method.seconds ? seconds_text(*method.seconds) : "-", kNumber) +
            "</tr>\n";
  }
  return html + "</table>\n";
}

}  // namespace

std::string report_page(const Report& report) {
  std::string html =
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
      "<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
  html += element("title", report.title + " - stowage") + "\n<style>\n" + std::string(kPageStyle) +
          std::string(stylesheet()) + "</style>\n</head>\n";
  html += report.against ? "<body class=\"two\">\n" : "<body>\n";
  html += element("h1", report.title) + '\n' + element("p", report.subtitle) + '\n';
  html += report.against ? side_by_side_table(*report.against) : facts_table(report.facts);
  if (report.ranking) html += ranking_rows(*report.ranking);
  if (report.against) {
    for (const PicturePair& pair : report.against->pictures) {
      html += figure_pair(pair, report.against->names);
    }
  }
  for (const Picture& picture : report.pictures) {
    html += "<figure>\n" + svg_figure(picture) + "</figure>\n";
  }
  if (report.comparison) html += comparison_table(*report.comparison, report.unit);
  // The comments around CDATA make the page valid as XML and as HTML.
  html += "<script>//<![CDATA[" + std::string(kPageScript) + "//]]></script>\n";
  return html + "</body>\n</html>\n";
}

}  // namespace stowage
