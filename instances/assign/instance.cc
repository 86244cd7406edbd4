#include "instances/assign/instance.h"

#include <algorithm>

namespace stowage {

std::vector<Tokens> padded_lengths(const AssignInstance& instance) {
  std::vector<Tokens> padded;
  padded.reserve(instance.lengths.size());
  for (const Tokens length : instance.lengths) padded.push_back(padded_length(instance, length));
  return padded;
}

Tokens row_cap(const AssignInstance& instance, const Scheme& scheme) {
  const std::optional<ChunkRule>& chunks = instance.constraints.chunks;
  return chunks ? std::min(scheme.max_tokens, chunks->size) : scheme.max_tokens;
}

Tokens longest_sequence(const AssignInstance& instance, const Scheme& scheme) {
  const std::optional<ChunkRule>& chunks = instance.constraints.chunks;
  if (!chunks || chunks->size > scheme.max_tokens) return scheme.max_tokens;
  const auto at_most = [](std::optional<Tokens> tokens) {
    return std::min(tokens.value_or(kMaxExact), kMaxExact);
  };
  const Tokens kept = at_most(checked_mul(chunks->size, chunks->retained));
  const Tokens memory = at_most(checked_mul(scheme.max_tokens, scheme.pp));
  if (memory <= kept) return memory;
  // Computes (memory - kept) activation_bytes / key_value_bytes, rounded down, within 64 bits.
  const Tokens whole = (memory - kept) / chunks->key_value_bytes;
  const Tokens rest = (memory - kept) % chunks->key_value_bytes;
  const Tokens more = at_most(checked_mul(whole, chunks->activation_bytes));
  return at_most(kept + more + rest * chunks->activation_bytes / chunks->key_value_bytes);
}

std::int64_t most_parts(const ChunkRule& rule, Tokens length) {
  const std::int64_t parts = length / rule.size + (length % rule.size != 0);
  return rule.boundaries == ChunkBoundaries::fixed ? parts : kMaxPartsPerSize * parts;
}

std::int64_t cut_parts(const AssignInstance& instance) {
  const std::optional<ChunkRule>& rule = instance.constraints.chunks;
  std::int64_t parts = 0;
  for (const Tokens length : instance.lengths) {
    const Tokens padded = rule ? padded_length(instance, length) : 0;
    if (rule && padded > rule->size) parts += most_parts(*rule, padded);
  }
  return parts;
}

Tokens longest_allowed(const AssignInstance& instance, const Strategy& strategy) {
  Tokens longest = 0;
  for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
    if (strategy.replicas[g] > 0)
      longest = std::max(longest, longest_sequence(instance, instance.schemes[g]));
  }
  return longest;
}

std::vector<std::size_t> usable_strategies(const AssignInstance& instance) {
  Tokens longest = 0;
  for (const Tokens length : instance.lengths) {
    longest = std::max(longest, padded_length(instance, length));
  }
  std::vector<std::size_t> usable;
  for (std::size_t k = 0; k < instance.strategies.size(); ++k) {
    if (longest_allowed(instance, instance.strategies[k]) >= longest) usable.push_back(k);
  }
  return usable;
}

std::vector<std::int64_t> unplaceable_sequences(const AssignInstance& instance) {
  Tokens longest = 0;
  for (const Strategy& strategy : instance.strategies) {
    longest = std::max(longest, longest_allowed(instance, strategy));
  }
  std::vector<std::int64_t> ids;
  for (std::size_t id = 0; id < instance.lengths.size(); ++id) {
    if (padded_length(instance, instance.lengths[id]) > longest) {
      ids.push_back(static_cast<std::int64_t>(id));
    }
  }
  return ids;
}

}  // namespace stowage
