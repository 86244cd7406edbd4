#include "heuristics/assign/construct/chunked_step.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "heuristics/assign/construct/dispatch.h"
#include "instances/assign/chunks/chunk_cuts.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

AssignTable table_of_shorts(const AssignInstance& instance) {
  AssignInstance shorts = instance;
  for (Scheme& scheme : shorts.schemes) scheme.max_tokens = row_cap(instance, scheme);
  std::erase_if(shorts.lengths, [&](Tokens length) {
    return padded_length(instance, length) > instance.constraints.chunks->size;
  });
  return AssignTable(shorts);
}

}  // namespace

ChunkedStep::ChunkedStep(const AssignInstance& instance)
    : instance_(instance), table_(table_of_shorts(instance)) {
  const ChunkRule& rule = *instance.constraints.chunks;
  const auto length_of = [&](std::int64_t id) {
    return padded_length(instance, instance.lengths[at(id)]);
  };
  for (std::int64_t id = 0; id < static_cast<std::int64_t>(instance.lengths.size()); ++id) {
    (length_of(id) > rule.size ? cut_ids_ : short_ids_).push_back(id);
  }
  std::ranges::stable_sort(cut_ids_, std::greater<>{}, length_of);
  for (const std::int64_t id : cut_ids_) {
    const bool repeats =
        !kind_of_.empty() && length_of(id) == length_of(cut_ids_[kind_of_.size() - 1]);
    kind_of_.push_back(kind_of_.empty() ? 0 : kind_of_.back() + (repeats ? 0 : 1));
    if (repeats) continue;
    for (const Scheme& scheme : instance.schemes) {
      const bool admitted = length_of(id) <= longest_sequence(instance, scheme);
      if (!admitted) {
        costs_.push_back({.sum = kInfinity});
      } else if (rule.boundaries == ChunkBoundaries::fixed) {
        costs_.push_back(cut_cost(length_of(id), rule, scheme));
      } else {
        costs_.push_back(ChunkCuts(rule, instance.pad_multiple, scheme).alone(length_of(id)).cost);
      }
    }
  }
}

std::vector<int> ChunkedStep::strategies() const {
  std::vector<int> all;
  for (const std::size_t usable : usable_strategies(instance_)) {
    all.push_back(static_cast<int>(usable));
  }
  if (all.size() < 2) return all;
  Tokens longest = 0;
  double tokens = 0;
  double squares = 0;
  for (const Tokens length : padded_lengths(instance_)) {
    const auto s = static_cast<double>(length);
    longest = std::max(longest, length);
    tokens += s;
    squares += s * s;
  }
  const LongSequences everything{.tokens = tokens, .squares = squares};
  return promising_first(table_, std::move(all), longest, {&everything, 1});
}

}  // namespace stowage
