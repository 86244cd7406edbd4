// Writes and reads the generator as the `x-generator` member of its instance.
#include "instances/scatter/json/generate.h"

#include "instances/json/number_ranges.h"
#include "instances/lengths/generate_json.h"
#include "instances/scatter/json/embedded_documents.h"

namespace stowage {

template <class Visitor, Of<ScatterGenerator> Generator>
void fields(Visitor& v, Generator& generator) {
  auto& preset = generator.preset;
  v.required("model", preset.model);
  v.omit_if(preset.machine.empty(), "machine", preset.machine);
  v.omit_if(preset.machine.empty() || preset.formulas == 1, "formulas", preset.formulas,
            {1, kScatterFormulas});
  v.required("devices", preset.devices, {1, kMaxDevices});
  v.required("limit_tokens", preset.limit_tokens, {1, kMaxExact});
  v.optional("memory_mib", preset.memory_mib, kQuantity);
  v.choice("degrees", preset.degrees, degree_set_names(), preset.degrees == DegreeSet::powers);
  v.omit_if(preset.largest_degree == 0, "largest_degree", preset.largest_degree, {1, kMaxDevices});
  fields(v, generator.source);
  v.required("count", generator.count, {0, kMaxSequences});
  v.required("seed", generator.seed, {0, kMaxExact});
  v.choice("above_limit", generator.above_limit, kAboveLimits);
  v.optional("pad_multiple", generator.pad_multiple, {1, kMaxPadMultiple});
  v.optional("offload_mib_per_ms", generator.offload_mib_per_ms, kDivisor);
  v.optional("mixed", generator.mixed_hidden_share, kShareOfOne);
  v.omit_if(generator.name.empty(), "name", generator.name);
}

ScatterGenerator scatter_generator_from(const JsonValue& value, const JsonPath& path,
                                        ErrorList& errors) {
  ScatterGenerator generator;
  // Generators of before there was a second version say nothing.
  generator.preset.formulas = 1;
  read_fields(value, path, errors, generator);
  if (generator.preset.machine.empty()) generator.preset.formulas = ScatterPreset().formulas;
  return generator;
}

std::string write_generated(const GeneratedScatter& generated) {
  return write_generated_document(generated, write_fields<ScatterGenerator>);
}

Result<ScatterGenerator> read_scatter_generator(std::string_view text) {
  return read_generator(text, scatter_generator_from);
}

}  // namespace stowage
