// The generator as the `x-generator` member of the instance it made, and back.
#include "instances/lengths/generate_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "instances/json/document.h"
#include "instances/scatter/json.h"

namespace stowage {
namespace {

using Kind = LengthSource::Kind;

constexpr std::array<std::string_view, 5> kKinds = {"slice", "sample", "lognormal", "uniform",
                                                    "constant"};

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

void write_source(JsonWriter& json, const LengthSource& source) {
  json.text("source", kKinds[static_cast<std::size_t>(source.kind)]);
  switch (source.kind) {
    case Kind::slice:
      json.text("list", source.list);
      json.integer("step", source.step);
      break;
    case Kind::sample:
      json.text("list", source.list);
      break;
    case Kind::lognormal:
      json.number("mu", source.mu);
      json.number("sigma", source.sigma);
      break;
    case Kind::uniform:
      json.integer("least", source.least);
      json.integer("most", source.most);
      break;
    case Kind::constant:
      json.integer("least", source.least);
      break;
  }
}

LengthSource read_source(const ObjectReader& reader) {
  LengthSource source;
  const std::string kind = reader.text("source");
  const auto found = std::find(kKinds.begin(), kKinds.end(), kind);
  if (found == kKinds.end()) {
    reader.errors().add(
        code::kGenerator, reader.at("source").pointer(),
        "must be one of slice, sample, lognormal, uniform, constant, is \"" + kind + '"');
    return source;
  }
  source.kind = static_cast<Kind>(found - kKinds.begin());
  source.list = reader.text("list", "");
  source.step = reader.integer("step", {0, kMaxSequences}, source.step);
  source.mu = reader.number("mu", {}, source.mu);
  source.sigma = reader.number("sigma", {}, source.sigma);
  source.least = reader.integer("least", {1, kMaxExact}, source.least);
  source.most = reader.integer("most", {1, kMaxExact}, source.most);
  return source;
}

void write_above(JsonWriter& json, AboveLimit above_limit) {
  json.text("above_limit", above_limit == AboveLimit::clip ? "clip" : "drop");
}

AboveLimit read_above(const ObjectReader& reader) {
  const std::string above = reader.text("above_limit");
  if (above == "clip") return AboveLimit::clip;
  if (above != "drop") {
    reader.errors().add(code::kGenerator, reader.at("above_limit").pointer(),
                        "must be one of drop, clip, is \"" + above + '"');
  }
  return AboveLimit::drop;
}

ScatterGenerator generator_from(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
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

Result<ScatterGenerator> read_generator(std::string_view text) {
  ErrorList errors;
  ScatterGenerator generator;
  const JsonPath root;
  if (const std::optional<JsonValue> document = parse_json(text, errors)) {
    const JsonValue* value = document->find("x-generator");
    if (value == nullptr) {
      errors.add(code::kMissingKey, "/x-generator", "must be given, is missing");
    } else {
      generator = generator_from(*value, root.key("x-generator"), errors);
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return generator;
}

}  // namespace stowage
