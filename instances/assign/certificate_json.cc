// Certificates inside outcomes: prices of zero are left out, for there are many.
#include <string>

#include "instances/assign/json.h"
#include "instances/assign/json_members.h"

namespace stowage {
namespace {

constexpr NumberRange kPrice = {.least = 0};
constexpr IntegerRange kCount = {0, kMaxExact};
constexpr auto kOneLine = JsonWriter::Layout::line;

void write_pattern(JsonWriter& json, const RowPattern& pattern) {
  json.begin_object(kOneLine);
  json.integer("least_rows", pattern.least_rows);
  if (pattern.most_rows != 0) json.integer("most_rows", pattern.most_rows);
  json.integer("longest_tokens", pattern.longest);
  if (pattern.time != 0) json.number("time", pattern.time);
  if (pattern.tokens != 0) json.number("tokens", pattern.tokens);
  if (!pattern.parts.empty()) {
    json.key("parts");
    json.begin_array(kOneLine);
    for (const PartPrice& part : pattern.parts) {
      json.begin_object(kOneLine);
      json.text("of", part.of_rows ? "rows" : "time");
      json.integer("steps", part.steps);
      json.number("price", part.price);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
}

// Calls read(value, path) for every element of the array under `key`, where there is one.
template <class Read>
void each(const ObjectReader& reader, std::string_view key, Read read) {
  const JsonValue::Array* array = reader.array(key);
  if (array == nullptr) return;
  const JsonPath where = reader.at(key);
  std::int64_t index = 0;
  for (const JsonValue& value : *array) read(value, where.index(index++));
}

PartPrice read_part(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"of", "steps", "price"});
  const std::string of = reader.text("of");
  if (of != "rows" && of != "time" && errors.room()) {
    errors.add(code::kWrongType, path.key("of").pointer(),
               "must be \"rows\" or \"time\", is \"" + of + '"');
  }
  return {.of_rows = of == "rows",
          .steps = reader.integer("steps", kCount),
          .price = reader.number("price", kPrice)};
}

RowPattern read_pattern(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(
      value, path, errors,
      {"least_rows", "most_rows", "longest_tokens", "time", "tokens", "parts"});
  RowPattern pattern{.least_rows = reader.integer("least_rows", kCount),
                     .most_rows = reader.integer("most_rows", kCount, 0),
                     .longest = reader.integer("longest_tokens", kCount),
                     .time = reader.number("time", kPrice, 0),
                     .tokens = reader.number("tokens", kPrice, 0)};
  if (reader.find("parts") != nullptr) {
    each(reader, "parts", [&](const JsonValue& one, const JsonPath& where) {
      pattern.parts.push_back(read_part(one, where, errors));
    });
  }
  return pattern;
}

SchemePrices read_prices(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"scheme", "patterns"});
  SchemePrices prices{.scheme = reader.text("scheme")};
  each(reader, "patterns", [&](const JsonValue& one, const JsonPath& where) {
    prices.patterns.push_back(read_pattern(one, where, errors));
  });
  return prices;
}

StrategyProof read_proof(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"strategy", "by", "schemes"});
  StrategyProof proof{.strategy = reader.text("strategy"), .by = reader.text("by")};
  if (reader.find("schemes") != nullptr) {
    each(reader, "schemes", [&](const JsonValue& one, const JsonPath& where) {
      proof.schemes.push_back(read_prices(one, where, errors));
    });
  }
  return proof;
}

}  // namespace

void write_json(JsonWriter& json, const AssignCertificate& certificate) {
  json.begin_object();
  json.number("bound_ms", certificate.bound_ms);
  json.key("strategies");
  json.begin_array();
  for (const StrategyProof& proof : certificate.strategies) {
    json.begin_object(proof.schemes.empty() ? kOneLine : JsonWriter::Layout::lines);
    json.text("strategy", proof.strategy);
    json.text("by", proof.by);
    if (!proof.schemes.empty()) {
      json.key("schemes");
      json.begin_array();
      for (const SchemePrices& prices : proof.schemes) {
        json.begin_object();
        json.text("scheme", prices.scheme);
        json.key("patterns");
        json.begin_array();
        for (const RowPattern& pattern : prices.patterns) write_pattern(json, pattern);
        json.end_array();
        json.end_object();
      }
      json.end_array();
    }
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

AssignCertificate assign_certificate_from(const JsonValue& value, const JsonPath& path,
                                          ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"bound_ms", "strategies"});
  AssignCertificate certificate{.bound_ms = reader.number("bound_ms", kPrice)};
  each(reader, "strategies", [&](const JsonValue& one, const JsonPath& where) {
    certificate.strategies.push_back(read_proof(one, where, errors));
  });
  return certificate;
}

Result<std::optional<AssignCertificate>> read_assign_certificate(std::string_view text) {
  ErrorList errors;
  std::optional<AssignCertificate> certificate;
  if (const std::optional<JsonValue> document = parse_json(text, errors)) {
    const JsonValue* inner = document->find("certificate");
    const JsonPath root;
    if (inner != nullptr && !inner->is_null()) {
      certificate = assign_certificate_from(*inner, root.key("certificate"), errors);
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return certificate;
}

}  // namespace stowage
