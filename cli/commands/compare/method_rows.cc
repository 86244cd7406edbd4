#include "cli/commands/compare/method_rows.h"

#include <algorithm>
#include <utility>

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

std::string_view kind_name(const MethodRow& row) {
  if (row.stated) return "stated";
  return row.method.kind == MethodKind::baseline ? "baseline" : "ours";
}

std::optional<double> gap_to(const NamedBound& bound, const Outcome& outcome) {
  if (!outcome.objective) return std::nullopt;
  return relative_gap(*outcome.objective, bound.value);
}

// Returns whether a limit ended a published method, or one of its MILPs. Its plan may then be worse
// than the method's true result. Methods of stowage always use the whole limit.
bool is_cut_short(const MethodRow& row) {
  const StoppedBy by = row.outcome.stopped_by;
  return row.method.kind == MethodKind::baseline &&
         (by == StoppedBy::time_limit || by == StoppedBy::node_limit ||
          by == StoppedBy::interrupted);
}

// Returns the last cell of the row.
std::string note_of(const MethodRow& row) {
  if (row.best) return is_cut_short(row) ? "<- best, cut short" : "<- best";
  if (!row.outcome.plan) return row.outcome.detail;
  return is_cut_short(row) ? "cut short" : "";
}

std::string heading(std::string_view key) {
  std::string text(key);
  std::ranges::replace(text, '_', '-');
  return text;
}

}  // namespace

NamedBound best_bound(const std::vector<MethodRow>& rows) {
  NamedBound best;
  for (const MethodRow& row : rows) {
    if (best.name.empty() || row.outcome.bound > best.value) {
      best = {row.outcome.bound_by, row.outcome.bound};
    }
  }
  return best;
}

void mark_best(std::vector<MethodRow>& rows) {
  double best = kInfinity;
  for (const MethodRow& row : rows) best = std::min(best, row.outcome.objective.value_or(best));
  for (MethodRow& row : rows) {
    row.best = row.outcome.objective && relative_gap(*row.outcome.objective, best) < 1e-9;
  }
}

ExitCode exit_code_of(const std::vector<MethodRow>& rows) {
  ExitCode code = rows.empty() ? ExitCode::unknown : ExitCode::internal;
  for (const ExitCode candidate : {ExitCode::unknown, ExitCode::refused, ExitCode::ok}) {
    for (const MethodRow& row : rows) {
      if (exit_code(row.outcome) == candidate) code = candidate;
    }
  }
  return code;
}

Table table_of(const std::vector<MethodRow>& rows, const MethodRowsFrame& frame) {
  const NamedBound bound = best_bound(rows);
  const std::string unit(frame.unit.name);
  std::vector<Table::Column> columns = {{"method", Align::left},
                                        {"kind", Align::left},
                                        {"best " + unit, Align::right},
                                        {"bound " + unit, Align::right},
                                        {"gap", Align::right}};
  if (frame.measured) columns.push_back({"measured ms", Align::right});
  if (!frame.timeless) columns.push_back({"time", Align::right});
  columns.push_back({"status", Align::left});
  if (!frame.parts.empty()) columns.push_back({heading(frame.parts), Align::right});
  columns.push_back({"", Align::left});
  Table table(columns);
  for (const MethodRow& row : rows) {
    const Outcome& outcome = row.outcome;
    std::vector<std::string> cells = {
        row.method.name, std::string(kind_name(row)), amount_text(outcome.objective, frame.unit),
        amount_text(bound.value, frame.unit), percent_text(gap_to(bound, outcome))};
    if (frame.measured) cells.push_back(ms_text(row.measured_ms));
    if (!frame.timeless) cells.push_back(seconds_text(outcome.seconds));
    cells.emplace_back(to_string(outcome.status));
    if (!frame.parts.empty()) {
      cells.push_back(outcome.plan ? grouped(part_count(*outcome.plan)) : "-");
    }
    cells.push_back(note_of(row));
    table.add(std::move(cells));
  }
  return table;
}

void write_row(JsonWriter& json, const MethodRow& row, const MethodRowsFrame& frame) {
  const Outcome& outcome = row.outcome;
  json.begin_object();
  json.text("method", row.method.name);
  json.text("kind", kind_name(row));
  json.text("source", row.method.source);
  json.text("status", to_string(outcome.status));
  json.text("stopped_by", to_string(outcome.stopped_by));
  write_amount(json, "objective", outcome.objective, frame.unit);
  write_amount(json, "bound", outcome.bound, frame.unit);
  json.text("bound_by", outcome.bound_by);
  write_number(json, "gap", outcome.gap());
  if (outcome.method_bound) write_amount(json, "method_bound", outcome.method_bound, frame.unit);
  json.text("found_by", outcome.found_by);
  if (!frame.parts.empty()) {
    json.key(frame.parts);
    outcome.plan ? json.integer(part_count(*outcome.plan)) : json.null();
  }
  if (frame.measured) write_amount(json, "measured", row.measured_ms, kMs);
  if (!frame.timeless) json.number("seconds", outcome.seconds);
  json.integer("nodes", outcome.nodes);
  json.boolean("best", row.best);
  json.text("detail", outcome.detail);
  json.end_object();
}

}  // namespace stowage
