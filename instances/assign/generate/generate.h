// Seeded assign instances from a preset, a source of lengths, and a number of tokens per step.
//
//   const AssignGenerator generator{.model = "llama-32b",
//                                   .source = {.list = "code.txt", .step = 3}};
//   Result<GeneratedAssign> step = generate_assign(generator, lines_of_the_list);
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

#include "instances/assign/instance.h"
#include "instances/lengths/source.h"
#include "instances/result.h"

namespace stowage {

// Lengths are taken in the order of the source until the next length would exceed the tokens of the
// step. That length begins the next step. Step n of a list is the first step after n steps. The
// constant is the largest number of tokens of a step.
inline constexpr Tokens kMaxTokens = Tokens{1} << 40;

struct AssignGenerator {
  std::string model = "llama-32b";  // one of assign_preset_models()
  LengthSource source;
  Tokens tokens = 200'000;       // of the step, at most; 1 to 2^40
  Tokens limit_tokens = 32'768;  // the longest sequence; at most `tokens`
  std::uint64_t seed = 0;        // at most 2^53
  AboveLimit above_limit = AboveLimit::drop;
  std::optional<Tokens> pad_multiple;  // instead of 1
  std::optional<Tokens>
      chunk_tokens;  // rows of chunks of this size (ChunkRule); default whole rows
  int retained = 1;  // chunks of a sequence that keep their activations
  ChunkBoundaries boundaries = ChunkBoundaries::fixed;
  std::string name;  // empty: made from the preset, the source and the step or seed

  bool operator==(const AssignGenerator&) const = default;
};

struct GeneratedAssign {
  AssignInstance instance;
  AssignGenerator generator;
  // The longest length kept: the generator's limit, or less if no strategy admits that many padded
  // tokens. So a generated instance always has a plan.
  Tokens longest_allowed = 0;
  std::int64_t above = 0;  // sequences of the step that were longer and hence dropped or clipped
};

// Returns the instance of a step. `list` holds all lines of the list that the source names; other
// sources ignore it. Errors point at the option: those of assign_preset(), E503 if no strategy
// admits a sequence at all, E504 for an option out of its range and for a list that ends before the
// step is full.
Result<GeneratedAssign> generate_assign(const AssignGenerator& generator,
                                        const std::vector<Tokens>& list = {});

// Returns a stowage/instance with `x-generator`, `x-longest_allowed` and `x-dropped` or
// `x-clipped`.
std::string write_generated(const GeneratedAssign& generated);

// Returns the `x-generator` of a document that write_generated() wrote.
Result<AssignGenerator> read_assign_generator(std::string_view text);

}  // namespace stowage
