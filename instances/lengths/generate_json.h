// Length sources as JSON members, for the generators of the families.
#pragma once

#include <array>
#include <string_view>

#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/lengths/source.h"

namespace stowage {

// The names of LengthSource::Kind and of AboveLimit, in their order.
inline constexpr std::array<std::string_view, 5> kSourceKinds = {"slice", "sample", "lognormal",
                                                                 "uniform", "constant"};
inline constexpr std::array<std::string_view, 2> kAboveLimits = {"drop", "clip"};

// The members of a length source: "source", and the members that this kind reads.
template <class Visitor, Of<LengthSource> Source>
void fields(Visitor& v, Source& source) {
  using Kind = LengthSource::Kind;
  if (!v.choice("source", source.kind, kSourceKinds)) return;
  const Kind kind = source.kind;
  v.omit_if(!source.is_listed(), "list", source.list);
  v.omit_if(kind != Kind::slice, "step", source.step, {0, kMaxSequences});
  v.omit_if(kind != Kind::lognormal, "mu", source.mu);
  v.omit_if(kind != Kind::lognormal, "sigma", source.sigma);
  v.omit_if(kind != Kind::uniform && kind != Kind::constant, "least", source.least, {1, kMaxExact});
  v.omit_if(kind != Kind::uniform, "most", source.most, {1, kMaxExact});
}

// Reads the generator under "x-generator" of the instance that it made, by generator_from(value,
// path, errors).
template <class From>
auto read_generator(std::string_view text, From generator_from) {
  return read_document(text, [&](const JsonValue& document, ErrorList& errors) {
    const JsonPath root;
    const JsonValue* value = document.find("x-generator");
    if (value != nullptr) return generator_from(*value, root.key("x-generator"), errors);
    errors.add(code::kMissingKey, "/x-generator", "must be given, is missing");
    return decltype(generator_from(*value, root, errors)){};
  });
}

// Returns the document of an instance with its generator, which write(json, generator) writes, and
// the longest length and the number of lengths that were dropped or clipped.
template <class Generated, class Write>
std::string write_generated_document(const Generated& generated, Write write) {
  const bool clip = generated.generator.above_limit == AboveLimit::clip;
  JsonWriter json;
  json.begin_object();
  write_json_members(json, generated.instance);
  json.key("x-generator");
  write(json, generated.generator);
  json.integer("x-longest_allowed", generated.longest_allowed);
  json.integer(clip ? "x-clipped" : "x-dropped", generated.above);
  json.end_object();
  return json.take();
}

}  // namespace stowage
