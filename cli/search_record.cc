#include "cli/search_record.h"

#include <utility>

#include "instances/json_reader.h"

namespace stowage {
namespace {

// The text under `key`; empty if it is missing or something else.
std::string text_in(const JsonValue& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  return value != nullptr && value->string() != nullptr ? *value->string() : "";
}

// The number under `key`; nothing if it is missing or null.
std::optional<double> number_in(const ObjectReader& reader, std::string_view key) {
  const JsonValue* value = reader.find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return read_number(*value, reader.at(key), {}, reader.errors());
}

ProgressPoint point_from(const JsonValue& value, const JsonPath& path, const Unit& unit,
                         ErrorList& errors) {
  const std::string bound = "bound_" + std::string(unit.name);
  const std::string objective = "objective_" + std::string(unit.name);
  const ObjectReader reader(value, path, errors,
                            {"seconds", bound, objective, "nodes", "source", "by"});
  return {.seconds = number_in(reader, "seconds"),
          .bound = number_in(reader, bound).value_or(0),
          .objective = number_in(reader, objective),
          .by = reader.text("by", "")};
}

}  // namespace

Result<std::optional<SearchRecord>> read_search_record(std::string_view text, const Unit& unit) {
  ErrorList errors;
  const std::optional<JsonValue> document = parse_json(text, errors);
  if (!document) return std::move(errors).take();
  if (text_in(*document, "format") != "stowage/outcome") return std::optional<SearchRecord>();
  SearchRecord record{.status = text_in(*document, "status"),
                      .stopped_by = text_in(*document, "stopped_by"),
                      .method = text_in(*document, "method"),
                      .found_by = text_in(*document, "found_by")};
  const JsonPath root;
  const JsonValue* seconds = document->find("seconds");
  if (seconds != nullptr && !seconds->is_null()) {
    record.progress.end_seconds = read_number(*seconds, root.key("seconds"), {.least = 0}, errors);
  }
  const JsonValue* improvements = document->find("improvements");
  if (improvements != nullptr && improvements->array() != nullptr) {
    const JsonPath path = root.key("improvements");
    std::int64_t index = 0;
    for (const JsonValue& value : *improvements->array()) {
      record.progress.points.push_back(point_from(value, path.index(index++), unit, errors));
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return std::optional(std::move(record));
}

}  // namespace stowage
