#include "instances/assign_table.h"

#include <algorithm>
#include <utility>

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
  const std::vector<Tokens> padded = padded_lengths(instance);
  std::vector<std::pair<Tokens, std::int64_t>> order;  // side by side, which sorts twice as fast
  order.reserve(padded.size());
  for (std::size_t id = 0; id < padded.size(); ++id) {
    order.emplace_back(-padded[id], static_cast<std::int64_t>(id));
  }
  std::ranges::sort(order);
  ids_.reserve(order.size());
  for (const auto& [length, id] : order) ids_.push_back(id);
  kind_of_.reserve(order.size());
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

}  // namespace stowage
