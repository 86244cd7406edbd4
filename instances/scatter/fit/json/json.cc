#include "instances/scatter/fit/json/json.h"

#include <cmath>
#include <numeric>

#include "instances/scatter/json/embedded_documents.h"

namespace stowage {
namespace {

constexpr auto kOneLine = JsonWriter::Layout::line;

void write_members(JsonWriter& json, const ErrorSummary& error) {
  json.integer("rows", error.rows);
  json.number("median", error.median);
  json.number("mean", error.mean);
  json.number("p95", error.p95);
}

void write_summary(JsonWriter& json, std::string_view key, const ErrorSummary& error) {
  json.key(key);
  json.begin_object(kOneLine);
  write_members(json, error);
  json.end_object();
}

// Writes the coefficients. Ends that are not finite become null.
void write_coefficients(JsonWriter& json, const std::vector<Coefficient>& coefficients) {
  json.key("coefficients");
  json.begin_array();
  for (const Coefficient& own : coefficients) {
    json.begin_object(kOneLine);
    json.text("name", own.name);
    json.number("value", own.value);
    json.boolean("determined", own.determined);
    json.number("low", own.low);
    json.number("high", own.high);
    json.end_object();
  }
  json.end_array();
}

void write_next(JsonWriter& json, const std::optional<NextRow>& next) {
  json.key("next");
  if (!next) {
    json.null();
    return;
  }
  json.begin_object(kOneLine);
  json.integer("degree", next->degree);
  json.text("exchange", exchange_names()[static_cast<std::size_t>(next->exchange)]);
  json.integer("sequences", next->sequences);
  json.integer("tokens", next->tokens);
  json.text("narrows", next->narrows);
  json.number("by", next->by);
  json.end_object();
}

void write_memory(JsonWriter& json, const std::optional<MemoryFit>& memory) {
  json.key("memory");
  if (!memory) {
    json.null();
    return;
  }
  json.begin_object();
  json.integer("rows", memory->rows);
  write_coefficients(json, memory->coefficients);
  write_summary(json, "held_out", memory->held_out);
  json.end_object();
}

}  // namespace

void write_json_members(JsonWriter& json, const CostFit& fit, std::span<const TimedRow> rows) {
  json.key("cost");
  write_json(json, fit.cost);
  write_coefficients(json, fit.coefficients);
  json.number("noise", fit.noise);
  write_summary(json, "held_out", fit.held_out);
  write_summary(json, "without_outliers", fit.without_outliers);
  json.key("by_degree");
  json.begin_array();
  for (const ErrorOfDegree& own : fit.by_degree) {
    json.begin_object(kOneLine);
    json.integer("degree", own.degree);
    write_members(json, own.error);
    json.end_object();
  }
  json.end_array();
  json.key("by_length");
  json.begin_array();
  for (const ErrorOfLength& own : fit.by_length) {
    json.begin_object(kOneLine);
    json.integer("shortest", own.shortest);
    json.integer("longest", own.longest);
    write_members(json, own.error);
    json.end_object();
  }
  json.end_array();
  json.key("outliers");
  json.integers({fit.outliers.begin(), fit.outliers.end()});
  json.key("missing_degrees");
  json.integers({fit.missing.begin(), fit.missing.end()});
  write_next(json, fit.next);
  write_memory(json, fit.memory);
  json.key("samples");
  json.begin_array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    json.begin_object(kOneLine);
    json.integer("degree", rows[i].degree);
    json.integer("sequences", std::ssize(rows[i].lengths));
    json.integer("tokens",
                 std::accumulate(rows[i].lengths.begin(), rows[i].lengths.end(), Tokens{0}));
    json.number("measured_ms", rows[i].ms);
    json.number("predicted_ms", fit.predicted_ms[i]);
    json.number("held_out_ms", fit.held_out_ms[i]);
    json.end_object();
  }
  json.end_array();
}

void write_json_member(JsonWriter& json, const TableFit& fit) {
  json.key("table");
  ScatterCost cost;
  cost.table = fit.table;
  json.begin_object();
  json.key("cost");
  write_json(json, cost);
  write_summary(json, "held_out", fit.held_out);
  json.end_object();
}

}  // namespace stowage
