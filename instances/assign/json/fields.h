// The members of schemes and row constraints, for the reader, the writer and the check of an
// instance in memory. Not installed.
//
//   read_fields(value, path, errors, scheme);
//   write_fields(json, instance.constraints);
#pragma once

#include <string>
#include <string_view>

#include "instances/assign/instance.h"
#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"

namespace stowage {

inline void check_chunks(const ChunkRule& rule, const ObjectReader& reader) {
  if (rule.key_value_bytes <= rule.activation_bytes) return;
  reader.errors().add(code::kChunkBytes, reader.at("key_value_bytes").pointer(),
                      "must be at most the " + std::to_string(rule.activation_bytes) +
                          " activation_bytes, of which it is a part, is " +
                          std::to_string(rule.key_value_bytes));
}

// Chunks fix the number of rows of a cut sequence, so that no planner has to meet both rules.
inline void check_constraints(const RowConstraints& constraints, const ObjectReader& reader) {
  if (!constraints.chunks) return;
  const auto conflicts = [&](std::string_view key, const std::string& needed) {
    reader.errors().add(
        code::kChunkConstraint, reader.at(key).pointer(),
        "must be " + needed + " beside chunks, which fix the rows of a sequence that is cut");
  };
  if (constraints.rows_multiple_of > 1) conflicts("rows_multiple_of", "1");
  if (constraints.equal_rows) conflicts("equal_rows", "false");
  if (!constraints.allow_empty) conflicts("allow_empty", "true");
}

inline constexpr IntegerRange kDeviceRange = {1, kMaxDevices};

// The fields of a scheme without its name, which is the key.
template <class Visitor, Of<Scheme> AnyScheme>
void fields(Visitor& v, AnyScheme& scheme) {
  v.one_line();
  v.required("tp", scheme.tp, kDeviceRange);
  v.required("pp", scheme.pp, {1, kMaxStages});
  v.required("quadratic_ms", scheme.quadratic_ms, kQuantity);
  v.required("linear_ms", scheme.linear_ms, kQuantity);
  v.required("fixed_ms", scheme.fixed_ms, kQuantity);
  v.required("max_tokens", scheme.max_tokens, {1, kMaxExact});
}

template <class Visitor, Of<ChunkRule> Rule>
void fields(Visitor& v, Rule& rule) {
  constexpr IntegerRange kBytes = {1, kMaxChunkBytes};
  v.one_line();
  v.required("size_tokens", rule.size, {1, kMaxExact});
  v.optional("retained", rule.retained, {1, kMaxRetainedChunks});
  v.optional("activation_bytes", rule.activation_bytes, kBytes);
  v.optional("key_value_bytes", rule.key_value_bytes, kBytes);
  v.choice("boundaries", rule.boundaries, kChunkBoundaries,
           rule.boundaries == ChunkBoundaries::fixed);
  v.check(rule, check_chunks);
}

template <class Visitor, Of<RowConstraints> Constraints>
void fields(Visitor& v, Constraints& constraints) {
  v.optional("rows_multiple_of", constraints.rows_multiple_of, {1, kMaxDevices});
  v.optional("equal_rows", constraints.equal_rows);
  v.optional("allow_empty", constraints.allow_empty);
  v.optional("chunks", constraints.chunks);
  v.check(constraints, check_constraints);
}

}  // namespace stowage
