#include "bench/kernels/target_rows.h"

#include <iomanip>
#include <sstream>

namespace stowage::bench {
namespace {

std::string value(const TargetRow& row, double x) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(row.percent ? 1 : 2) << (row.percent ? 100 * x : x)
       << (row.percent ? " %" : "");
  return text.str();
}

}  // namespace

std::string target_table(const std::vector<TargetRow>& rows) {
  std::string text =
      "| | item | measure | target | measured | median | met | |\n"
      "|---|---|---|---:|---:|---:|---|---|\n";
  std::string group;
  for (const TargetRow& row : rows) {
    text += "| " + (row.group == group ? "" : row.group) + " | " + row.item + " | " + row.measure +
            " | " + (row.target ? (row.at_most ? "<= " : ">= ") + value(row, *row.target) : "-") +
            " | " + value(row, row.best) + " | " + value(row, row.median) + " | " +
            (!row.target ? "-"
             : row.met() ? "yes"
                         : "**no**") +
            " | " + row.detail + " |\n";
    group = row.group;
  }
  return text;
}

void write_rows(JsonWriter& json, const std::string& key, const std::vector<TargetRow>& rows) {
  json.key(key);
  json.begin_array();
  for (const TargetRow& row : rows) {
    json.begin_object(JsonWriter::Layout::line);
    json.text("group", row.group);
    json.text("item", row.item);
    json.text("measure", row.measure);
    json.key("target");
    row.target ? json.number(*row.target) : json.null();
    json.boolean("at_most", row.at_most);
    json.number("measured", row.best);
    json.number("median", row.median);
    json.key("met");
    row.target ? json.boolean(row.met()) : json.null();
    json.text("detail", row.detail);
    json.end_object();
  }
  json.end_array();
}

}  // namespace stowage::bench
