// Seeded scatter instances: a preset, a source of lengths, a rule for those that are too long.
//
//   const ScatterGenerator generator{.preset = {.model = "gpt-7b"},
//                                    .source = {.kind = LengthSource::Kind::lognormal, .mu = 6.5,
//                                               .sigma = 1.4},
//                                    .count = 512, .seed = 7};
//   Result<GeneratedScatter> step = generate_scatter(generator);
//   std::cout << write_generated(*step);
//
// The written document carries the generator as its `x-generator` member, from which the same
// bytes can be made again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/presets.h"
#include "instances/result.h"
#include "instances/scatter.h"

namespace stowage {

// Where lengths come from. All are rounded to whole tokens, at least 1.
struct LengthSource {
  enum class Kind {
    slice,      // lines [step * count, (step + 1) * count) of a list: consecutive steps of an epoch
    sample,     // `count` lines of a list, drawn without replacement
    lognormal,  // exp(mu + sigma * normal)
    uniform,    // integers from `least` to `most`, both included
    constant,   // `least`, every time
  };
  Kind kind = Kind::slice;
  std::string list;       // slice, sample: what the list is called in the document
  std::int64_t step = 0;  // slice
  double mu = 0;          // lognormal: mean of the logarithm of the length in tokens, 0 to 30
  double sigma = 1;       // lognormal: its standard deviation, 0 to 10
  Tokens least = 1;       // uniform, constant
  Tokens most = 1;        // uniform

  bool operator==(const LengthSource&) const = default;
};

enum class AboveLimit { drop, clip };

struct ScatterGenerator {
  ScatterPreset preset;
  LengthSource source;
  std::int64_t count = 512;  // sequences drawn, before any is dropped
  std::uint64_t seed = 0;    // at most 2^53
  AboveLimit above_limit = AboveLimit::drop;
  std::optional<Tokens> pad_multiple;  // instead of the preset's
  std::string name;  // empty: made from the preset, the source and the step or seed

  bool operator==(const ScatterGenerator&) const = default;
};

struct GeneratedScatter {
  ScatterInstance instance;
  ScatterGenerator generator;
  // The longest length kept: the preset's limit, or less if no group of the cluster holds that many
  // padded tokens. So a generated instance is feasible.
  Tokens longest_allowed = 0;
  std::int64_t above = 0;  // sequences that were longer and hence dropped or clipped
};

// `list` holds all lines of the list the source names, and is not used by other sources. Errors
// point at the option: those of scatter_preset, E503 if the cluster holds no sequence at all, E504
// for a source that makes no sense.
Result<GeneratedScatter> generate_scatter(const ScatterGenerator& generator,
                                          const std::vector<Tokens>& list = {});

// A stowage/instance with `x-generator`, `x-longest_allowed` and `x-dropped` or `x-clipped`.
std::string write_generated(const GeneratedScatter& generated);

// The `x-generator` of a document written by write_generated().
Result<ScatterGenerator> read_generator(std::string_view text);

}  // namespace stowage
