// Seeded scatter instances from a preset, a source of lengths, and a rule for lengths above the
// limit.
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

#include "instances/lengths/source.h"
#include "instances/result.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/presets.h"

namespace stowage {

struct ScatterGenerator {
  ScatterPreset preset;
  LengthSource source;
  std::int64_t count = 512;  // sequences drawn, before any is dropped
  std::uint64_t seed = 0;    // at most 2^53
  AboveLimit above_limit = AboveLimit::drop;
  std::optional<Tokens> pad_multiple;  // instead of the preset's
  // With it, the activations of all layers but two can leave for the host at so many MiB per ms,
  // each way of a device, 1e-9 to 2^53: the layer in work and the one whose copy runs stay.
  std::optional<double> offload_mib_per_ms;
  // With it, micro-batches may be mixed, and it is MixedMicroBatches::hidden_share, 0 to 1.
  // Requires the degrees local-or-sharded. Groups of all devices of a machine then exchange by
  // all-to-all, with overlap 0.
  std::optional<double> mixed_hidden_share;
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

// Returns the instance without sequences: the preset with the padding, the offload and the mixed
// micro-batches of the generator, whose other members are not read. Errors as those of
// scatter_preset(), pointing at the option.
Result<ScatterInstance> scatter_cluster(const ScatterGenerator& generator);

// Returns the instance of a step. `list` holds all lines of the list that the source names; other
// sources ignore it. Errors point at the option: those of scatter_cluster(), E503 if the cluster
// holds no sequence at all, E504 for an invalid source.
Result<GeneratedScatter> generate_scatter(const ScatterGenerator& generator,
                                          const std::vector<Tokens>& list = {});

// Returns a stowage/instance with `x-generator`, `x-longest_allowed` and `x-dropped` or
// `x-clipped`.
std::string write_generated(const GeneratedScatter& generated);

// Returns the `x-generator` of a document that write_generated() wrote.
Result<ScatterGenerator> read_scatter_generator(std::string_view text);

}  // namespace stowage
