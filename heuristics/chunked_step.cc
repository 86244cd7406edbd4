#include "heuristics/chunked_step.h"

#include <algorithm>
#include <functional>

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

ChunkedStep::ChunkedStep(const AssignInstance& instance) : table_(table_of_shorts(instance)) {
  const ChunkRule& rule = *instance.constraints.chunks;
  const auto length_of = [&](std::int64_t id) {
    return padded_length(instance, instance.lengths[at(id)]);
  };
  for (std::int64_t id = 0; id < static_cast<std::int64_t>(instance.lengths.size()); ++id) {
    (length_of(id) > rule.size ? cut_ids_ : short_ids_).push_back(id);
  }
  std::ranges::stable_sort(cut_ids_, std::greater<>{}, length_of);
  for (const std::int64_t id : cut_ids_) {
    for (const Scheme& scheme : instance.schemes) {
      const bool admitted = length_of(id) <= longest_sequence(instance, scheme);
      costs_.push_back(admitted ? cut_cost(length_of(id), rule, scheme)
                                : CutCost{.sum = std::numeric_limits<Ms>::infinity()});
    }
  }
}

}  // namespace stowage
