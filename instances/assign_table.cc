#include "instances/assign_table.h"

#include <algorithm>
#include <numeric>

namespace stowage {

AssignTable::AssignTable(const AssignInstance& instance)
    : schemes_(instance.schemes), constraints_(instance.constraints) {
  for (const Strategy& strategy : instance.strategies) {
    groups_.emplace_back();
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      if (strategy.replicas[g] > 0) {
        groups_.back().push_back({static_cast<int>(g), strategy.replicas[g]});
      }
    }
  }
  std::vector<Tokens> padded;
  padded.reserve(instance.lengths.size());
  for (const Tokens length : instance.lengths) padded.push_back(padded_length(instance, length));
  ids_.resize(padded.size());
  std::iota(ids_.begin(), ids_.end(), 0);
  std::stable_sort(ids_.begin(), ids_.end(), [&](std::int64_t a, std::int64_t b) {
    return padded[static_cast<std::size_t>(a)] > padded[static_cast<std::size_t>(b)];
  });
  for (int position = 0; position < size(); ++position) {
    const Tokens length = padded[static_cast<std::size_t>(id(position))];
    if (kinds_.empty() || kinds_.back().length != length) {
      kinds_.push_back({length, position, 0});
      const auto s = static_cast<double>(length);
      for (const Scheme& scheme : schemes_) {
        work_.push_back(scheme.quadratic_ms * s * s + scheme.linear_ms * s);
      }
    }
    ++kinds_.back().count;
    kind_of_.push_back(static_cast<int>(kinds_.size()) - 1);
    total_tokens_ += length;
  }
}

int AssignTable::replicas(int strategy) const {
  int sum = 0;
  for (const SchemeGroup& group : groups(strategy)) sum += group.count;
  return sum;
}

bool AssignTable::usable(int strategy) const {
  return size() == 0 || std::ranges::any_of(groups(strategy), [&](const SchemeGroup& group) {
           return holds(group.scheme, 0);
         });
}

Tokens padded_length(const AssignInstance& instance, Tokens length) {
  const Tokens over = length % instance.pad_multiple;
  return over == 0 ? length : length + (instance.pad_multiple - over);
}

std::vector<std::int64_t> unplaceable_sequences(const AssignInstance& instance) {
  Tokens largest = 0;
  for (const Strategy& strategy : instance.strategies) {
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      if (strategy.replicas[g] > 0) largest = std::max(largest, instance.schemes[g].max_tokens);
    }
  }
  std::vector<std::int64_t> ids;
  for (std::size_t id = 0; id < instance.lengths.size(); ++id) {
    if (padded_length(instance, instance.lengths[id]) > largest) {
      ids.push_back(static_cast<std::int64_t>(id));
    }
  }
  return ids;
}

}  // namespace stowage
