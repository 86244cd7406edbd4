// The generator as the `x-generator` member of the instance it made, and back.
#include "instances/assign/generate_json.h"

#include <string>
#include <utility>

#include "instances/assign/json_members.h"
#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/json/value.h"
#include "instances/json/writer.h"
#include "instances/lengths/generate_json.h"

namespace stowage {

AssignGenerator assign_generator_from(const JsonValue& value, const JsonPath& path,
                                      ErrorList& errors) {
  const ObjectReader reader(
      value, path, errors,
      {"model", "tokens", "limit_tokens", "source", "list", "step", "mu", "sigma", "least", "most",
       "seed", "above_limit", "pad_multiple", "chunk_tokens", "retained", "name"});
  AssignGenerator generator{
      .model = reader.text("model"),
      .source = read_source(reader),
      .tokens = reader.integer("tokens", {1, kMostTokens}),
      .limit_tokens = reader.integer("limit_tokens", {1, kMostTokens}),
      .seed = static_cast<std::uint64_t>(reader.integer("seed", {0, kMaxExact})),
      .above_limit = read_above(reader),
      .name = reader.text("name", "")};
  if (reader.find("pad_multiple") != nullptr) {
    generator.pad_multiple = reader.integer("pad_multiple", {1, kMaxPadMultiple});
  }
  if (reader.find("chunk_tokens") != nullptr) {
    generator.chunk_tokens = reader.integer("chunk_tokens", {1, kMostTokens});
    generator.retained = static_cast<int>(reader.integer("retained", {1, kMaxRetainedChunks}));
  }
  return generator;
}

std::string write_generated(const GeneratedAssign& generated) {
  const AssignGenerator& generator = generated.generator;
  JsonWriter json;
  json.begin_object();
  write_json_members(json, generated.instance);
  json.key("x-generator");
  json.begin_object();
  json.text("model", generator.model);
  json.integer("tokens", generator.tokens);
  json.integer("limit_tokens", generator.limit_tokens);
  write_source(json, generator.source);
  json.integer("seed", static_cast<std::int64_t>(generator.seed));
  write_above(json, generator.above_limit);
  if (generator.pad_multiple) json.integer("pad_multiple", *generator.pad_multiple);
  if (generator.chunk_tokens) {
    json.integer("chunk_tokens", *generator.chunk_tokens);
    json.integer("retained", generator.retained);
  }
  if (!generator.name.empty()) json.text("name", generator.name);
  json.end_object();
  json.integer("x-longest_allowed", generated.longest_allowed);
  json.integer(generator.above_limit == AboveLimit::clip ? "x-clipped" : "x-dropped",
               generated.above);
  json.end_object();
  return json.take();
}

Result<AssignGenerator> read_assign_generator(std::string_view text) {
  ErrorList errors;
  AssignGenerator generator;
  const JsonPath root;
  if (const std::optional<JsonValue> document = parse_json(text, errors)) {
    const JsonValue* value = document->find("x-generator");
    if (value == nullptr) {
      errors.add(code::kMissingKey, "/x-generator", "must be given, is missing");
    } else {
      generator = assign_generator_from(*value, root.key("x-generator"), errors);
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return generator;
}

}  // namespace stowage
