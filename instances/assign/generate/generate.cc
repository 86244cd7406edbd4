#include "instances/assign/generate/generate.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "instances/assign/chunks/chunk_flow.h"
#include "instances/assign/json/embedded_documents.h"
#include "instances/assign/presets.h"
#include "instances/document/option_check.h"
#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/lengths/generate_json.h"

namespace stowage {
namespace {

void check_options(const AssignGenerator& generator, ErrorList& errors) {
  if (check_option("/tokens", generator.tokens, 1, kMaxTokens, errors)) {
    check_option("/limit_tokens", generator.limit_tokens, 1, generator.tokens, errors);
  }
  check_seed(generator.seed, errors);
  if (generator.pad_multiple) {
    check_option("/pad_multiple", *generator.pad_multiple, 1, kMaxPadMultiple, errors);
  }
  if (generator.chunk_tokens) {
    check_option("/chunk_tokens", *generator.chunk_tokens, 1, kMaxTokens, errors);
  }
  check_option("/retained", generator.retained, 1, kMaxRetainedChunks, errors);
  check_source(generator.source, errors);
}

// The model's activations per token are least where keys and values are the largest share of them.
ChunkRule chunk_rule(const AssignGenerator& generator) {
  ChunkRule rule{.size = *generator.chunk_tokens, .retained = generator.retained};
  double least = static_cast<double>(kMaxChunkBytes);
  for (const TokenActivation& each : assign_preset_memory(generator.model).activation) {
    if (each.tp > 0) least = std::min(least, each.bytes);
  }
  rule.activation_bytes = static_cast<std::int64_t>(least);
  rule.boundaries = generator.boundaries;
  return rule;
}

// Yields the lengths of one step after another.
class Steps {
 public:
  Steps(const AssignGenerator& generator, Tokens longest, const std::vector<Tokens>& list)
      : lengths_(generator.source, generator.seed, list),
        clip_(generator.above_limit == AboveLimit::clip),
        tokens_(generator.tokens),
        longest_(longest) {}

  // Takes the next step. Returns false if the list ends before the step is full.
  bool next() {
    step_.clear();
    above_ = 0;
    Tokens sum = 0;
    for (;;) {
      const std::optional<Tokens> length = held_ ? held_ : lengths_.next();
      held_.reset();
      if (!length) return false;
      const Tokens kept = std::min(*length, longest_);
      const bool dropped = *length > longest_ && !clip_;
      if (!dropped && (kept > tokens_ - sum || full())) {
        held_ = length;
        return true;
      }
      if (*length > longest_) ++above_;
      if (dropped) {
        // Otherwise a distribution of only such lengths would never end.
        if (above_ > kMaxSequences) return false;
        continue;
      }
      step_.push_back(kept);
      sum += kept;
    }
  }

  std::vector<Tokens> step() && { return std::move(step_); }
  std::int64_t above() const { return above_; }
  Tokens tokens() const { return std::accumulate(step_.begin(), step_.end(), Tokens{0}); }

 private:
  bool full() const { return static_cast<std::int64_t>(step_.size()) >= kMaxSequences; }

  LengthStream lengths_;
  const bool clip_;
  const Tokens tokens_;
  const Tokens longest_;
  std::vector<Tokens> step_;
  std::int64_t above_ = 0;
  std::optional<Tokens> held_;  // drawn, but too long for the current step
};

// Returns the error for a step `n` that cannot be filled; `tokens` is the sum of the lengths that
// were left for it. A distribution ends only if all its lengths are dropped.
InputError not_filled(const AssignGenerator& generator, Tokens longest, std::int64_t n,
                      Tokens tokens) {
  const LengthSource& source = generator.source;
  if (!source.is_listed()) {
    const bool lognormal = source.kind == LengthSource::Kind::lognormal;
    const bool most = source.kind == LengthSource::Kind::uniform && source.least <= longest;
    return {code::kGenerator, lognormal ? "/mu" : (most ? "/most" : "/least"),
            "must make sequences of at most " + std::to_string(longest) +
                " tokens (the least of what the step, the limit and a replica allow), is " +
                (lognormal ? describe(JsonValue(source.mu))
                           : std::to_string(most ? source.most : source.least)) +
                ": lower it, allow more, or clip them"};
  }
  if (n == 0) {
    return {code::kGenerator, "/tokens",
            "must be less than the list has within the limit, is " +
                std::to_string(generator.tokens) + " of " + std::to_string(tokens)};
  }
  return {code::kGenerator, "/step",
          "must be a step that the lengths fill, is " + std::to_string(source.step) +
              " of lengths that fill " + std::to_string(n)};
}

}  // namespace

Result<GeneratedAssign> generate_assign(const AssignGenerator& generator,
                                        const std::vector<Tokens>& list) {
  ErrorList errors;
  Result<AssignInstance> preset = assign_preset(generator.model);
  if (!preset) errors.append(preset.errors());
  check_options(generator, errors);
  if (!errors.empty()) return std::move(errors).take();

  GeneratedAssign generated{.instance = *std::move(preset), .generator = generator};
  AssignInstance& instance = generated.instance;
  instance.pad_multiple = generator.pad_multiple.value_or(1);
  instance.name = generator.name.empty()
                      ? instance.name + '-' + name_of(generator.source, generator.seed)
                      : generator.name;
  if (generator.chunk_tokens) instance.constraints.chunks = chunk_rule(generator);
  Tokens held = 0;
  for (const Strategy& strategy : instance.strategies) {
    held = std::max(held, longest_allowed(instance, strategy));
  }
  generated.longest_allowed = std::min(generator.limit_tokens, held - held % instance.pad_multiple);
  if (generated.longest_allowed < 1) {
    return InputError{code::kNothingFits, "/pad_multiple",
                      "must be at most the " + std::to_string(held) +
                          " tokens that a replica admits, is " +
                          std::to_string(instance.pad_multiple)};
  }
  const std::int64_t step =
      generator.source.kind == LengthSource::Kind::slice ? generator.source.step : 0;
  Steps steps(generator, generated.longest_allowed, list);
  for (std::int64_t n = 0; n <= step; ++n) {
    if (steps.next()) continue;
    return not_filled(generator, generated.longest_allowed, n, steps.tokens());
  }
  generated.above = steps.above();
  instance.lengths = std::move(steps).step();
  if (const std::int64_t parts = cut_parts(instance); parts > kMaxParts) {
    return InputError{code::kGenerator, "/chunk_tokens",
                      "must cut the sequences into at most " + std::to_string(kMaxParts) +
                          " parts, is " + std::to_string(*generator.chunk_tokens) +
                          ", which makes " + std::to_string(parts)};
  }
  const bool chunks = generator.chunk_tokens.has_value();
  const std::int64_t most = chunks ? kMaxChunkPasses : kMaxPasses;
  if (const std::int64_t passes = most_passes(instance); passes > most) {
    return InputError{code::kGenerator, chunks ? "/chunk_tokens" : "/tokens",
                      "must make at most " + std::to_string(most) +
                          (chunks ? " rows of chunks" : " rows") + " times stages, is " +
                          std::to_string(chunks ? *generator.chunk_tokens : generator.tokens) +
                          ", which makes " + std::to_string(passes)};
  }
  return generated;
}

}  // namespace stowage
