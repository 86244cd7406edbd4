// The generator as the `x-generator` member of the instance it made, and back.
#include "instances/scatter/generate_json.h"

#include <algorithm>
#include <string>
#include <utility>

#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/json/value.h"
#include "instances/json/writer.h"
#include "instances/lengths/generate_json.h"
#include "instances/scatter/json_members.h"

namespace stowage {
namespace {

DegreeSet read_degrees(const ObjectReader& reader) {
  const std::vector<std::string_view> names = degree_set_names();
  const std::string name = reader.text("degrees", std::string(names.front()));
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    reader.errors().add(code::kGenerator, reader.at("degrees").pointer(),
                        "must be one of powers, local-or-sharded, any, is \"" + name + '"');
    return DegreeSet::powers;
  }
  return static_cast<DegreeSet>(found - names.begin());
}

}  // namespace

ScatterGenerator scatter_generator_from(const JsonValue& value, const JsonPath& path,
                                        ErrorList& errors) {
  const ObjectReader reader(value, path, errors,
                            {"model", "devices", "limit_tokens", "memory_mib", "degrees",
                             "largest_degree", "source", "list", "step", "mu", "sigma", "least",
                             "most", "count", "seed", "above_limit", "pad_multiple", "name"});
  ScatterGenerator generator;
  generator.preset = {.model = reader.text("model"),
                      .devices = static_cast<int>(reader.integer("devices", {1, kMaxDevices})),
                      .limit_tokens = reader.integer("limit_tokens", {1, kMaxExact}),
                      .memory_mib = reader.number("memory_mib", {.least = 0}),
                      .degrees = read_degrees(reader)};
  if (reader.find("largest_degree") != nullptr) {
    generator.preset.largest_degree =
        static_cast<int>(reader.integer("largest_degree", {1, kMaxDevices}));
  }
  generator.source = read_source(reader);
  generator.count = reader.integer("count", {0, kMaxSequences});
  generator.seed = static_cast<std::uint64_t>(reader.integer("seed", {0, kMaxExact}));
  generator.above_limit = read_above(reader);
  if (reader.find("pad_multiple") != nullptr) {
    generator.pad_multiple = reader.integer("pad_multiple", {1, kMaxPadMultiple});
  }
  generator.name = reader.text("name", "");
  return generator;
}

std::string write_generated(const GeneratedScatter& generated) {
  const ScatterGenerator& generator = generated.generator;
  const bool clip = generator.above_limit == AboveLimit::clip;
  JsonWriter json;
  json.begin_object();
  write_json_members(json, generated.instance);
  json.key("x-generator");
  json.begin_object();
  json.text("model", generator.preset.model);
  json.integer("devices", generator.preset.devices);
  json.integer("limit_tokens", generator.preset.limit_tokens);
  json.number("memory_mib", generator.preset.memory_mib);
  if (generator.preset.degrees != DegreeSet::powers) {
    json.text("degrees", degree_set_names()[static_cast<std::size_t>(generator.preset.degrees)]);
  }
  if (generator.preset.largest_degree != 0) {
    json.integer("largest_degree", generator.preset.largest_degree);
  }
  write_source(json, generator.source);
  json.integer("count", generator.count);
  json.integer("seed", static_cast<std::int64_t>(generator.seed));
  write_above(json, generator.above_limit);
  if (generator.pad_multiple) json.integer("pad_multiple", *generator.pad_multiple);
  if (!generator.name.empty()) json.text("name", generator.name);
  json.end_object();
  json.integer("x-longest_allowed", generated.longest_allowed);
  json.integer(clip ? "x-clipped" : "x-dropped", generated.above);
  json.end_object();
  return json.take();
}

Result<ScatterGenerator> read_scatter_generator(std::string_view text) {
  ErrorList errors;
  ScatterGenerator generator;
  const JsonPath root;
  if (const std::optional<JsonValue> document = parse_json(text, errors)) {
    const JsonValue* value = document->find("x-generator");
    if (value == nullptr) {
      errors.add(code::kMissingKey, "/x-generator", "must be given, is missing");
    } else {
      generator = scatter_generator_from(*value, root.key("x-generator"), errors);
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return generator;
}

}  // namespace stowage
