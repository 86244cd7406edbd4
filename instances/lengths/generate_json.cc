// The generator as the `x-generator` member of the instance it made, and back.
#include "instances/lengths/generate_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "instances/json/limits.h"

namespace stowage {
namespace {

using Kind = LengthSource::Kind;

constexpr std::array<std::string_view, 5> kKinds = {"slice", "sample", "lognormal", "uniform",
                                                    "constant"};

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

}  // namespace stowage
