// Seeded layout instances for tests and benchmarks; traces of transformers are in
// transformer_trace.h.
//
//   Result<GeneratedLayout> made = generate_layout(
//       {.kind = LayoutGenerator::Kind::guillotine, .buffers = 1000, .steps = 500, .bytes = 4096});
//   // made->optimum == 4096
//
// The same parameters give the same instance everywhere.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "instances/layout/instance.h"
#include "instances/result.h"

namespace stowage {

struct LayoutGenerator {
  enum class Kind {
    random,       // sizes from 1 to `bytes`, lifetimes of any length, both uniform
    short_lived,  // the same with lifetimes of up to a sixteenth of the steps
    rolling,      // the same with lifetimes of a sixteenth of the steps: first in, first out
    guillotine,   // a rectangle of `steps` x `bytes`, cut again and again from edge to edge
  };
  static constexpr std::array<std::string_view, 4> kNames = {"random", "short-lived", "rolling",
                                                             "guillotine"};
  Kind kind = Kind::random;
  std::int64_t buffers = 100;  // 0 to 1e6; guillotine at least 1
  std::int64_t steps = 100;    // 1 to 2^40
  // The longest lifetime, or the lifetime of all buffers if they are rolling; 1 to `steps`. Not for
  // a guillotine. By default the kind decides.
  std::optional<std::int64_t> lifetime;
  Bytes bytes = 1 << 20;   // size of the largest buffer, or of the whole rectangle; 1 to 2^32
  Bytes unit = 1;          // sizes are multiples of it; divides `bytes`
  Bytes alignment = 1;     // of all buffers; 1 to 2^20; 1 for guillotine unless it divides unit
  std::uint64_t seed = 0;  // at most 2^53

  bool operator==(const LayoutGenerator&) const = default;
};

struct GeneratedLayout {
  LayoutInstance instance;
  std::optional<Bytes> optimum;  // the least peak, if the construction gives it

  bool operator==(const GeneratedLayout&) const = default;
};

// Returns a seeded instance. A guillotine instance has a layout of peak `bytes`, and every step
// needs that much. A rectangle too small for the wanted buffers gives fewer. E504 for an option out
// of its range, E335 for sizes that sum to more than 2^53.
Result<GeneratedLayout> generate_layout(const LayoutGenerator& generator);

}  // namespace stowage
