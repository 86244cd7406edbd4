// Reads and writes the cost of scatter instances.
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "instances/json/document.h"
#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/json/text.h"
#include "instances/scatter/json/degree_members.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/scatter/json/exchange.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/json/time_table.h"

namespace stowage {
namespace {

// The coefficients that rows of one length cannot separate.
constexpr std::array<std::string_view, 3> kSplitCoefficients = {"quadratic_ms", "linear_ms",
                                                                "fixed_ms"};

}  // namespace

template <class Visitor, Of<SlidingWindow> Window>
void fields(Visitor& v, Window& window) {
  v.one_line();
  v.required("tokens", window.tokens, {1, kMaxExact});
  v.required("share", window.share, kShareOfOne);
}

namespace {

// Reads {"table": {"1": {...}, "2": {...}}}, which excludes all other members of the cost.
ScatterCost read_measured(const ObjectReader& reader, std::span<const std::string_view> others) {
  ScatterCost cost;
  for (const std::string_view key : others) {
    if (reader.find(key) == nullptr) continue;
    reader.errors().add(code::kTable, reader.at(key).pointer(),
                        "must not stand beside a table, which has all of the time, is there");
  }
  each_degree(reader, "table", "an object of grids keyed by degree",
              [&](int degree, const JsonValue& value, const JsonPath& path) {
                cost.table[degree] = read_time_grid(value, path, reader.errors());
              });
  if (cost.table.empty() && reader.errors().empty()) {
    reader.errors().add(code::kTable, reader.at("table").pointer(),
                        "must have a grid for every allowed degree, has none");
  }
  return cost;
}

// Reads keys of coefficients.
std::vector<std::string> read_undetermined(const ObjectReader& reader) {
  std::vector<std::string> keys;
  if (reader.find("undetermined") == nullptr) return keys;
  reader.each("undetermined", [&](const JsonValue& element, const JsonPath& where) {
    const std::string* key = element.string();
    if (key == nullptr || std::ranges::find(kSplitCoefficients, *key) == kSplitCoefficients.end()) {
      add_wrong_type(element, where, "\"quadratic_ms\", \"linear_ms\" or \"fixed_ms\"",
                     reader.errors());
    } else {
      keys.push_back(*key);
    }
  });
  return keys;
}

ScatterCost read_cost(const JsonValue& value, const JsonPath& path, const Cluster* cluster,
                      ErrorList& errors) {
  constexpr std::array<std::string_view, 9> kFormula = {
      "quadratic_ms", "linear_ms",   "fixed_ms", "all_to_all", "sequence_fixed_ms",
      "split_ms",     "tile_tokens", "window",   "exchange"};
  const ObjectReader reader(
      value, path, errors,
      {"quadratic_ms", "linear_ms", "fixed_ms", "all_to_all", "sequence_fixed_ms", "split_ms",
       "tile_tokens", "window", "exchange", "table", "undetermined"});
  if (reader.find("table") != nullptr) return read_measured(reader, kFormula);
  ScatterCost cost{.quadratic_ms = reader.number("quadratic_ms", kQuantity),
                   .linear_ms = reader.number("linear_ms", kQuantity),
                   .fixed_ms = reader.number("fixed_ms", kQuantity),
                   .sequence_fixed_ms = reader.number("sequence_fixed_ms", kQuantity, 0),
                   .split_ms = reader.number("split_ms", kQuantity, 0),
                   .tile_tokens = reader.integer("tile_tokens", {1, kMaxPadMultiple}, 1)};
  FieldReader(reader).optional("window", cost.window);
  cost.undetermined = read_undetermined(reader);
  const JsonValue* const all_to_all = reader.find("all_to_all");
  if (all_to_all != nullptr) {
    cost.all_to_all = read_all_to_all(*all_to_all, reader.at("all_to_all"), cluster, errors);
  }
  if (const JsonValue* exchange = reader.find("exchange")) {
    if (all_to_all != nullptr) {
      errors.add(code::kExchange, reader.at("exchange").pointer(),
                 "must stand in place of all_to_all, is beside it");
    }
    cost.exchange = read_exchange(*exchange, reader.at("exchange"), cluster, errors);
  }
  return cost;
}

}  // namespace

ScatterCost read_scatter_cost(const JsonValue& value, const JsonPath& path,
                              const std::string& base_dir, const Cluster* cluster,
                              ErrorList& errors) {
  if (value.find("file") == nullptr) return read_cost(value, path, cluster, errors);
  const ObjectReader reader(value, path, errors, {"file"});
  const std::filesystem::path file = reader.text("file");
  if (file.empty() || file.is_absolute()) {
    errors.add(code::kListPath, reader.at("file").pointer(),
               "must be a path relative to the instance, is " + in_quotes(file.string()));
    return {};
  }
  const std::filesystem::path path_of_file = std::filesystem::path(base_dir) / file;
  const Result<std::string> text = read_text_file(path_of_file);
  if (!text) {
    errors.append(text.errors());
    return {};
  }
  ErrorList inside;
  ScatterCost cost;
  if (const std::optional<JsonValue> document = parse_json(*text, inside)) {
    const JsonPath root;
    cost = read_cost(*document, root, cluster, inside);
  }
  for (const InputError& error : std::move(inside).take()) {
    errors.add(error.code, path_of_file.string() + ' ' + error.pointer, error.message);
  }
  return cost;
}

Result<ScatterCost> read_scatter_cost(std::string_view text, const Cluster& cluster) {
  return read_document(text, [&](const JsonValue& document, ErrorList& errors) {
    return read_cost(document, JsonPath(), &cluster, errors);
  });
}

void write_json(JsonWriter& json, const ScatterCost& cost) {
  json.begin_object();
  if (!cost.table.empty()) {
    json.key("table");
    json.begin_object();
    for (const auto& [degree, grid] : cost.table) {
      json.key(std::to_string(degree));
      write_json(json, grid);
    }
    json.end_object();
    json.end_object();
    return;
  }
  json.number("quadratic_ms", cost.quadratic_ms);
  json.number("linear_ms", cost.linear_ms);
  json.number("fixed_ms", cost.fixed_ms);
  if (cost.sequence_fixed_ms != 0) json.number("sequence_fixed_ms", cost.sequence_fixed_ms);
  if (cost.split_ms != 0) json.number("split_ms", cost.split_ms);
  if (cost.tile_tokens != 1) json.integer("tile_tokens", cost.tile_tokens);
  if (!cost.undetermined.empty()) {
    json.key("undetermined");
    json.begin_array(JsonWriter::Layout::line);
    for (const std::string& key : cost.undetermined) json.text(key);
    json.end_array();
  }
  if (cost.window.share != 0) {
    json.key("window");
    write_fields(json, cost.window);
  }
  if (cost.exchange) {
    json.key("exchange");
    write_exchange(json, *cost.exchange);
    json.end_object();
    return;
  }
  json.key("all_to_all");
  json.begin_object();
  json.number("mib_per_token", cost.all_to_all.mib_per_token);
  write_by_degree(json, "mib_per_ms", cost.all_to_all.mib_per_ms);
  write_by_degree(json, "latency_ms", cost.all_to_all.latency_ms);
  json.end_object();
  json.end_object();
}

}  // namespace stowage
