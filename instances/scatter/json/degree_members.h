// Members of objects that are keyed by degree, as {"2": 119.54, "4": 104.07}.
#pragma once

#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include "instances/json/document.h"
#include "instances/json/limits.h"
#include "instances/json/reader.h"
#include "instances/json/writer.h"

namespace stowage {

// Calls `read` with the degree, value and place of each member of an object keyed by degree.
template <class Read>
void each_degree(const ObjectReader& reader, std::string_view key, const char* expected,
                 Read read) {
  const JsonValue* value = reader.find(key);
  if (value == nullptr) return;
  ErrorList& errors = reader.errors();
  const JsonPath path = reader.at(key);
  const JsonValue::Object* members = value->object();
  if (members == nullptr) {
    add_wrong_type(*value, path, expected, errors);
    return;
  }
  for (const JsonMember& member : *members) {
    if (member.key.compare(0, 2, "x-") == 0) continue;
    int degree = 0;
    const char* const last = member.key.data() + member.key.size();
    const auto [end, failure] = std::from_chars(member.key.data(), last, degree);
    // Compared as text too, so that "08" and "8" cannot stand side by side.
    if (failure != std::errc() || end != last || degree < 1 || degree > kMaxDevices ||
        std::to_string(degree) != member.key) {
      errors.add(code::kDegreeKey, path.key(member.key).pointer(),
                 "must be keyed by a degree from 1 to " + std::to_string(kMaxDevices) + ", is " +
                     in_quotes(member.key));
      continue;
    }
    read(degree, member.value, path.key(member.key));
  }
}

// Reads {"2": 119.54, "4": 104.07}: numbers keyed by degree.
inline std::map<int, double> read_by_degree(const ObjectReader& reader, std::string_view key,
                                            NumberRange range) {
  std::map<int, double> by_degree;
  each_degree(reader, key, "an object of numbers keyed by degree",
              [&](int degree, const JsonValue& value, const JsonPath& path) {
                if (const auto number = read_number(value, path, range, reader.errors())) {
                  by_degree[degree] = *number;
                }
              });
  return by_degree;
}

inline void write_by_degree(JsonWriter& json, std::string_view key,
                            const std::map<int, double>& values) {
  json.key(key);
  json.begin_object(JsonWriter::Layout::line);
  for (const auto& [degree, value] : values) json.number(std::to_string(degree), value);
  json.end_object();
}

}  // namespace stowage
