// Writes and reads the generator as the `x-generator` member of its instance.
#include "instances/assign/json/generate.h"

#include "instances/assign/json/embedded_documents.h"
#include "instances/lengths/generate_json.h"

namespace stowage {
namespace {

// Reads the members without the checks of a document: errors of the source are reported before the
// other options, and not under this pointer.
LengthSource read_source(const ObjectReader& reader) {
  LengthSource source;
  FieldReader members(reader);
  fields(members, source);
  return source;
}

void write_json(JsonWriter& json, const AssignGenerator& generator) {
  json.begin_object();
  json.text("model", generator.model);
  json.integer("tokens", generator.tokens);
  json.integer("limit_tokens", generator.limit_tokens);
  FieldWriter members(json);
  fields(members, generator.source);
  json.integer("seed", static_cast<std::int64_t>(generator.seed));
  members.choice("above_limit", generator.above_limit, kAboveLimits);
  if (generator.pad_multiple) json.integer("pad_multiple", *generator.pad_multiple);
  if (generator.chunk_tokens) {
    json.integer("chunk_tokens", *generator.chunk_tokens);
    json.integer("retained", generator.retained);
    members.choice("boundaries", generator.boundaries, kChunkBoundaries,
                   generator.boundaries == ChunkBoundaries::fixed);
  }
  if (!generator.name.empty()) json.text("name", generator.name);
  json.end_object();
}

}  // namespace

AssignGenerator assign_generator_from(const JsonValue& value, const JsonPath& path,
                                      ErrorList& errors) {
  const ObjectReader reader(
      value, path, errors,
      {"model", "tokens", "limit_tokens", "source", "list", "step", "mu", "sigma", "least", "most",
       "seed", "above_limit", "pad_multiple", "chunk_tokens", "retained", "boundaries", "name"});
  AssignGenerator generator{
      .model = reader.text("model"),
      .source = read_source(reader),
      .tokens = reader.integer("tokens", {1, kMaxTokens}),
      .limit_tokens = reader.integer("limit_tokens", {1, kMaxTokens}),
      .seed = static_cast<std::uint64_t>(reader.integer("seed", {0, kMaxExact})),
      .above_limit =
          static_cast<AboveLimit>(reader.one_of("above_limit", kAboveLimits).value_or(0)),
      .name = reader.text("name", "")};
  if (reader.find("pad_multiple") != nullptr) {
    generator.pad_multiple = reader.integer("pad_multiple", {1, kMaxPadMultiple});
  }
  if (reader.find("chunk_tokens") != nullptr) {
    generator.chunk_tokens = reader.integer("chunk_tokens", {1, kMaxTokens});
    generator.retained = static_cast<int>(reader.integer("retained", {1, kMaxRetainedChunks}));
    generator.boundaries = static_cast<ChunkBoundaries>(
        reader.one_of("boundaries", kChunkBoundaries, std::string(kChunkBoundaries[0]))
            .value_or(0));
  }
  return generator;
}

std::string write_generated(const GeneratedAssign& generated) {
  return write_generated_document(
      generated, [](JsonWriter& json, const auto& generator) { write_json(json, generator); });
}

Result<AssignGenerator> read_assign_generator(std::string_view text) {
  return read_generator(text, assign_generator_from);
}

}  // namespace stowage
